"""A ledger page as CSV and as JSON, in the words and units of the interface.

Amounts are GPU-hours with six decimals, or with `unit=gpu_us` the integers themselves, which JSON carries as text.
"""

import csv
import io
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from django.http import HttpResponse, JsonResponse

from dashboards.filters import PAGE_ROWS, Shown
from dashboards.moments import day, iso
from dashboards.places import Place
from ledger import queries
from ledger.core.categories import Category
from ledger.core.totals import Ledger, gpu_hours
from ledger.queries import Answer, Row

Amount = Callable[[int], Any]
FORMULA_STARTS = frozenset("=+-@\t\r\n\0＝＋－＠")
BEFORE_FORMULA = " \u00a0\u3000'\"`"


def respond(place: Place, shown: Shown) -> HttpResponse:
    """Return all rows that match, or those of the page that was asked for, in the order of the page."""
    if shown.problems:
        problem = {"type": "about:blank", "title": "Not understood", "status": 400, "detail": " ".join(shown.problems)}
        return JsonResponse(problem, status=400, content_type="application/problem+json")
    assert place.scope is not None, "a place that was let through has a scope"
    answer = queries.goodput(
        place.scope,
        shown.window,
        by=shown.by,
        filters=shown.filters,
        sort=shown.sort,
        limit=PAGE_ROWS if shown.page else None,
        offset=shown.offset,
    )
    exact = shown.unit == "gpu_us"
    response = as_csv(answer, exact) if shown.format == "csv" else JsonResponse(as_json(answer, exact))
    name = f"goodput-by-{shown.by}-{day(shown.window.start)}-to-{day(shown.window.end)}".replace(" ", "-").lower()
    response["Content-Disposition"] = f'attachment; filename="{name}.{shown.format}"'
    return response


def in_hours(gpu_us: int) -> float:
    return float(gpu_hours(gpu_us, 6))


def ratio(value: Fraction) -> float:
    """Return a ratio with six decimals, rounded once, from the fraction."""
    return round(value * 1_000_000) / 1_000_000


def as_json(answer: Answer, exact: bool) -> dict[str, Any]:
    """Return the envelope of the interface; all rows are in it, so nothing comes next."""
    amount: Amount = str if exact else in_hours
    envelope = {
        "start": iso(answer.window.start),
        "end": iso(answer.window.end),
        "by": answer.by,
        "counted_until": iso(answer.counted_until),
        "complete": answer.complete,
        "rows": [named(row, answer.by) | ledger_json(row.ledger, amount) for row in answer.rows],
        "total": ledger_json(answer.total, amount),
        "next": None,
    }
    if answer.revised_at is not None:
        envelope["revised_at"] = iso(answer.revised_at)
    return envelope


def named(row: Row, by: str) -> dict[str, str]:
    """Return what a row is called."""
    more = {"run": {"uid": row.uid, "workspace": row.workspace}, "machine": {"pool": row.pool}}
    return {"name": row.name, **more.get(by, {})}


def ledger_json(ledger: Ledger, amount: Amount) -> dict[str, Any]:
    """Return a ledger as the interface shows it; absent figures are left out."""
    shape: dict[str, Any] = {
        "gpu_hours": by_category(ledger.amounts, amount),
        "held_gpu_hours": by_category(ledger.held, amount),
        **{key: amount(value) for key, value in sums(ledger)},
        "biggest_loss": None if ledger.biggest_loss is None else ledger.biggest_loss.label,
    }
    if ledger.goodput is not None:
        shape["goodput"] = ratio(ledger.goodput)
    return shape


def by_category(amounts: tuple[int, ...], amount: Amount) -> dict[str, Any]:
    return {category.label: amount(value) for category, value in zip(Category, amounts, strict=True)}


def sums(ledger: Ledger) -> Iterator[tuple[str, int]]:
    """Yield the amounts that follow from the categories."""
    yield "allocated_gpu_hours", ledger.allocated
    yield "productive_gpu_hours", ledger.productive
    yield "lost_gpu_hours", ledger.lost
    yield "waiting_gpu_hours", ledger.waiting
    yield "unobserved_gpu_hours", ledger.unobserved
    yield "unobserved_productive_gpu_hours", ledger.unobserved_productive


def as_csv(answer: Answer, exact: bool) -> HttpResponse:
    """Return the rows as RFC 4180, a column a figure; the total is what its columns add up to."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    rows = [flat(row, answer, str if exact else lambda gpu_us: gpu_hours(gpu_us, 6)) for row in answer.rows]
    writer.writerow(list(flat(Row("", "", "", "", answer.total), answer, str)))
    writer.writerows([list(row.values()) for row in rows])
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8; header=present")


def flat(row: Row, answer: Answer, amount: Callable[[int], str]) -> dict[str, str]:
    """Return a row column by column, each cell as it is written."""
    ledger = row.ledger
    return {
        **{key: harmless(value) for key, value in named(row, answer.by).items()},
        "start": iso(answer.window.start),
        "end": iso(answer.window.end),
        **{key: amount(value) for key, value in sums(ledger)},
        "goodput": "" if ledger.goodput is None else str(ratio(ledger.goodput)),
        "biggest_loss": "" if ledger.biggest_loss is None else ledger.biggest_loss.label,
        **{f"gpu_hours.{key}": value for key, value in by_category(ledger.amounts, amount).items()},
        **{f"held_gpu_hours.{key}": value for key, value in by_category(ledger.held, amount).items()},
    }


def harmless(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula: with an apostrophe before what would begin one."""
    start = name.lstrip(BEFORE_FORMULA)[:1]
    return f"'{name}" if start in FORMULA_STARTS and start else name
