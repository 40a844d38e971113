"""A ledger page as CSV and as JSON, in the words and units of the interface."""

from django.http import HttpResponse

from dashboards.filters import PAGE_ROWS, Shown
from dashboards.moments import utc
from ledger import queries
from ledger.access import Scope
from ledger.writing import ledgers
from ledger.writing.figures import CSV, as_json

PROBLEM = "application/problem+json"


def respond(scope: Scope, shown: Shown) -> HttpResponse:
    """Return all rows that match, or those of the page that was asked for, in the order of the page."""
    if shown.problems:
        return refused(shown)
    answer = queries.goodput(
        scope,
        shown.window,
        by=shown.by,
        filters=shown.filters,
        sort=shown.sort,
        limit=PAGE_ROWS if shown.page else None,
        offset=shown.offset,
    )
    if shown.format == "csv":
        return sent(shown, "goodput", ledgers.csv_of(answer, shown.unit))
    return sent(shown, "goodput", as_json(ledgers.envelope(answer, shown.unit, following=None)))


def weekly(scope: Scope, shown: Shown) -> HttpResponse:
    """Return all rows of each week, the first week first, in the order of the page."""
    if shown.problems:
        return refused(shown)
    answer = queries.weekly(scope, shown.window, by=shown.by, filters=shown.filters, sort=shown.sort, limit=None)
    if shown.format == "csv":
        return sent(shown, "goodput-weekly", ledgers.weekly_csv_of(answer, shown.unit))
    return sent(shown, "goodput-weekly", as_json(ledgers.weekly(answer, shown.unit)))


def sent(shown: Shown, what: str, told: str | bytes) -> HttpResponse:
    """Return a file whose name says what it is, by what, and of which days."""
    first, last = (f"{utc(at):%-d-%b-%Y}".lower() for at in (shown.window.start, shown.window.end))
    name = f"{what}-by-{shown.by}-{first}-to-{last}"
    headers = {"Content-Disposition": f'attachment; filename="{name}.{shown.format}"'}
    return HttpResponse(told, content_type=CSV if shown.format == "csv" else "application/json", headers=headers)


def refused(shown: Shown) -> HttpResponse:
    """Say what of the query string cannot be understood."""
    problem = {"type": "about:blank", "title": "Not understood", "status": 400, "detail": " ".join(shown.problems)}
    return HttpResponse(as_json(problem), status=400, content_type=PROBLEM)
