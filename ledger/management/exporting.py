"""A cluster's observations again as batches: all that was said, as far as the ledger remembers it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ledger import evidence, sql
from ledger.batches import Batch, MachineItem, ReadingItem, RunItem, WorkerItem
from ledger.core.categories import Phase
from ledger.core.facts import State, Thresholds
from ledger.core.streams import Stream
from ledger.core.timeline import NOTHING, Folded, deaths, fold, stays, take
from ledger.decode.again import conditions_of
from ledger.evidence import Known
from ledger.models import Cluster, Machine, Pool, Run, Source, Worker
from ledger.replay.leftover import readings
from ledger.replay.trace import ITEMS_PER_BATCH

RUNS_AT_ONCE = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Names:
    """The names behind the numbers of one cluster, and the first instant (ms) at which each source was heard."""

    machines: dict[int, str]
    pools: dict[int, str]
    sources: dict[int, str]
    heard: dict[int, int]
    carry_max: int


@dataclass
class Pending:
    """The batch of one source that is being filled, and the runs that it has named."""

    batch: Batch
    runs: set[str] = field(default_factory=set)

    @property
    def items(self) -> int:
        return len(self.batch.runs) + len(self.batch.workers) + len(self.batch.readings)


def batches(cluster: Cluster) -> Iterator[Batch]:
    """Yield what was watched, then what is known of each run, the oldest run first."""
    names = _names(cluster)
    yield from _words(cluster, names)
    ids = list(Run.objects.filter(cluster=cluster).order_by("id").values_list("id", flat=True))
    pending: dict[int, Pending] = {}
    for start in range(0, len(ids), RUNS_AT_ONCE):
        yield from _runs(cluster, ids[start : start + RUNS_AT_ONCE], names, pending)
    yield from (each.batch for each in pending.values() if each.items)


def _names(cluster: Cluster) -> Names:
    of = {"cluster": cluster}
    first: dict[int, int] = {}
    for source, lower, _ in sql.rows("load_words", cluster=cluster.pk, since=0):
        first.setdefault(source, lower)
    return Names(
        dict(Machine.objects.filter(**of).values_list("id", "name")) | {1: "unknown"},
        dict(Pool.objects.filter(**of).values_list("id", "name")) | {0: "none"},
        dict(Source.objects.filter(**of).values_list("id", "name")),
        first,
        cluster.carry_max_ms,
    )


def _words(cluster: Cluster, names: Names) -> Iterator[Batch]:
    """Yield an empty batch for each range that words cover; the last of all reports the machines."""
    batch = None
    for source, lower, upper in sql.rows("load_words", cluster=cluster.pk, since=0):
        batch = Batch(names.sources[source], max(lower, upper - names.carry_max), lower)
        yield batch
    if batch is not None:
        machines = Machine.objects.filter(cluster=cluster).select_related("pool").order_by("name")
        items = [MachineItem(k, m.name, _pool(m), m.gpus_milli, m.ready) for k, m in enumerate(machines)]
        yield Batch(batch.source, batch.sent_at, batch.seen_from, machines=items)


def _pool(machine: Machine) -> str | None:
    return machine.pool.name if machine.pool_id else None


def _runs(cluster: Cluster, ids: list[int], names: Names, pending: dict[int, Pending]) -> Iterator[Batch]:
    runs = Run.objects.filter(pk__in=ids).select_related("workspace").in_bulk()
    workers: dict[int, list[Worker]] = defaultdict(list)
    for worker in Worker.objects.filter(run__in=ids).order_by("id"):
        workers[worker.run_id].append(worker)
    known = evidence.load({worker.pk: 0 for each in workers.values() for worker in each})
    limits = Thresholds(cluster.busy_threshold_milli_percent, cluster.stall_after_ms, cluster.carry_max_ms)
    for run in ids:
        for worker in workers[run]:
            yield from _worker(runs[run], worker, known[worker.pk], names, limits, pending)


def _worker(
    run: Run, worker: Worker, known: Known, names: Names, limits: Thresholds, pending: dict[int, Pending]
) -> Iterator[Batch]:
    states = sorted([*known.states, *_deaths(known)], key=lambda one: one.order)
    for state in states:
        batch, full = _room(run, state.source, names, pending)
        yield from full
        item = _state(len(batch.workers), run.uid, worker.name, state, names)
        batch.workers.append(_placed(item, worker) if state is states[-1] else item)
    running = stays(fold(NOTHING, known.states, known.gones)[0])
    source = known.states[-1].source if known.states else min(names.sources)
    for reading in readings(known.left, stream_of(worker), running, limits):
        batch, full = _room(run, source, names, pending)
        yield from full
        batch.readings.append(ReadingItem(len(batch.readings), run.uid, worker.name, *reading))


def _placed(item: WorkerItem, worker: Worker) -> WorkerItem:
    """The newest state says where readings of the worker's GPUs are found, as the ledger knows it."""
    devices = tuple(worker.devices.split(",")) if worker.devices else None
    return item._replace(pod=worker.pod or None, devices=devices)


def _room(run: Run, source: int, names: Names, pending: dict[int, Pending]) -> tuple[Batch, list[Batch]]:
    """Return the batch of the source, which names the run, and what had to be sent before because it was full."""
    full = []
    if source in pending and pending[source].items >= ITEMS_PER_BATCH:
        full.append(pending.pop(source).batch)
    if source not in pending:
        pending[source] = Pending(Batch(names.sources[source], names.heard[source]))
    now = pending[source]
    if run.uid not in now.runs:
        now.runs.add(run.uid)
        now.batch.runs.append(_run(len(now.batch.runs), run))
    return now.batch, full


def _deaths(known: Known) -> Iterator[State]:
    """Yield the states that end a life which the complete lists of a source lacked, after all others of the instant."""
    for at in deaths(NOTHING, known.states, known.gones):
        before: Folded = NOTHING
        for state in known.states:
            if state.at <= at:
                before = take(before, state)
        if before.alive:
            yield State(at, before.attempt, Phase.ENDED, "", source=before.source)


def _state(index: int, run: str, worker: str, state: State, names: Names) -> WorkerItem:
    return WorkerItem(
        index=index,
        run=run,
        worker=worker,
        at=state.at,
        phase=state.phase,
        reason=state.reason,
        attempt=state.attempt,
        gpus_milli=state.gpus_milli,
        machine=None if state.machine is None else names.machines[state.machine],
        pool=None if state.pool is None else names.pools[state.pool],
        stalled=state.stalled,
    )


def _run(index: int, run: Run) -> RunItem:
    return RunItem(
        index=index,
        uid=run.uid,
        workspace=run.workspace.name,
        name=run.name or None,
        kind=run.kind or None,
        user=run.user or None,
        submitted_at=_ms(run.submitted_at),
        ended_at=_ms(run.ended_at),
        outcome=run.outcome or None,
        min_goodput_milli=run.min_goodput_milli,
        conditions=conditions_of(run.conditions) or None,
    )


def stream_of(worker: Worker) -> Stream:
    """Return the newest of a worker's samples as its row has them."""
    return Stream(
        busy_at=_ms(worker.busy_at),
        busy=worker.busy,
        step_at=_ms(worker.step_at),
        step=worker.step,
        step_ms=worker.step_ms,
        progress_at=_ms(worker.progress_at),
        proven=worker.proven,
        covered_from=_ms(worker.covered_from),
        covered_to=_ms(worker.covered_to),
        told_from=_ms(worker.told_from),
        told_to=_ms(worker.told_to),
        doing=worker.doing,
        recent=tuple(worker.recent),
    )


def _ms(at: datetime | None) -> int | None:
    return None if at is None else (at - EPOCH) // timedelta(milliseconds=1)
