"""The OpenAPI document: what can be asked, with which parameters, and what is answered."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter

from ledger.api.authentication import SCHEME
from ledger.api.problems import PROBLEM
from ledger.api.reading import (
    ALERT_STATES,
    FORMATS,
    IN_CLUSTER,
    LIMIT,
    LIMIT_MAX,
    OFFSET_MAX,
    RUN_FILTERS,
    STATES,
    WEEKS,
    WEEKS_MAX,
    WORKER_STATES,
    WORKERS_MAX,
)
from ledger.api.shapes import COMPONENTS, INSTANT, Shape, reference
from ledger.api.shapes_logs import LOG_COMPONENTS
from ledger.api.shapes_progress import PROGRESS_COMPONENTS
from ledger.core.windows import MAX_DAYS
from ledger.models.alerts import RULES
from ledger.queries import GROUPINGS, SORTS
from ledger.writing.figures import CSV, UNITS


def number(name: str, least: int, most: int, said: str, default: int | None = None) -> OpenApiParameter:
    of = {"type": "integer", "minimum": least, "maximum": most}
    return OpenApiParameter(name, of, description=said, default=default)


def choice(name: str, choices: Iterable[str], said: str, default: str | None = None) -> OpenApiParameter:
    return OpenApiParameter(name, str, enum=list(choices), default=default, description=said)


def exactly(*names: str) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, str, description="Only what has this name.") for name in names if name != "q"]


PAGING = [
    number("limit", 1, LIMIT_MAX, "How many rows a page has.", LIMIT),
    number("offset", 0, OFFSET_MAX, "How many rows to leave out before the page.", 0),
]


FORMAT = choice("format", FORMATS, "csv: the same rows as RFC 4180, their next page in the header Link.", FORMATS[0])
UNIT = choice("unit", UNITS, "gpu_us: exact GPU-microseconds, as texts of digits.", UNITS[0])
PART = OpenApiParameter("q", str, description="Only rows with this in their name.")
WINDOW = [
    OpenApiParameter("start", INSTANT, description="Floored to the hour."),
    OpenApiParameter("end", INSTANT, description="Ceiled to the hour; now when left out."),
    number("days", 1, MAX_DAYS, "The last days, instead of start and end."),
    number("weeks", 1, WEEKS_MAX, "The last ISO weeks, the running one included."),
]
ROWS = [
    choice("by", GROUPINGS, "What a row stands for.", "workspace"),
    *exactly(*IN_CLUSTER),
    PART,
    choice("sort", [way + s for s in SORTS for way in ("", "-")], "With - the largest first.", "-lost"),
    UNIT,
    FORMAT,
]
TABLE: Shape = {"type": "string", "description": "A table with a header, numbers as numbers, names made harmless."}


def problems(*statuses: int) -> dict[tuple[int, str], Shape]:
    return {(status, PROBLEM): reference("Problem") for status in (*statuses, 401, 403, 429, 503)}


def ledgers_of(shape: str, name: str, summary: str, parameters: list[OpenApiParameter], *more: int) -> dict[str, Any]:
    """Return the operation that answers with a shape, or with the same as CSV."""
    answers: dict[Any, Any] = {(200, "application/json"): reference(shape), (200, CSV.partition(";")[0]): TABLE}
    answers |= problems(400, *more)
    return {"operation_id": name, "summary": summary, "parameters": parameters, "responses": answers}


OBSERVATIONS: dict[str, Any] = {
    "operation_id": "observe",
    "summary": "Send observations of one source",
    "request": {"application/json": reference("Body"), "application/x-ndjson": reference("Head")},
    "responses": {202: reference("Receipt"), **problems(400, 404, 413, 415)},
}
REFUSED: dict[str, Any] = {
    "operation_id": "refused",
    "summary": "Items that were refused, the newest first",
    "parameters": PAGING,
    "responses": {200: reference("RefusedItems"), **problems(400, 404)},
}
CLUSTER_WORKERS: dict[str, Any] = {
    "operation_id": "clusterWorkers",
    "summary": "Workers that hold GPUs of a cluster now, and where readings of them are found",
    "parameters": [
        number("limit", 1, WORKERS_MAX, "How many workers a page has.", 1_000),
        number("after", 0, 9_999_999_999, "Where the page before ended, as its `next` says.", 0),
    ],
    "responses": {200: reference("HeldWorkers"), **problems(400, 404)},
}
CLUSTER_SOURCES: dict[str, Any] = {
    "operation_id": "clusterSources",
    "summary": "The sources of a cluster: when each was heard, who is stale, whose list is held back",
    "responses": {200: reference("Sources"), **problems(400, 404)},
}
OF_CLUSTER = exactly("cluster")
OF_GOODPUT = [*ROWS, *WINDOW, *PAGING]
OF_WEEKS = [*ROWS, number("weeks", 1, WEEKS_MAX, "How many weeks, the running one included.", WEEKS), PAGING[0]]
GOODPUT = ledgers_of("Goodput", "goodput", "A ledger per row of a grouping, and the total", [*OF_CLUSTER, *OF_GOODPUT])
WEEKLY = ledgers_of("Weekly", "weekly", "The same per ISO week", [*OF_CLUSTER, *OF_WEEKS])
CLUSTER_GOODPUT = ledgers_of("Goodput", "clusterGoodput", "All of an organization on a cluster", OF_GOODPUT, 404)
CLUSTER_WEEKLY = ledgers_of("Weekly", "clusterWeekly", "The same per ISO week", OF_WEEKS, 404)
RUNS = ledgers_of(
    "Runs",
    "runs",
    "Runs, those that go on first, then the newest",
    [*exactly(*RUN_FILTERS), PART, choice("state", STATES, "Both when left out."), *PAGING, FORMAT],
)
RUN_GOODPUT = ledgers_of(
    "Goodput",
    "runGoodput",
    "The ledger of a run, since it was submitted unless hours are said",
    [*WINDOW, UNIT, FORMAT],
    404,
)
ALERTS: dict[str, Any] = {
    "operation_id": "alerts",
    "summary": "Alerts, those that are firing first, then the newest",
    "parameters": [
        choice("state", ALERT_STATES, "Both when left out."),
        choice("rule", RULES, "Any when left out."),
        *PAGING,
    ],
    "responses": {200: reference("Alerts"), **problems(400)},
}
METRICS: dict[str, Any] = {
    "operation_id": "metrics",
    "summary": "What the token sees as gauges; OpenMetrics where it is accepted, else text 0.0.4",
    "responses": {
        (200, "text/plain"): {"type": "string"},
        (200, "application/openmetrics-text"): {"type": "string"},
        **problems(400),
    },
}
RUN: dict[str, Any] = {
    "operation_id": "run",
    "summary": "A run, what is true of it, and its workers as they are now, by name",
    "parameters": PAGING,
    "responses": {200: reference("RunNow"), **problems(400, 404)},
}
RUN_TIMELINE: dict[str, Any] = {
    "operation_id": "timeline",
    "summary": "Where each worker of a run was, and in which category",
    "parameters": [
        OpenApiParameter("start", INSTANT, description="Segments are clipped to it."),
        OpenApiParameter("end", INSTANT, description="Segments are clipped to it."),
    ],
    "responses": {200: reference("Timeline"), **problems(400, 404)},
}
WORKERS: dict[str, Any] = {
    "operation_id": "workers",
    "summary": "Workers that are stalled now, the longest first, or stragglers, the slowest first",
    "parameters": [OpenApiParameter("state", str, enum=list(WORKER_STATES), required=True), *PAGING],
    "responses": {
        200: {"anyOf": [reference("StalledWorkers"), reference("StragglingWorkers")]},
        **problems(400),
    },
}


def with_components(result: Shape, **_: object) -> Shape:
    """Add the shapes that the operations name."""
    components = result.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **COMPONENTS, **LOG_COMPONENTS, **PROGRESS_COMPONENTS}
    return result


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the document calls a token."""

    target_class = "ledger.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, *_: object) -> Shape:
        return {"type": "http", "scheme": SCHEME.lower()}
