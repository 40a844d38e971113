"""What a scrape of the metrics shows, in four statements whatever there is: the hours are read by one of them, once."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.windows import DAY, Window, floor_hour

KINDS = ("cluster", "workspace", "machine", "pool")
WINDOWS = ("hour", "day")
JUDGED_MAX = 5_000
FIGURES = 1 + len(Category)


class Spent(NamedTuple):
    """GPU-microseconds: what was held, and the eight categories, held and not held together."""

    held: int
    amounts: tuple[int, ...]

    @property
    def asked(self) -> int:
        return sum(self.amounts)

    @property
    def goodput(self) -> float | None:
        """Productive / held, rounded once; None when nothing was held."""
        return self.amounts[Category.PRODUCTIVE] / self.held if self.held else None

    def together(self, other: "Spent") -> "Spent":
        """Return the sum of both."""
        return Spent(self.held + other.held, tuple(a + b for a, b in zip(self.amounts, other.amounts, strict=True)))


def spent_of(figures: list[int]) -> Spent:
    """Return the figures of a row: what was held, then the categories."""
    return Spent(figures[0], tuple(figures[1:]))


class GoingRun(NamedTuple):
    """A run that holds or asks for GPUs now, with what it spent since it was submitted."""

    name: str
    uid: str
    workspace: str
    spent: Spent


class Judged(NamedTuple):
    """A figure that a run had to reach by its logs, and whether it did."""

    workspace: str
    name: str
    uid: str
    figure: str
    met: bool


@dataclass(frozen=True, slots=True)
class Scrape:
    """What was spent by (kind, window) and name, by the runs that go on; what is stalled and straggles.

    `stalled` are workers by workspace, `straggling` runs with a straggler.
    What shares its name with another of its kind, on another cluster, is one.
    """

    spent: Mapping[tuple[str, str], Mapping[str, Spent]]
    runs: tuple[GoingRun, ...]
    stalled: Mapping[str, int]
    straggling: Mapping[str, int]
    judged: tuple[Judged, ...] = ()


def scrape(scope: Scope, now: int) -> Scrape:
    """Return what is seen in a scope: `hour` is the running UTC hour of `now` (ms), `day` that and the 23 before it."""
    window = Window.last_days(now, 1)
    where = {"workspaces": sorted(scope.workspaces), "start": window.start, "end": window.end}
    spent: dict[tuple[str, str], dict[str, Spent]] = defaultdict(dict)
    going = []
    for kind, name, uid, workspace, *figures in sql.rows("scrape", **where, recent=floor_hour(now)):
        of_day, of_hour = figures[:FIGURES], figures[FIGURES:]
        if kind == "run":
            going.append(GoingRun(name, uid, workspace, spent_of(of_day)))
            continue
        for length, of in (("day", of_day), ("hour", of_hour)):
            if any(of):
                named = spent[kind, length]
                named[name] = named[name].together(spent_of(of)) if name in named else spent_of(of)
    return Scrape(spent, tuple(going), _stalled(scope), _straggling(scope), _judged(scope, now))


def _judged(scope: Scope, now: int) -> tuple[Judged, ...]:
    where = {"workspaces": sorted(scope.workspaces), "since": now - DAY, "limit": JUDGED_MAX}
    return tuple(Judged(*row) for row in sql.rows("scrape_judged", **where))


def _stalled(scope: Scope) -> dict[str, int]:
    return dict(sql.rows("scrape_stalled", workspaces=sorted(scope.workspaces), stalled=int(Category.STALLED)))


def _straggling(scope: Scope) -> dict[str, int]:
    return dict(sql.rows("scrape_stragglers", workspaces=sorted(scope.workspaces)))
