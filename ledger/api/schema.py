"""The OpenAPI document: the shapes of bodies come from the types that decode them, the rest stands here."""

from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter

from ledger.api.authentication import SCHEME
from ledger.api.problems import PROBLEM
from ledger.api.reading import FILTERS, LIMIT, LIMIT_MAX, OFFSET_MAX, UNITS, WEEKS_MAX
from ledger.core.categories import DEFINITIONS, Category
from ledger.core.windows import MAX_DAYS
from ledger.decode import wire
from ledger.queries import GROUPINGS, SORTS

Shape = dict[str, Any]
TEXT: Shape = {"type": "string"}
INSTANT: Shape = {"type": "string", "format": "date-time"}
COUNT: Shape = {"type": "integer", "minimum": 0}
AMOUNT: Shape = {
    "description": "GPU-hours with 6 decimals; with unit=gpu_us GPU-microseconds, as digits.",
    "oneOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}],
}
LABELS = [category.label for category in Category]


def shape(properties: dict[str, Shape], optional: tuple[str, ...] = ()) -> Shape:
    """Return an object that has these keys and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def listing(name: str) -> Shape:
    return {"type": "array", "items": reference(name)}


def reference(name: str) -> Shape:
    return {"$ref": f"#/components/schemas/{name}"}


def nullable(of: Shape) -> Shape:
    return {"anyOf": [of, {"type": "null"}]}


BY_CATEGORY = shape({c.label: {**AMOUNT, "description": DEFINITIONS[c]} for c in Category})
LEDGER = {
    "gpu_hours": BY_CATEGORY,
    "allocated_gpu_hours": AMOUNT,
    "productive_gpu_hours": AMOUNT,
    "lost_gpu_hours": AMOUNT,
    "waiting_gpu_hours": AMOUNT,
    "goodput": {"type": "number", "minimum": 0, "maximum": 1, "description": "Absent when nothing was held."},
    "held_gpu_hours": BY_CATEGORY,
    "unobserved_gpu_hours": AMOUNT,
    "unobserved_productive_gpu_hours": AMOUNT,
    "biggest_loss": nullable({"type": "string", "enum": LABELS}),
}
REFUSAL = {"list": {"type": "string", "enum": list(wire.LISTS)}, "index": COUNT, "field": TEXT, "error": TEXT}
_BODIES = msgspec.json.schema_components([wire.Body, wire.Head, wire.Line], ref_template="#/components/schemas/{name}")[
    1
]
COMPONENTS: dict[str, Shape] = {
    **_BODIES,
    "Ledger": shape(LEDGER, ("goodput",)),
    "Row": shape(
        {"name": TEXT, "uid": TEXT, "workspace": TEXT, "pool": TEXT, **LEDGER},
        ("uid", "workspace", "pool", "goodput"),
    ),
    "Goodput": shape(
        {
            "start": INSTANT,
            "end": INSTANT,
            "by": {"type": "string", "enum": list(GROUPINGS)},
            "counted_until": INSTANT,
            "complete": {"type": "boolean", "description": "Every hour of the window is final."},
            "revised_at": {**INSTANT, "description": "When an hour that had been closed was last corrected."},
            "rows": listing("Row"),
            "total": reference("Ledger"),
            "next": nullable({"type": "string", "format": "uri"}),
        },
        ("revised_at",),
    ),
    "Refusal": shape(REFUSAL),
    "Receipt": shape({"accepted": COUNT, "duplicate": COUNT, "late": COUNT, "refused": listing("Refusal")}),
    "RefusedItem": shape({"received_at": INSTANT, "source": TEXT, **REFUSAL, "item": {}}),
    "RefusedItems": shape({"refused": listing("RefusedItem"), "next": nullable({"type": "string"})}),
    "Problem": shape({"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "detail": TEXT}),
}


def number(name: str, least: int, most: int, said: str, default: int | None = None) -> OpenApiParameter:
    of = {"type": "integer", "minimum": least, "maximum": most}
    return OpenApiParameter(name, of, description=said, default=default)


def choice(name: str, choices: list[str], default: str, said: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, enum=choices, default=default, description=said)


PAGING = [
    number("limit", 1, LIMIT_MAX, "How many rows a page has.", LIMIT),
    number("offset", 0, OFFSET_MAX, "How many rows to leave out before the page.", 0),
]


def problems(*statuses: int) -> dict[tuple[int, str], Shape]:
    return {(status, PROBLEM): reference("Problem") for status in (*statuses, 401, 403, 503)}


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
GOODPUT: dict[str, Any] = {
    "operation_id": "goodput",
    "summary": "A ledger per row of a grouping, and the total",
    "parameters": [
        choice("by", list(GROUPINGS), "workspace", "What a row stands for."),
        OpenApiParameter("start", INSTANT, description="Floored to the hour."),
        OpenApiParameter("end", INSTANT, description="Ceiled to the hour; now when left out."),
        number("days", 1, MAX_DAYS, "The last days, instead of start and end; 7 when nothing is said."),
        number("weeks", 1, WEEKS_MAX, "The last ISO weeks, the running one included."),
        *(OpenApiParameter(name, str, description="Only what has this name.") for name in FILTERS if name != "q"),
        OpenApiParameter("q", str, description="Only rows with this in their name."),
        choice("sort", [way + s for s in SORTS for way in ("", "-")], "-lost", "With - the largest first."),
        choice("unit", list(UNITS), UNITS[0], "gpu_us: exact GPU-microseconds, as texts of digits."),
        *PAGING,
    ],
    "responses": {200: reference("Goodput"), **problems(400)},
}


def with_components(result: Shape, **_: object) -> Shape:
    """Add the shapes that the operations name."""
    components = result.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **COMPONENTS}
    return result


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the document calls a token."""

    target_class = "ledger.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, *_: object) -> Shape:
        return {"type": "http", "scheme": SCHEME.lower()}
