"""What a source has to say at one instant, in the words and forms of the interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

Item = dict[str, object]


@dataclass(frozen=True)
class Items:
    """What a source has to say at one instant.

    `at` is when the list or the change was seen: the `sent_at` of the batch that carries it. Every item is as
    the interface has it, its instants as `instant_text` writes them. A run must stand in `runs` of each Items
    that mentions it. `complete`: `workers` names every live worker of the source. `seen_from`: everything was
    watched from there on (only for sources that read records of the past).
    """

    at: datetime
    machines: tuple[Item, ...] = ()
    runs: tuple[Item, ...] = ()
    workers: tuple[Item, ...] = ()
    readings: tuple[Item, ...] = ()
    complete: bool = False
    seen_from: datetime | None = None

    @property
    def count(self) -> int:
        """How many items it has."""
        return len(self.machines) + len(self.runs) + len(self.workers) + len(self.readings)


def now() -> datetime:
    """Return this instant."""
    return datetime.now(timezone.utc)


def instant_text(at: datetime) -> str:
    """Return an instant as RFC 3339 in UTC with its milliseconds (cut off, never rounded up). Needs a zone."""
    if at.tzinfo is None:
        raise ValueError("an instant needs a zone")
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_of(item: Mapping[str, object]) -> str:
    """Return the uid of the run that a state or reading is of."""
    return str(item["run"])
