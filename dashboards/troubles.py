"""What went wrong on machines, in words: a line a trouble, the costliest first."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from dashboards.bars import Markup, bar
from dashboards.lanes import exact
from dashboards.lost import listed, until, words
from dashboards.moments import day_and_clock, iso, length, zone
from dashboards.numbers import hours, share
from dashboards.places import Place, Spots
from ledger.queries import Trouble

SHOWN, SHOWN_MAX = 10, 500
MARGIN = 60_000


@dataclass(frozen=True)
class ShownTrouble:
    """A trouble ready to be shown; `run_href` looks at its time in its run's timeline."""

    what: str
    machine: str
    machine_href: str
    run: str
    run_href: str
    since: int
    when: str
    exactly: str
    lasted: str
    still: bool
    workers: int
    parts: str
    hours: str
    share: str
    bar: Markup


def shown_troubles(
    troubles: Iterable[Trouble], cost: int, place: Spots, organization: str, now: int
) -> list[ShownTrouble]:
    """Return troubles; `cost` is that of all there are, GPU-microseconds. The costliest bar takes the whole width."""
    rows = list(troubles)
    most = max((trouble.ledger.asked for trouble in rows), default=0)
    return [
        ShownTrouble(
            what=words(trouble),
            machine=trouble.machine,
            machine_href=place.spot("machine", trouble.machine),
            run=trouble.run,
            run_href=in_timeline(Place(organization, trouble.workspace).run(trouble.uid), trouble),
            since=trouble.since,
            when=f"{day_and_clock(trouble.since, now)} – {until(trouble, now)}",
            exactly=f"{exact(trouble.since, now)} – {exact(trouble.until, now)} {zone(trouble.until)}",
            lasted=length(trouble.until - trouble.since),
            still=trouble.still,
            workers=trouble.workers,
            parts=listed(trouble.ledger),
            hours=hours(trouble.ledger.asked),
            share=share(trouble.ledger.asked, cost),
            bar=bar(trouble.ledger, most),
        )
        for number, trouble in enumerate(rows)
    ]


def in_timeline(address: str, trouble: Trouble) -> str:
    """Return the address of a run's timeline around a trouble."""
    margin = max((trouble.until - trouble.since) // 4, MARGIN)
    part = {"from": iso(trouble.since - margin), "to": iso(trouble.until + margin)}
    return f"{address}?{urlencode(part)}#timeline"
