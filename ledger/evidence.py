"""Load what is known of workers from an instant on: their facts, and the spans that were folded from them."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ledger import sql
from ledger.core.categories import Category, Phase
from ledger.core.facts import FOREVER, Flip, Gone, Left, Range, Rule, Stall, State, union
from ledger.core.spans import Span
from ledger.core.timeline import NOTHING, Folded


@dataclass(slots=True)
class Known:
    """A worker's evidence from `since` on (ms), and what the last count stored."""

    worker: int
    run: int
    since: int
    counted: tuple[int, int | None, int | None, bool]  # phase, stay_since, due, watched
    base: Folded = NOTHING
    states: list[State] = field(default_factory=list)
    folded: list[list[Any] | None] = field(default_factory=list)
    gones: list[Gone] = field(default_factory=list)
    left: Left = field(default_factory=Left)
    spans: list[Span] = field(default_factory=list)


def load(sinces: Mapping[int, int]) -> dict[int, Known]:
    """Return what is known of each worker from its instant on; `sinces`: worker id → ms."""
    workers = sorted(sinces)
    where = {"workers": workers, "sinces": [sinces[worker] for worker in workers]}
    known: dict[int, Known] = {}
    covered: dict[int, list[Range]] = defaultdict(list)
    told: dict[int, list[Range]] = defaultdict(list)
    for worker, run, phase, stay, due, watched, *ends in sql.rows("load_workers", workers=workers):
        known[worker] = Known(worker, run, sinces[worker], (phase, stay, due, watched))
        _add_open_ends(covered[worker], told[worker], *ends)
    for worker, folded in sql.rows("load_bases", **where):
        known[worker].base = unpack(json.loads(folded))
    for worker, *fields in sql.rows("load_states", **where):
        known[worker].states.append(_state(*fields[:-1]))
        known[worker].folded.append(None if fields[-1] is None else json.loads(fields[-1]))
    for worker, *fields in sql.rows("load_gones", workers=workers):
        known[worker].gones.append(Gone(*fields))
    for worker, *fields in sql.rows("load_spans", **where):
        known[worker].spans.append(_span(*fields))
    _load_left(known, where, covered, told)
    return known


def _load_left(
    known: dict[int, Known],
    where: dict[str, Any],
    covered: dict[int, list[Range]],
    told: dict[int, list[Range]],
) -> None:
    flips: dict[int, list[Flip]] = defaultdict(list)
    stalls: dict[int, list[Stall]] = defaultdict(list)
    for worker, at, busy in sql.rows("load_flips", **where):
        flips[worker].append(Flip(at, busy))
    for worker, progress_at, proof_at, until in sql.rows("load_stalls", **where):
        stalls[worker].append(Stall(progress_at, proof_at, FOREVER if until is None else until))
    for worker, lower, upper in sql.rows("load_covered", **where):
        covered[worker].append((lower, upper))
    for worker, lower, upper in sql.rows("load_told", workers=where["workers"]):
        told[worker].append((lower, upper))
    for worker, each in known.items():
        each.left = Left(tuple(flips[worker]), tuple(stalls[worker]), union(covered[worker]), union(told[worker]))


def _add_open_ends(
    covered: list[Range],
    told: list[Range],
    covered_from: int | None,
    covered_to: int | None,
    told_from: int | None,
    told_to: int | None,
) -> None:
    if covered_from is not None and covered_to is not None:
        covered.append((covered_from, covered_to))
    if told_from is not None and told_to is not None:
        told.append((told_from, told_to + 1))


def _state(
    at: int,
    attempt: int,
    phase: int,
    content: str,
    reason: str,
    gpus_milli: int | None,
    machine: int | None,
    pool: int | None,
    stalled: bool | None,
    source: int,
) -> State:
    return State(at, attempt or None, Phase(phase), content, reason, gpus_milli, machine, pool, stalled, source)


def _span(since: int, until: int | None, category: int, *rest: Any) -> Span:
    return Span(since, FOREVER if until is None else until, Category(category), *rest)


def unpack(folded: Sequence[Any]) -> Folded:
    """Return the folded state that `list(folded)` was stored of."""
    at, phase, *rest = folded
    return Folded(at, Phase(phase), *rest)


def words(cluster: int, since: int, now: int) -> dict[int, tuple[Range, ...]]:
    """Return what each source's words cover, up to `now`: a range that goes on beyond it is left open.

    When words run out is looked at by source, not by worker, so that an end ahead is no change of a worker.
    """
    found: dict[int, list[Range]] = defaultdict(list)
    for source, lower, upper in sql.rows("load_words", cluster=cluster, since=since):
        if lower <= now:
            found[source].append((lower, upper if upper <= now else FOREVER))
    return {source: tuple(ranges) for source, ranges in found.items()}


def rules(cluster: int, now: int) -> tuple[Rule, ...]:
    """Return the dated settings in force by `now`."""
    found = (Rule(since, Category(category), readings) for since, category, readings in rule_rows(cluster))
    return tuple(rule for rule in found if rule.since <= now)


def rule_rows(cluster: int) -> list[tuple[Any, ...]]:
    return sql.rows("load_rules", cluster=cluster)
