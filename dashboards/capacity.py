"""How much there is to hold: capacity now and by week, for who sees the whole of a cluster.

A member sees what their workspace held and nothing of this: what is free or down tells what others hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboards import weeks as weekly
from dashboards.bars import WIDTH, Markup, percent
from dashboards.numbers import gpus, grouped, hours, share
from dashboards.rows import Leads
from ledger import queries
from ledger.access import Scope
from ledger.queries import Capacity, Weeks

HEIGHT = 14
PARTS = ("held", "free", "down", "over")


@dataclass(frozen=True)
class ShownCapacity:
    """What there is of a pool, a machine or all of them, as texts of GPUs; `bar` shows how it is shared out."""

    name: str
    href: str
    machines: str
    capacity: str
    held: str
    free: str
    down: str
    over: str
    unready: int
    unsized: int
    bar: Markup


@dataclass(frozen=True)
class ShownWeek:
    """A week's capacity in GPU-hours beside what was held of it."""

    name: str
    days: str
    partial: bool
    capacity: str
    held: str
    share: str
    unready: str


def capacity_part(scope: Scope, leads: Leads) -> dict[str, Any]:
    """Return the capacity of a cluster now, pool by pool, its sum, and which machines are not ready."""
    pools = queries.capacity(scope.cluster, "pool")
    most = max((pool.capacity + pool.over for pool in pools), default=0)
    total = together(pools)
    return {
        "pools": [
            shown_capacity(pool, most, leads.place.spot("pool", pool.name) if leads.place else "") for pool in pools
        ],
        "total": shown_capacity(total),
        "unready": [(name, leads.place.spot("machine", name) if leads.place else "") for name in total.named],
        "unnamed": total.unready - len(total.named),
    }


def together(found: Sequence[Capacity]) -> Capacity:
    """Return the sum of several."""
    sums = [sum(column) for column in list(zip(*found, strict=True))[1:-1]] or [0] * (len(Capacity._fields) - 2)
    return Capacity("Total", *sums)._replace(named=tuple(name for each in found for name in each.named))


def shown_capacity(found: Capacity, full: int = 0, href: str = "") -> ShownCapacity:
    """Return a capacity ready to be shown; `full` milli-GPUs take the whole width of its bar, 0: its own."""
    bare = {name: gpus(getattr(found, name)).split(" ")[0] for name in ("capacity", *PARTS)}
    return ShownCapacity(
        name=found.name,
        href="" if found.name == "none" else href,
        machines=grouped(str(found.machines)),
        unready=found.unready,
        unsized=found.unsized,
        bar=bar(found, full or found.capacity + found.over),
        **bare,
    )


def bar(found: Capacity, full: int) -> Markup:
    """Return held, free and down side by side; what is held beyond the capacity is marked in what is held."""
    said = ", ".join(f"{name} {gpus(getattr(found, name))}" for name in PARTS if getattr(found, name))
    rects, total = "", 0
    for name, amount in (("held", found.held), ("free", found.free), ("down", found.down)):
        x, total = total * WIDTH // full if full else 0, total + amount
        if amount:
            width = total * WIDTH // full - x
            rects += f'<rect class="{name}" x="{percent(x)}" width="{percent(width)}" height="{HEIGHT}"/>'
    return Markup(
        f'<svg class="bar capacity-bar" role="img" width="100%" height="{HEIGHT}" '
        f'aria-label="{said or "nothing"}">{rects}</svg>'
    )


def capacity_weeks(scope: Scope, weeks: Weeks) -> tuple[ShownWeek, ...]:
    """Return the capacity of each week, the newest first, beside what `weeks` say was held."""
    known = {week.start: week for week in queries.capacity_weeks(scope.cluster, weeks.window)}
    return tuple(
        ShownWeek(
            name=weekly.name(week),
            days=weekly.days(week),
            partial=week.partial,
            capacity=hours(known[week.start].capacity),
            held=hours(week.total.allocated),
            share=share(week.total.allocated, known[week.start].capacity),
            unready=hours(known[week.start].unready),
        )
        for week in reversed(weeks.weeks)
        if week.start in known
    )
