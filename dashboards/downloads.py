"""A ledger page as CSV and as JSON, in the words and units of the interface."""

from django.http import HttpResponse

from dashboards.filters import PAGE_ROWS, Shown
from dashboards.moments import day
from ledger import queries
from ledger.access import Scope
from ledger.writing import ledgers
from ledger.writing.figures import CSV, as_json

PROBLEM = "application/problem+json"


def respond(scope: Scope, shown: Shown) -> HttpResponse:
    """Return all rows that match, or those of the page that was asked for, in the order of the page."""
    if shown.problems:
        problem = {"type": "about:blank", "title": "Not understood", "status": 400, "detail": " ".join(shown.problems)}
        return HttpResponse(as_json(problem), status=400, content_type=PROBLEM)
    answer = queries.goodput(
        scope,
        shown.window,
        by=shown.by,
        filters=shown.filters,
        sort=shown.sort,
        limit=PAGE_ROWS if shown.page else None,
        offset=shown.offset,
    )
    name = f"goodput-by-{shown.by}-{day(shown.window.start)}-to-{day(shown.window.end)}".replace(" ", "-").lower()
    headers = {"Content-Disposition": f'attachment; filename="{name}.{shown.format}"'}
    if shown.format == "csv":
        return HttpResponse(ledgers.csv_of(answer, shown.unit), content_type=CSV, headers=headers)
    told = as_json(ledgers.envelope(answer, shown.unit, following=None))
    return HttpResponse(told, content_type="application/json", headers=headers)
