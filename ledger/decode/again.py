"""Items as they could be sent again: for what is refused only after it was decoded."""

from typing import Any

from ledger.batches import Condition, MachineItem, ReadingItem, RunItem, WorkerItem
from ledger.core.categories import Phase
from ledger.core.streams import Doing
from ledger.decode.values import instant, iso

Item = MachineItem | RunItem | WorkerItem | ReadingItem
_INSTANTS = {"at": "at", "since": "from", "submitted_at": "submitted_at", "ended_at": "ended_at"}
_THOUSANDTHS = {
    "gpus_milli": "gpus",
    "min_goodput_milli": "min_goodput",
    "busy_milli_percent": "gpu_busy",
    "step_ms": "step_seconds",
}


def as_sent(item: Item) -> dict[str, Any]:
    """Return an item in the words of the interface; decoding it again gives the same item."""
    sent: dict[str, Any] = {}
    for name, value in item._asdict().items():
        if name == "index" or value is None or value == "":
            continue
        if name == "conditions":
            sent[name] = [condition(one) for one in value]
            continue
        if name in _INSTANTS:
            sent[_INSTANTS[name]] = iso(value)
        elif name in _THOUSANDTHS:
            sent[_THOUSANDTHS[name]] = value / 1000 if value % 1000 else value // 1000
        elif not isinstance(value, Phase | Doing):
            sent[name] = value
        elif value:
            sent[name] = value.label
    return sent


def condition(of: Condition) -> dict[str, Any]:
    """Return a run's condition in the words of the interface."""
    said = {"type": of.type, "status": of.status, "reason": of.reason, "message": of.message}
    said |= {} if of.at is None else {"at": iso(of.at)}
    return {key: value for key, value in said.items() if value}


def conditions_of(said: list[dict[str, Any]]) -> tuple[Condition, ...]:
    """Return conditions from their words as `condition` has them."""
    return tuple(
        Condition(
            one["type"],
            one.get("status", ""),
            one.get("reason", ""),
            one.get("message", ""),
            instant(one["at"]) if "at" in one else None,
        )
        for one in said
    )
