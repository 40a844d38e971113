"""What went wrong on machines, in words: a line a trouble, the costliest first."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from dashboards.lost import InWords, around, costliest, said
from dashboards.moments import iso
from dashboards.places import Place, Spots
from ledger.queries import StraggledRun, Trouble


@dataclass(frozen=True, kw_only=True)
class ShownTrouble(InWords):
    """A trouble ready to be shown; `run_href` looks at its time in its run's timeline."""

    machine: str
    machine_href: str
    run: str
    run_href: str


def shown_troubles(
    troubles: Iterable[Trouble], cost: int, place: Spots, organization: str, now: int, period: str = ""
) -> list[ShownTrouble]:
    """Return troubles; `cost` is that of all there are, GPU-microseconds, `period` the query string of other pages."""
    rows = list(troubles)
    most = costliest(rows)
    return [
        ShownTrouble(
            machine=trouble.machine,
            machine_href=place.spot("machine", trouble.machine) + period,
            run=trouble.run,
            run_href=in_timeline(Place(organization, trouble.workspace).run(trouble.uid), trouble),
            **said(trouble, cost, most, now),
        )
        for trouble in rows
    ]


def in_timeline(address: str, trouble: Trouble | StraggledRun) -> str:
    """Return the address of a run's timeline around what went wrong there."""
    start, end = around(trouble)
    part = {"from": iso(start), "to": iso(end)}
    return f"{address}?{urlencode(part)}#timeline"
