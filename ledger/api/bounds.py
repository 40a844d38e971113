"""The shapes of observations for the OpenAPI document: the types that decode them, with the bounds of their values."""

from typing import Any

import msgspec

from ledger.core.categories import REASONS, Phase
from ledger.decode import values, wire

Shape = dict[str, Any]
_INSTANT: Shape = {"string": {"format": "date-time"}}
_NAME: Shape = {"string": {"maxLength": values.NAME_CHARACTERS_MAX}}
_INSTANTS = ("sent_at", "seen_from", "at", "from", "submitted_at", "ended_at")
_NAMES = ("source", "name", "uid", "workspace", "kind", "user", "outcome", "run", "worker", "machine", "pool",
          "log_profile")  # fmt: skip


def _number(most: int, least: int = 0) -> Shape:
    return {kind: {"minimum": least, "maximum": most} for kind in ("integer", "number")}


BOUNDS: dict[str, Shape] = {
    **dict.fromkeys(_INSTANTS, _INSTANT),
    **dict.fromkeys(_NAMES, _NAME),
    "phase": {"string": {"enum": ["", *(phase.label for phase in Phase if phase)]}},
    "reason": {"string": {"enum": ["", *REASONS]}},
    "pod": {"string": {"maxLength": 2 * values.NAME_CHARACTERS_MAX + 1}},
    "devices": {"array": {"maxItems": values.DEVICES_MAX}},
    "attempt": _number(values.ATTEMPT_MAX, least=1),
    "gpus": _number(values.GPUS_MAX),
    "min_goodput": _number(1),
    "step": _number(values.STEP_MAX),
    "step_seconds": _number(values.STEP_SECONDS_MAX),
}


def bodies() -> dict[str, Shape]:
    """Return the shapes of a batch, of a batch's head, and of their items, by name."""
    types = [wire.Body, wire.Head, wire.Line]
    _, found = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    for shape in found.values():
        for name, value in shape.get("properties", {}).items():
            for form in value.get("anyOf", [value]):
                form.update(BOUNDS.get(name, {}).get(form.get("type"), {}))
    return found
