"""In which of a machine's last runs it was slower than the gang, a line a run, the newest first."""

from dataclasses import dataclass

from dashboards.lost import until
from dashboards.moments import day_and_clock, length
from dashboards.places import Place
from dashboards.straggling import beside, slower
from dashboards.troubles import in_timeline
from ledger import queries
from ledger.access import Scope
from ledger.queries import StraggledRun


@dataclass(frozen=True)
class ShownStraggle:
    """A run with a straggler on the machine; `href` looks at that time in the run's timeline."""

    run: str
    workspace: str
    worker: str
    since: int
    when: str
    lasted: str
    still: bool
    slower: str
    steps: str
    href: str


@dataclass(frozen=True)
class Straggled:
    """What became of a machine's last `runs` runs: those that had a straggler on it."""

    runs: int
    rows: tuple[ShownStraggle, ...]


def straggled(scope: Scope, machine: str, organization: str, now: int) -> Straggled:
    """Return the last ten runs on a machine; one query."""
    found = queries.straggled_runs(scope, [machine], now)
    return Straggled(len(found), tuple(shown(one, organization, now) for one in found if one.times))


def shown(of: StraggledRun, organization: str, now: int) -> ShownStraggle:
    """Return a run that had a straggler; of several the slowest beside its gang is told."""
    return ShownStraggle(
        run=of.run,
        workspace=of.workspace,
        worker=of.worker,
        since=of.since,
        when=f"{day_and_clock(of.since, now)} – {until(of, now)}",
        lasted=length(of.lasted) + (f", {of.times} times" if of.times > 1 else ""),
        still=of.still,
        slower=slower(of.step_ms * 1000 // max(of.gang_ms, 1), of.behind),
        steps=beside(of.step_ms, of.gang_ms),
        href=in_timeline(Place(organization, of.workspace).run(of.uid), of),
    )
