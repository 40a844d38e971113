"""What the GPU time of an answer cost, row by row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledger import sql
from ledger.core.costs import Cost
from ledger.core.windows import floor_week

_ROLLUPS = {
    "pool": {"workspace", "pool"},
    "run": {"workspace", "run", "user", "pool"},
    "machine": {"workspace", "machine", "pool"},
}


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of an answer's rows and of all that match; `start` is that of the answer's window or of a week."""

    currency: str
    by: str
    weekly: bool
    totals: Mapping[int, Cost] = field(default_factory=dict)
    rows: Mapping[tuple[int, int, str], Cost] = field(default_factory=dict)

    def of(self, pk: int, name: str, start: int) -> Cost:
        return self.rows.get((self._bucket(start), pk, name if self.by == "user" else ""), Cost())

    def total(self, start: int) -> Cost:
        return self.totals.get(self._bucket(start), Cost())

    @property
    def whole(self) -> Cost:
        return sum(self.totals.values(), Cost())

    def _bucket(self, start: int) -> int:
        return floor_week(start) if self.weekly else start


def costs(
    currency: str, by: str, asked: set[str], rows: Iterable[tuple[int, str]], *, weekly: bool, **where: Any
) -> Costs:
    """Return what rows (pk, name) of an answer, and all that match, cost.

    `asked`: the names of the grouping and of every filter; `where`: what the statement takes of the answer's.
    It is evaluated at the answer's `counted_until`, and read a moment later: evidence that came between is in it.
    """
    shown = list(rows)
    totals: dict[int, Cost] = {}
    found: dict[tuple[int, int, str], Cost] = {}
    rollup = next((rollup for rollup, known in _ROLLUPS.items() if asked <= known), "hours")
    for kind, bucket, pk, said, *amounts in sql.rows(
        "costs",
        **where,
        by=by,
        weekly=weekly,
        rollup=rollup,
        read=_read(rollup, where),
        search="on" if where["q"] else "off",
        ids=sorted({pk for pk, _ in shown}),
        names=sorted({name for _, name in shown}) if by == "user" else [],
    ):
        cost = Cost(*map(int, amounts))
        if kind == "total":
            totals[bucket] = cost
        else:
            found[bucket, pk, said] = cost
    return Costs(currency, by, weekly, totals, found)


def _read(rollup: str, where: Mapping[str, Any]) -> str:
    """Return how hours are read: those of a user's runs alone where all there are would be read."""
    is_of_all = rollup == "hours" and where["runs"] is None and where["machines"] is None
    return "runs" if is_of_all and where["user"] else "hours"
