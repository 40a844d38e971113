"""The shapes of bodies and answers, for the OpenAPI document: those of bodies come from the types that decode them."""

from typing import Any

from ledger.api.bounds import bodies
from ledger.api.reading import ALERT_STATES, STATES
from ledger.core.categories import DEFINITIONS, Category, Phase
from ledger.decode import wire
from ledger.models.alerts import RULES
from ledger.queries import GROUPINGS

Shape = dict[str, Any]
TEXT: Shape = {"type": "string"}
INSTANT: Shape = {"type": "string", "format": "date-time"}
COUNT: Shape = {"type": "integer", "minimum": 0}
AMOUNT: Shape = {
    "description": "GPU-hours with 6 decimals; with unit=gpu_us GPU-microseconds, as digits.",
    "oneOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}],
}
MONEY: Shape = {"type": "number", "minimum": 0}
LABELS = [category.label for category in Category]
CATEGORY: Shape = {"type": "string", "enum": LABELS}
GPUS: Shape = {"type": "number", "minimum": 0, "description": "With at most 3 decimals."}
YES: Shape = {"type": "boolean"}


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
    "biggest_loss": nullable(CATEGORY),
    "cost": {**MONEY, "description": "What the GPU time held cost; absent where no price is set."},
    "cost_not_productive": {**MONEY, "description": "What of it was not productive."},
    "unpriced_gpu_hours": {**AMOUNT, "description": "GPU time held in pools that had no price."},
}
COSTS = ("cost", "cost_not_productive", "unpriced_gpu_hours")
REFUSAL = {"list": {"type": "string", "enum": [*wire.LISTS, "batches"]}, "index": COUNT, "field": TEXT, "error": TEXT}
ENVELOPE = {
    "start": INSTANT,
    "end": INSTANT,
    "by": {"type": "string", "enum": list(GROUPINGS)},
    "counted_until": INSTANT,
    "complete": {**YES, "description": "Every hour of the window is final."},
    "revised_at": {**INSTANT, "description": "When an hour that had been closed was last corrected."},
    "currency": {**TEXT, "description": "ISO 4217, of the costs; absent where no price is set."},
}
NEXT = nullable({"type": "string", "format": "uri"})
RUN = {
    **dict.fromkeys(("name", "uid", "workspace", "cluster", "kind", "user"), TEXT),
    "state": {"type": "string", "enum": list(STATES)},
    "stalled": YES,
    "held_gpus": GPUS,
    "waiting_gpus": GPUS,
    "submitted_at": nullable(INSTANT),
    "ended_at": nullable(INSTANT),
    "outcome": TEXT,
    "min_goodput": nullable({"type": "number", "minimum": 0, "maximum": 1}),
    "verdict": nullable({"type": "string", "enum": ["pass", "fail", "no data"]}),
}
COMPONENTS: dict[str, Shape] = {
    **bodies(),
    "Ledger": shape(LEDGER, ("goodput", *COSTS)),
    "Row": shape(
        {"name": TEXT, "uid": TEXT, "workspace": TEXT, "pool": TEXT, "cluster": TEXT, **LEDGER},
        ("uid", "workspace", "pool", "cluster", "goodput", *COSTS),
    ),
    "Goodput": shape(
        {**ENVELOPE, "rows": listing("Row"), "total": reference("Ledger"), "next": NEXT},
        ("revised_at", "currency"),
    ),
    "Week": shape(
        {
            "start": INSTANT,
            "end": INSTANT,
            "partial": {**YES, "description": "It still goes on."},
            "rows": listing("Row"),
            "total": reference("Ledger"),
            "count": {**COUNT, "description": "How many rows match, on this page or not."},
        }
    ),
    "Weekly": shape({**ENVELOPE, "weeks": listing("Week"), "total": reference("Ledger")}, ("revised_at", "currency")),
    "RunLabels": shape(RUN),
    "Runs": shape({"runs": listing("RunLabels"), "count": COUNT, "next": NEXT}),
    "Condition": shape(
        {
            "type": {"type": "string", "enum": ["submitted", *LABELS, "ended"]},
            "since": nullable(INSTANT),
            "workers": COUNT,
            "reason": TEXT,
        },
        ("workers", "reason"),
    ),
    "SourceCondition": shape(
        {**dict.fromkeys(("type", "status", "reason", "message"), TEXT), "at": nullable(INSTANT)},
    ),
    "WorkerNow": shape(
        {
            "worker": TEXT,
            "phase": nullable({"type": "string", "enum": [phase.label for phase in Phase if phase]}),
            "category": nullable(CATEGORY),
            "since": nullable(INSTANT),
            "gpus": GPUS,
            "machine": nullable(TEXT),
            "pool": nullable(TEXT),
            "attempt": COUNT,
            "step": nullable(COUNT),
            "step_at": nullable(INSTANT),
        }
    ),
    "Loss": shape(
        {
            "category": CATEGORY,
            "since": INSTANT,
            "until": {**nullable(INSTANT), "description": "Null: it goes on."},
            "workers": COUNT,
            "worker": {**TEXT, "description": "The first of them."},
            "machine": nullable(TEXT),
            "reasons": {"type": "array", "items": TEXT},
            "lost_gpu_hours": AMOUNT,
        }
    ),
    "RunNow": shape(
        {
            **RUN,
            "attempts": COUNT,
            "losses": listing("Loss"),
            "conditions": listing("Condition"),
            "source_conditions": listing("SourceCondition"),
            "workers": listing("WorkerNow"),
            "count": {**COUNT, "description": "How many workers it has, on this page or not."},
            "next": NEXT,
        }
    ),
    "Segment": shape(
        {
            "from": INSTANT,
            "to": {**nullable(INSTANT), "description": "Null: still."},
            "category": CATEGORY,
            "held": YES,
            "unobserved": YES,
            "gpus": GPUS,
            "machine": TEXT,
            "pool": TEXT,
            "attempt": COUNT,
        }
    ),
    "Lane": shape({"worker": TEXT, "segments": listing("Segment")}),
    "Timeline": shape({"workers": listing("Lane"), "counted_until": INSTANT}),
    "StalledWorker": shape(
        {
            "workspace": TEXT,
            "run": TEXT,
            "uid": TEXT,
            "worker": TEXT,
            "machine": TEXT,
            "pool": TEXT,
            "since": INSTANT,
            "step": nullable(COUNT),
            "gpus": GPUS,
        }
    ),
    "StalledWorkers": shape({"workers": listing("StalledWorker"), "at": INSTANT, "next": NEXT}),
    "HeldWorker": shape(
        {
            **dict.fromkeys(("workspace", "run", "name", "worker", "machine", "pool"), TEXT),
            "gpus": GPUS,
            "pod": nullable({**TEXT, "description": "Namespace and name, with a slash between them."}),
            "devices": {"type": "array", "items": TEXT},
        }
    ),
    "HeldWorkers": shape({"workers": listing("HeldWorker"), "at": INSTANT, "next": NEXT}),
    "Source": shape(
        {
            "source": TEXT,
            "word_at": nullable({**INSTANT, "description": "Its newest word."}),
            "live_workers": {**COUNT, "description": "Workers that live and whose latest phase it told."},
            "stale_since": nullable({**INSTANT, "description": "From there on nobody watches these workers."}),
            "vanished_since": nullable(
                {**INSTANT, "description": "From there on its lists lack most of its workers and are held back."}
            ),
        }
    ),
    "Sources": shape({"sources": listing("Source"), "at": INSTANT}),
    "Alert": shape(
        {
            "id": COUNT,
            "rule": {"type": "string", "enum": list(RULES)},
            "state": {"type": "string", "enum": list(ALERT_STATES)},
            "text": {**TEXT, "description": "What it says, in one sentence."},
            "cluster": TEXT,
            "workspace": {**nullable(TEXT), "description": "Null: it is about the cluster as a whole."},
            "name": TEXT,
            "pool": nullable(TEXT),
            "uid": {**nullable(TEXT), "description": "The run's."},
            "hour": {**INSTANT, "description": "The final hour that was judged, or when it was seen."},
            "fired_at": INSTANT,
            "resolved_at": nullable(INSTANT),
            "acknowledged_at": nullable(INSTANT),
            "acknowledged_by": nullable(TEXT),
            "silenced_until": nullable(INSTANT),
        }
    ),
    "Alerts": shape({"alerts": listing("Alert"), "count": COUNT, "next": NEXT}),
    "Refusal": shape(REFUSAL),
    "Receipt": shape({"accepted": COUNT, "duplicate": COUNT, "late": COUNT, "refused": listing("Refusal")}),
    "RefusedItem": shape({"received_at": INSTANT, "source": TEXT, **REFUSAL, "item": {}}),
    "RefusedItems": shape({"refused": listing("RefusedItem"), "next": nullable({"type": "string"})}),
    "Problem": shape({"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "detail": TEXT}),
}
