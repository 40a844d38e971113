"""Cut a worker's stretches into spans of one category each, and remake the stored ones from a changed instant on."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ledger.core.categories import HELD, Category, Phase, categorize
from ledger.core.facts import FOREVER, Left, Range, Rule, covers
from ledger.core.stalls import stalled_in, telling_in
from ledger.core.timeline import Folded, Stretch, stays

UNPLACED = 0
UNKNOWN = 1
NO_POOL = 0
_FIRST_RULE = Rule(-1)


class Span(NamedTuple):
    """A worker's time [since, to) in one category; machine 0 = not held, 1 = held on an unknown one; pool 0 = none."""

    since: int
    to: int
    category: Category
    unobserved: bool
    gpus_milli: int
    machine: int
    pool: int
    attempt: int
    source: int

    @property
    def attributes(self) -> tuple[Category, bool, int, int, int, int, int]:
        return self[2:]


class Watch(NamedTuple):
    """What decides beside the worker's own states and samples: words by source, dated rules, its gang's stalls."""

    words: Mapping[int, Sequence[Range]]
    rules: Sequence[Rule] = (_FIRST_RULE,)
    gang: Sequence[Range] = ()


def rule_at(rules: Sequence[Rule], at: int) -> Rule:
    """Return the dated settings in force at `at`; before the first they are the defaults."""
    place = bisect_right(rules, at, key=lambda rule: rule.since)
    return rules[place - 1] if place else _FIRST_RULE


def spans_of(stretches: Sequence[Stretch], left: Left, watch: Watch, since: int) -> list[Span]:
    """Return the spans of one worker from `since` on, sorted, disjoint and as long as they can be."""
    own = stalled_in(stays(stretches), left.stalls)
    stalled = own if not watch.gang else tuple(sorted((*own, *_borrowed(stretches, left, watch))))
    spans: list[Span] = []
    for stretch in stretches:
        if stretch.to > since and stretch.folded.alive and stretch.folded.gpus_milli > 0:
            _cut(stretch, left, stalled, watch, max(since, stretch.since), spans)
    return spans


def _borrowed(stretches: Sequence[Stretch], left: Left, watch: Watch) -> list[Range]:
    """The gang's stalls, where this worker runs and has told no step in its stay."""
    kept = []
    running = stays(stretches)
    for (begin, _), (told_from, _) in zip(running, telling_in(running, left.told), strict=True):
        for lower, upper in watch.gang:
            if max(lower, begin) < min(upper, told_from):
                kept.append((max(lower, begin), min(upper, told_from)))
    return kept


def _cut(stretch: Stretch, left: Left, stalled: Sequence[Range], watch: Watch, since: int, spans: list[Span]) -> None:
    edges = sorted({since, *(e for e in _edges(stretch.folded, left, stalled, watch) if since < e < stretch.to)})
    for begin, end in zip(edges, [*edges[1:], stretch.to], strict=True):
        span = _span(stretch.folded, left, stalled, watch, begin, end)
        if spans and spans[-1].to == begin and spans[-1].attributes == span.attributes:
            spans[-1] = spans[-1]._replace(to=end)
        else:
            spans.append(span)


def _edges(folded: Folded, left: Left, stalled: Sequence[Range], watch: Watch) -> Iterable[int]:
    for word in watch.words.get(folded.source, ()):
        yield from word
    if folded.phase is not Phase.RUNNING:
        return
    for flip in left.flips:
        yield flip.at
    for ranges in (stalled, left.covered):
        for lower, upper in ranges:
            yield lower
            yield upper
    for rule in watch.rules:
        yield rule.since


def _span(folded: Folded, left: Left, stalled: Sequence[Range], watch: Watch, begin: int, end: int) -> Span:
    """Ask the one table for an elementary piece of a stretch."""
    running = folded.phase is Phase.RUNNING
    rule = rule_at(watch.rules, begin)
    category = categorize(
        folded.phase,
        reason=folded.reason,
        cause=folded.cause,
        placed=folded.placed,
        attempt=folded.attempt,
        stalled=folded.stalled or (running and any(lower <= begin < upper for lower, upper in stalled)),
        busy=_busy(left, begin) if running else None,
        unmeasured_as=rule.unmeasured_as,
    )
    assert category is not None, "a life has a category at each instant"
    held = folded.phase in HELD
    by_readings = running and rule.readings_expected
    watched = left.covered if by_readings else tuple(watch.words.get(folded.source, ()))
    machine = (UNKNOWN if folded.machine is None else folded.machine) if held else UNPLACED
    pool = NO_POOL if folded.pool is None else folded.pool
    unobserved = not covers(watched, begin)
    return Span(begin, end, category, unobserved, folded.gpus_milli, machine, pool, folded.attempt, folded.source)


def _busy(left: Left, at: int) -> bool | None:
    place = bisect_right(left.flips, at, key=lambda flip: flip.at)
    return left.flips[place - 1].busy if place else None


def until(spans: Sequence[Span], now: int) -> tuple[list[Span], int]:
    """Return (the spans begun by `now`, the last left open; the next instant after `now` at which one changes).

    The second is FOREVER when time alone changes nothing.
    """
    begun = [span if span.to <= now else span._replace(to=FOREVER) for span in spans if span.since <= now]
    edges = (edge for span in spans for edge in span[:2] if now < edge < FOREVER)
    return begun, min(edges, default=FOREVER)


def remake(old: Sequence[Span], new: Sequence[Span], since: int) -> tuple[list[Span], list[Span]]:
    """Return (stored spans to remove, spans to add) so that from `since` on the stored spans are `new`.

    `old` are all stored spans that end after `since`, or at it; what lies before it stays as it is.
    """
    spans: list[Span] = [s._replace(to=min(s.to, since)) for s in old if s.since < since]
    for span in new:
        if spans and spans[-1].to == span.since and spans[-1].attributes == span.attributes:
            spans[-1] = spans[-1]._replace(to=span.to)
        else:
            spans.append(span)
    assert all(a.to <= b.since for a, b in zip(spans, spans[1:], strict=False)), "no instant is counted twice"
    before, after = set(old), set(spans)
    return [s for s in old if s not in after], [s for s in spans if s not in before]
