"""Prove the ledger: facts → spans by folding again, spans → cells and cells → roll-ups by set-based statements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from ledger import clock, evidence, sql
from ledger.clock import Clock
from ledger.core.categories import Category
from ledger.core.postings import LINES
from ledger.core.spans import Span, Watch, spans_of
from ledger.core.stalls import gang_of
from ledger.core.timeline import fold
from ledger.core.windows import DAY, HOUR, floor_day, floor_hour
from ledger.rollups import TABLES

RUNS_AT_ONCE = 200
DAYS_AT_ONCE = 7
BEGINNING = 0


@dataclass(slots=True)
class Findings:
    """The differences in words, one a line, and what was looked at; overcommitted machines are no difference."""

    differences: list[str] = field(default_factory=list)
    overcommitted: list[str] = field(default_factory=list)
    workers: int = 0
    hours: int = 0


def check(
    cluster: int, counted_until: int, start: int | None = None, end: int | None = None, now: int | None = None
) -> Iterator[Findings]:
    """Compare the ledger of [start, end) (ms; None: all of it) with its evidence; yield what was found so far.

    Spans are compared up to `counted_until`, where the categorizer counted them last: time alone changes later ones.
    """
    began = clock.barrier(cluster, now)
    first = sql.value("first_span", cluster=cluster)
    lower = floor_hour(first if first is not None else began.open_hour) if start is None else start
    lower = max(lower, began.kept_from)
    upper = counted_until if end is None else min(end, counted_until)
    last = began.open_hour if end is None else min(end, began.open_hour)
    findings = Findings()
    for runs in pages(cluster):
        clock.post(cluster, now, partial(_check_spans, runs=runs, lower=lower, upper=upper, findings=findings))
        yield findings
    for hour in range(lower, last, DAYS_AT_ONCE * DAY):
        _check_cells(cluster, hour, min(hour + DAYS_AT_ONCE * DAY, last), findings)
        yield findings
    days = (lower if start is None else lower + DAY - 1) // DAY * DAY
    for day in range(days, floor_day(last), DAYS_AT_ONCE * DAY):
        _check_rollups(cluster, day, min(day + DAYS_AT_ONCE * DAY, floor_day(last)), TABLES, findings)
        yield findings
    _check_rollups(cluster, max(lower, floor_day(last)), last, ("hourpool",), findings)
    if end is None or end > began.open_hour:
        clock.post(cluster, now, partial(_check_open, findings=findings))
    findings.differences += [f"run_total {' '.join(row)}" for row in sql.rows("check_runtotal", cluster=cluster)]
    for table in ("weekmachine", "weekrun"):
        weeks = sql.rows(f"check_{table}", cluster=cluster, edge=began.kept_from)
        findings.differences += [f"{table} {' '.join(row)}" for row in weeks]
    yield findings


def pages(cluster: int) -> Iterator[list[int]]:
    after = 0
    while runs := [run for (run,) in sql.rows("check_runs", cluster=cluster, after=after, limit=RUNS_AT_ONCE)]:
        yield runs
        after = runs[-1]


def _check_spans(at: Clock, runs: list[int], lower: int, upper: int, findings: Findings) -> None:
    """Fold the whole evidence of the runs' workers and compare it with their spans in [lower, upper)."""
    workers = {worker: at.kept_from for _, worker in sql.rows("recount_gangs", runs=runs)}
    sql.rows("runs_lock_of", workers=sorted(workers))
    known = evidence.load(workers)
    folds = {worker: fold(each.base, each.states, each.gones)[0] for worker, each in known.items()}
    watch = Watch(evidence.words(at.cluster, at.kept_from, at.now), evidence.rules(at.cluster, at.now))
    gang = {run: gang_of([(folds[w], e.left) for w, e in known.items() if e.run == run]) for run in runs}
    for worker, each in known.items():
        told = _within(spans_of(folds[worker], each.left, watch._replace(gang=gang[each.run]), -1), lower, upper)
        kept = _within(each.spans, lower, upper)
        findings.workers += 1
        findings.differences += [f"span of worker {worker}: kept, not told: {_text(s)}" for s in kept if s not in told]
        findings.differences += [f"span of worker {worker}: told, not kept: {_text(s)}" for s in told if s not in kept]


def _within(spans: list[Span], lower: int, upper: int) -> list[Span]:
    """Clip spans to [lower, upper)."""
    clipped = (s._replace(since=max(s.since, lower), to=min(s.to, upper)) for s in spans)
    return [span for span in clipped if span.since < span.to]


def _text(span: Span) -> str:
    unobserved = " unobserved" if span.unobserved else ""
    return (
        f"[{span.since}, {span.to}) {Category(span.category).label}{unobserved} {span.gpus_milli} milli-GPUs "
        f"machine {span.machine} pool {span.pool} attempt {span.attempt}"
    )


def _check_cells(cluster: int, lower: int, upper: int, findings: Findings) -> None:
    where = {"cluster": cluster, "lower": lower, "upper": upper}
    findings.hours += (upper - lower) // HOUR
    for hour, run, machine, pool, *amounts in sql.rows("check_hours", **where):
        pairs = zip(LINES, amounts[::2], amounts[1::2], strict=True)
        differing = "; ".join(f"{line} {kept or 0} ≠ {told or 0}" for line, kept, told in pairs if kept != told)
        findings.differences.append(f"hour {hour} run {run} machine {machine} pool {pool}: {differing}")
    for hour, machine, held, capacity in sql.rows("check_capacity", **where):
        findings.overcommitted.append(f"machine {machine} hour {hour}: held {held} of {capacity * HOUR} GPU-µs")


def _check_rollups(cluster: int, lower: int, upper: int, tables: Iterable[str], findings: Findings) -> None:
    for table in tables:
        rows = sql.rows(f"check_{table}", cluster=cluster, lower=lower, upper=upper)
        findings.differences += [f"{table} {' '.join(row)}: not the sum of its hours" for row in rows]


def _check_open(at: Clock, findings: Findings) -> None:
    for run, machine, pool, *amounts in sql.rows("check_open", cluster=at.cluster):
        findings.differences.append(f"open cell run {run} machine {machine} pool {pool}: kept and told: {amounts}")
