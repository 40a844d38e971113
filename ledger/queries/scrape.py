"""What a scrape of the metrics shows, in four statements whatever there is, of which one reads hours.

It asks for them where it does not have them from the scrape before: what is of closed hours stays as it is until the
statement says another mark of them.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from ledger import sql
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.windows import DAY, Window, floor_hour

KINDS = ("cluster", "workspace", "machine", "pool")
WINDOWS = ("hour", "day")
JUDGED_MAX = 5_000
SCOPES_KEPT = 8
Run = tuple[str, str, str]
Name = TypeVar("Name", bound=Hashable)
Other = TypeVar("Other", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Spent(Generic[Name]):
    """GPU-microseconds by name, a column a figure: what was held, and the eight categories, held and not together."""

    names: Sequence[Name]
    held: Sequence[int]
    amounts: Sequence[Sequence[int]]

    @property
    def asked(self) -> list[int]:
        """All that was asked for, of each."""
        return list(map(sum, zip(*self.amounts, strict=True)))

    @property
    def goodput(self) -> list[float | None]:
        """Productive / held of each, rounded once; None where nothing was held."""
        productive = self.amounts[Category.PRODUCTIVE]
        return [part / held if held else None for part, held in zip(productive, self.held, strict=True)]

    def under(self, names: Sequence[Other]) -> "Spent[Other]":
        """Return the same under other names; what shares one is added up."""
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        if len(places) == len(names):
            return Spent(names, self.held, self.amounts)
        at = [places[name] for name in names]
        held, *amounts = (_sums(len(places), at, column) for column in (self.held, *self.amounts))
        return Spent(list(places), held, amounts)

    def only(self, which: Sequence[object]) -> "Spent[Name]":
        """Return those for which `which` has something that is true."""
        if all(which):
            return self
        held, *amounts = (list(compress(column, which)) for column in (self.held, *self.amounts))
        return Spent(list(compress(self.names, which)), held, amounts)


def _joined(parts: Iterable[Spent[int]]) -> Spent[int]:
    """Return all that is in the parts, one after the other."""
    columns = zip(*((of.names, of.held, *of.amounts) for of in (NOTHING, *parts)), strict=True)
    names, held, *amounts = (list(chain.from_iterable(column)) for column in columns)
    return Spent(names, held, amounts)


NOTHING: Spent[int] = Spent((), (), ((),) * len(Category))


def _sums(places: int, at: Iterable[int], column: Iterable[int]) -> list[int]:
    """Return what a column adds up to at each place; `at`: where each of its figures belongs."""
    sums = [0] * places
    for place, figure in zip(at, column, strict=True):
        if figure:
            sums[place] += figure
    return sums


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

    `runs` are by (workspace, name, uid), each since it was submitted. `stalled` are workers by workspace, `straggling`
    runs with a straggler. What shares its name with another of its kind, on another cluster, is one; of runs it is not.
    """

    spent: Mapping[tuple[str, str], Spent[str]]
    runs: Spent[Run]
    stalled: Mapping[str, int]
    straggling: Mapping[str, int]
    judged: tuple[Judged, ...] = ()


def scrape(scope: Scope, now: int) -> Scrape:
    """Return what is seen in a scope: `hour` is the running UTC hour of `now` (ms), `day` that and the 23 before it."""
    told = _told(scope, now)
    spent = {}
    for kind in KINDS:
        for window in WINDOWS:
            of = _joined(part.spent for part in told.parts if part.kind == kind and (part.recent or window == "day"))
            named = of.under([told.names[kind][key] for key in of.names])
            spent[kind, window] = named.only([any(amounts) for amounts in zip(*named.amounts, strict=True)])
    return Scrape(spent, _going(told), _stalled(scope), _straggling(scope), _judged(scope, now))


def _going(told: "_Told") -> Spent[Run]:
    """Return what the runs that go on spent; of closed hours others are told of, too."""
    names: Mapping[int, Run] = told.names["run"]
    of = _joined(part.spent for part in told.parts if part.kind == "run")
    runs = of.under(of.names)
    going = runs.only([key in names for key in runs.names])
    return Spent([names[key] for key in going.names], going.held, going.amounts)


class _Part(NamedTuple):
    """What was spent of a kind, by id: of closed hours or not, of the running hour or of those before it."""

    kind: str
    closed: bool
    recent: bool
    spent: Spent[int]


@dataclass(frozen=True, slots=True)
class _Told:
    """What the statement said: names by id, of each kind. Without a mark, closed hours change and nothing tells it."""

    mark: str | None = None
    names: dict[str, dict[int, Any]] = field(default_factory=dict)
    parts: list[_Part] = field(default_factory=list)


# What was told of closed hours, by the workspaces that are seen: the window's start and the mark, and the parts.
_kept: dict[frozenset[int], tuple[tuple[int, str], list[_Part]]] = {}


def _told(scope: Scope, now: int) -> _Told:
    """Ask for all, or only for what is not of closed hours where these are kept and still the same."""
    window = Window.last_days(now, 1)
    where = {
        "workspaces": sorted(scope.workspaces),
        "start": window.start,
        "end": window.end,
        "recent": floor_hour(now),
    }
    if kept := _kept.get(scope.workspaces):
        told = _asked(where, whole=False)
        if kept[0] == (window.start, told.mark):
            return replace(told, parts=[*told.parts, *kept[1]])
    told = _asked(where, whole=True)
    _keep(scope.workspaces, window.start, told)
    return told


def forget_closed_hours() -> None:
    """Let the next scrape of each scope read all hours."""
    _kept.clear()


def _keep(workspaces: frozenset[int], start: int, told: _Told) -> None:
    if told.mark is None:
        _kept.pop(workspaces, None)
        return
    if len(_kept) >= SCOPES_KEPT:
        forget_closed_hours()
    _kept[workspaces] = (start, told.mark), [part for part in told.parts if part.closed]


def _asked(where: Mapping[str, Any], *, whole: bool) -> _Told:
    mark, names, parts = None, {}, []
    for kind, closed, recent, first, second, third, *columns in sql.rows("scrape", **where, whole=whole):
        if kind == "mark":
            mark = first
        elif kind.startswith("named "):
            names[kind.removeprefix("named ")] = dict(zip(_column(first), _column(second), strict=True))
        else:
            held, *amounts = map(_column, columns)
            ids = {"cluster": first, "workspace": second, "pool": third} if kind == "place" else {kind: first}
            parts += [_Part(of, closed, recent, Spent(_column(text), held, amounts)) for of, text in ids.items()]
    return _Told(mark, names, parts)


def _column(text: str | None) -> list[Any]:
    """Return an array of numbers as Postgres writes it, or one of JSON; of no rows there is none."""
    if text is None:
        return []
    return msgspec.json.decode(text if text.startswith("[") else f"[{text[1:-1]}]")  # type: ignore[no-any-return]


def _judged(scope: Scope, now: int) -> tuple[Judged, ...]:
    where = {"workspaces": sorted(scope.workspaces), "since": now - DAY, "limit": JUDGED_MAX}
    return tuple(Judged(*row) for row in sql.rows("scrape_judged", **where))


def _stalled(scope: Scope) -> dict[str, int]:
    return dict(sql.rows("scrape_stalled", workspaces=sorted(scope.workspaces), stalled=int(Category.STALLED)))


def _straggling(scope: Scope) -> dict[str, int]:
    return dict(sql.rows("scrape_stragglers", workspaces=sorted(scope.workspaces)))
