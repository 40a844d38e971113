"""Decoding of observations: strict about the body, item by item about what it holds."""

from collections.abc import Callable
from typing import Any, TypeVar

from ledger.batches import Batch
from ledger.decode import values
from ledger.decode.body import (
    BODY_BYTES_MAX,
    DEPTH_MAX,
    ITEMS_MAX,
    BadBody,
    Broken,
    Parsed,
    parse,
    refuse_size,
    refuse_twice,
)
from ledger.decode.items import BadValue, Judge, refusal

__all__ = ["BODY_BYTES_MAX", "DEPTH_MAX", "ITEMS_MAX", "BadBody", "decode", "refuse_size", "refuse_twice"]

Fact = TypeVar("Fact")


def decode(body: bytes, content_type: str) -> Batch:
    """Return the batch that a body holds, refused items aside.

    Raises BadBody: 415 for a media type or charset that is not taken, 413 for more than BODY_BYTES_MAX bytes or
    ITEMS_MAX items, 400 for what is no batch at all. A value that its field does not take refuses its item only.
    """
    parsed = parse(body, content_type)
    judge = Judge()
    batch = _head(parsed, judge)
    batch.machines = _judged("machines", parsed, judge.machine, batch)
    batch.runs = _judged("runs", parsed, judge.run, batch)
    batch.workers = _judged("workers", parsed, judge.worker, batch)
    batch.readings = _judged("readings", parsed, judge.reading, batch)
    batch.named = {(item.run, item.worker) for item in batch.workers} | _named(parsed, judge)
    for refused in batch.refused:
        if refused.list == "workers" and (named := judge.named(parsed.items["workers"][refused.index])):
            batch.named.add(named)
    return batch


def _head(parsed: Parsed, judge: Judge) -> Batch:
    head, field = parsed.head, "source"
    try:
        source = judge.names[head.source]
        field = "sent_at"
        sent_at = judge.instants[head.sent_at]
        field = "seen_from"
        seen_from = judge.instants.optional(head.seen_from)
        values.ordered(seen_from, sent_at, "sent_at")
    except ValueError as error:
        raise BadBody(400, f'The batch\'s "{field}" {error}.') from None
    return Batch(source, sent_at, seen_from, complete=head.complete is True)


def _named(parsed: Parsed, judge: Judge) -> set[tuple[str, str]]:
    """Return the workers that the head names without a state of theirs."""
    named = parsed.head.named or {}
    if named and parsed.head.complete is not True:
        raise BadBody(400, 'The batch\'s "named" belongs to a complete list.')
    try:
        return {(judge.names[run], judge.names[worker]) for run, workers in named.items() for worker in workers}
    except ValueError as error:
        raise BadBody(400, f'The batch\'s "named": a name {error}.') from None


def _judged(name: str, parsed: Parsed, judge: Callable[[int, Any], Fact], batch: Batch) -> list[Fact]:
    """Return the facts of a list in their order; what is not taken goes to the batch's refusals."""
    facts: list[Fact] = []
    for index, item in enumerate(parsed.items[name]):
        if type(item) is Broken:
            batch.refused.append(refusal(name, index, item, item))
            continue
        try:
            facts.append(judge(index, item))
        except BadValue as fault:
            batch.refused.append(refusal(name, index, item, fault))
    return facts
