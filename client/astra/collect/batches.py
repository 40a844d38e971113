"""From what a source says to records that fit a batch, and from records to the batches that are sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from astra.collect.items import Item, Items, instant_text, run_of

ITEMS_MAX = 20_000
BODY_BYTES_MAX = 8 * 1024 * 1024 - 64 * 1024
LISTS = ("machines", "runs", "workers", "readings")
STATES, READINGS, LIST = "states", "readings", "list"
MERGE_SECONDS = 60.0


class Limits(NamedTuple):
    """How large a batch may be."""

    items: int = ITEMS_MAX
    size: int = BODY_BYTES_MAX


LIMITS = Limits()


@dataclass(eq=False)
class Record:
    """A part of what was said that fits a batch: its kind, its instant, and its body without `source`."""

    kind: str
    at: datetime
    body: dict[str, Any]
    size: int
    seq: int = 0

    @property
    def count(self) -> int:
        return sum(len(self.body.get(name, ())) for name in LISTS)


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def records(items: Items, limits: Limits = LIMITS) -> list[Record]:
    """Return what was said as records that fit the limits, states before readings.

    A complete list that does not fit one record goes as parts that are not complete, and a last one that names
    its workers without their states: only that one is the list.
    """
    head: dict[str, Any] = {}
    if items.seen_from is not None:
        head["seen_from"] = instant_text(items.seen_from)
    readings = list(_parts(READINGS, items, items.readings, "readings", head, limits))
    told = {run_of(item) for item in items.readings} - {run_of(item) for item in items.workers}
    runs = tuple(run for run in items.runs if run["uid"] not in told)
    stated = Items(items.at, items.machines, runs, items.workers)
    states = list(_parts(STATES, stated, stated.workers, "workers", head, limits))
    if not items.complete:
        return states + readings or [_record(STATES, items.at, head)]
    if len(states) == 1:
        states[0].kind = LIST
        states[0].body["complete"] = True
        return states + readings
    named = {"named": _named(items.workers)} if items.workers else {}
    return [*states, _record(LIST, items.at, head | {"complete": True} | named), *readings]


def _named(workers: Iterable[Item]) -> dict[str, list[str]]:
    named: dict[str, dict[str, None]] = {}
    for item in workers:
        named.setdefault(run_of(item), {})[str(item["worker"])] = None
    return {run: list(names) for run, names in named.items()}


def _record(kind: str, at: datetime, body: dict[str, Any]) -> Record:
    return Record(kind, at, body, len(dumped(body).encode()))


def _parts(
    kind: str, items: Items, told: Sequence[Item], name: str, head: dict[str, Any], limits: Limits
) -> Iterator[Record]:
    """Yield parts; each has the runs that it mentions. Machines and runs that nobody mentions come first."""
    runs = {str(run["uid"]): run for run in items.runs}
    part = _Part(kind, items.at, head, limits)
    if kind == STATES:
        yield from part.add(("machines", machine) for machine in items.machines)
        mentioned = {run_of(item) for item in told}
        yield from part.add(("runs", run) for uid, run in runs.items() if uid not in mentioned)
    for item in told:
        yield from part.add([(name, item)], runs.get(run_of(item)))
    if part.body:
        yield part.record()


class _Part:
    """A record that grows until the next item would not fit."""

    def __init__(self, kind: str, at: datetime, head: dict[str, Any], limits: Limits) -> None:
        self.kind, self.at, self.head, self.limits = kind, at, head, limits
        self._begin()

    def _begin(self) -> None:
        self.body: dict[str, Any] = {}
        self.count, self.size, self.runs = 0, len(dumped(self.head)) + 64, set[str]()

    def add(self, told: Iterable[tuple[str, Item]], run: Item | None = None) -> Iterator[Record]:
        """Add items, with the run that they are of; yield the record before when they no longer fit it."""
        for name, item in told:
            size = len(dumped(item).encode()) + 1
            new = run is not None and str(run["uid"]) not in self.runs
            more = len(dumped(run).encode()) + 1 if new else 0
            over = self.count + 1 + new > self.limits.items or self.size + size + more > self.limits.size
            if over and self.body:
                yield self.record()
                self._begin()
                new = run is not None
            if run is not None and new:
                self.runs.add(str(run["uid"]))
                self.body.setdefault("runs", []).append(run)
                self.count, self.size = self.count + 1, self.size + (more or len(dumped(run).encode()) + 1)
            self.body.setdefault(name, []).append(item)
            self.count, self.size = self.count + 1, self.size + size

    def record(self) -> Record:
        return Record(self.kind, self.at, self.head | self.body, self.size)


def merged(found: Sequence[Record], limits: Limits = LIMITS) -> list[Record]:
    """Return as many of the records, from the first on, as one batch can carry.

    A list goes alone, and so does a record that says from when it saw. Others go together while their instants
    lie within a minute, so that no word is lost that coverage needs.
    """
    first, taken = found[0], [found[0]]
    if not joinable(first):
        return taken
    count, size, low, high = first.count, first.size, first.at, first.at
    for record in found[1:]:
        count, size = count + record.count, size + record.size
        low, high = min(low, record.at), max(high, record.at)
        fits = count <= limits.items and size <= limits.size
        if not (fits and joinable(record) and (high - low).total_seconds() <= MERGE_SECONDS):
            break
        taken.append(record)
    return taken


def joinable(record: Record) -> bool:
    return record.kind != LIST and "seen_from" not in record.body


def batch_of(source: str, told: Sequence[Record]) -> dict[str, Any]:
    """Return the batch that carries these records: its word is the newest instant among them."""
    batch: dict[str, Any] = {"source": source, "sent_at": instant_text(max(record.at for record in told))}
    for record in told:
        batch.update({key: value for key, value in record.body.items() if key not in LISTS})
    lists: dict[str, list[Item]] = {"machines": _newest(told, "machines", "name"), "runs": _newest(told, "runs", "uid")}
    for name in ("workers", "readings"):
        lists[name] = [item for record in told for item in record.body.get(name, ())]
    return batch | {name: items for name, items in lists.items() if items}


def _newest(told: Sequence[Record], name: str, key: str) -> list[Item]:
    """Return one item for each name; of what is said twice the later counts."""
    found: dict[object, Item] = {}
    for record in told:
        for item in record.body.get(name, ()):
            found[item[key]] = {**found.get(item[key], {}), **item}
    return list(found.values())


def lines_of(batch: dict[str, Any]) -> Iterator[str]:
    """Yield a batch as NDJSON: its head, then a line an item."""
    yield dumped({key: value for key, value in batch.items() if key not in LISTS})
    for name in LISTS:
        for item in batch.get(name, ()):
            yield dumped({"list": name} | item)


def halves(record: Record) -> list[Record]:
    """Return a record that was too large for the server as two, or none when it cannot be made smaller."""
    if "named" in record.body or record.count < 2 or "seen_from" in record.body:
        return []
    machines, runs, workers, readings = (tuple(record.body.get(name, ())) for name in LISTS)
    items = Items(record.at, machines, runs, workers, readings, record.kind == LIST)
    parts = records(items, Limits(max(2, items.count // 2), max(1024, record.size // 2)))
    return parts if len(parts) > 1 else []
