"""What the ledger pages have in common: figures, bars and rows of a window, of all of a place or of a part of it."""

from collections.abc import Sequence
from typing import Any

from dashboards.bars import bar
from dashboards.figures import Measured
from dashboards.filters import GROUPINGS, LENGTHS, PAGE_ROWS, Shown
from dashboards.moments import iso
from dashboards.pages import Pages
from dashboards.rows import COLUMNS, NUMBERS, Leads, parts, shown_rows, total_row
from dashboards.sparks import buckets
from ledger import queries
from ledger.access import Scope
from ledger.core.costs import Cost
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, MAX_DAYS, ceil_hour
from ledger.queries import Answer, Filters, Stretch

LATE_AFTER_MS = 5 * 60_000


def ledger_part(
    scope: Scope, wanted: Shown, now: int, leads: Leads, told: Sequence[Stretch], groupings: Sequence[str] = GROUPINGS
) -> dict[str, Any]:
    """Return what the living part of a page shows; the number of queries does not depend on the rows.

    `told`: the window bucket by bucket; `groupings`: what its rows may be by.
    """
    answer = queries.goodput(
        scope,
        wanted.window,
        by=wanted.by,
        filters=wanted.filters,
        sort=wanted.sort,
        limit=PAGE_ROWS,
        offset=wanted.offset,
    )
    first_hour = queries.first_hour(scope)
    all_rows = unsearched(scope, wanted, answer)
    whole = all_rows.total
    partial = wanted.window.start < answer.counted_until < wanted.window.end
    measured = Measured(
        whole, before(scope, wanted, first_hour), buckets(told, wanted.window), partial, *cost_of(all_rows)
    )
    return {
        "answer": answer,
        "first_hour": first_hour,
        "figures": measured.five(),
        "whole": whole,
        "rows": shown_rows(answer, wanted, leads),
        "total": total_row(answer, wanted),
        "pages": Pages(answer.count, max(wanted.page, 1), PAGE_ROWS),
        "partial": partial,
        "late": now - answer.counted_until > LATE_AFTER_MS,
        "whole_bar": bar(whole, whole.asked),
        "parts": parts(whole, wanted),
        "groupings": groupings,
        "ranges": LENGTHS,
        "columns": COLUMNS,
        "numbers": NUMBERS,
        "chips": chips(scope, wanted),
        "everything": since_ever(wanted, first_hour, now),
    }


def unsearched(scope: Scope, wanted: Shown, answer: Answer) -> Answer:
    """Return what the figures are of: all rows, also those that a search leaves out."""
    if not wanted.q:
        return answer
    return queries.goodput(scope, wanted.window, filters=wanted.narrowed, limit=1)


def cost_of(answer: Answer) -> tuple[Cost | None, str]:
    """Return what all rows cost and in what currency; None where no price is set."""
    return (answer.costs.whole, answer.costs.currency) if answer.costs else (None, "")


def before(scope: Scope, wanted: Shown, first_hour: int | None) -> Ledger | None:
    """Return the ledger of the period before; None when it was not counted from its start on."""
    window = wanted.window.before()
    if first_hour is None or first_hour > window.start:
        return None
    return queries.total(scope, window, wanted.narrowed)


def chips(scope: Scope, wanted: Shown) -> list[tuple[str, str, str]]:
    """Return what the rows are narrowed to: the kind, the name, and the address without it."""
    return [
        (kind, run_name(scope, wanted) if kind == "run" else value, wanted.link(**{kind: ""}))
        for kind, value in wanted.narrowings
    ]


def run_name(scope: Scope, wanted: Shown) -> str:
    """Return the name of the run that the rows are narrowed to, by its uid where it has no time in the window."""
    only = queries.goodput(scope, wanted.window, by="run", filters=Filters(run=wanted.run), limit=1)
    return only.rows[0].name if only.rows else wanted.run


def since_ever(wanted: Shown, first_hour: int | None, now: int) -> str:
    """Return the address of the widest range that has numbers."""
    if first_hour is None:
        return wanted.link()
    start = max(first_hour, ceil_hour(now) - MAX_DAYS * DAY)
    return wanted.link(range="custom", start=iso(start), end=iso(ceil_hour(now)))
