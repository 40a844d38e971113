"""The demo as observations: its whole history at once, and what happened between two instants."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from ledger.batches import Batch, MachineItem, ReadingItem, RunItem
from ledger.core.windows import DAY
from ledger.demo import samples
from ledger.demo.extract import jobs
from ledger.demo.incidents import MINUTE, incidents
from ledger.demo.repairs import is_ready, repairs, turns
from ledger.demo.samples import Sample
from ledger.demo.script import Script, write
from ledger.demo.world import FIRST, LONGEST, NOW_DAY, Played, machine_names, place, played
from ledger.replay.trace import ITEMS_PER_BATCH, TraceRun, TraceState, run_item, worker_item

SEED = "acme"
SOURCE = "demo/east"
CARRY = 5 * MINUTE  # how long a word holds, at its default
MIN_GOODPUT_MILLI = 800
PROMISED = ("llm-pretrain", "vit-large")  # runs that ask to be told when their goodput is low


def shift_at(now: int) -> int:
    """Return the ms, whole days, from the demo's own time to the calendar so that `now` falls on its NOW_DAY."""
    return now - now % DAY - NOW_DAY


class World:
    """All that happens in the demo up to `until` (ms after the begin of the trace); pure, the same for a seed."""

    def __init__(self, until: int, seed: str = SEED) -> None:
        self.seed, self.until = seed, until
        self.runs = played(jobs(), seed, until)
        self.placed = place(self.runs)
        self.troubles = incidents(self.runs, self.placed, seed)
        self.dark = samples.dark_machines(seed, until + LONGEST)
        self.repairs = repairs(self.runs, self.placed, seed, until)
        self.script = lru_cache(maxsize=1_000)(self._script)

    def _script(self, run: Played) -> Script:
        places = [(run.uid, number) for number in range(len(run.attempts))]
        return write(run, [self.placed[p] for p in places], [self.troubles.get(p, []) for p in places])

    def begun(self, at: int) -> list[Played]:
        """Return the runs submitted up to `at`, in order."""
        return [run for run in self.runs if run.submitted <= at]

    def alive(self, after: int, until: int) -> list[Played]:
        """Return the runs that are not over at `after` and are submitted up to `until`."""
        return [run for run in self.runs if run.submitted <= until and run.end > after]


class _Filler:
    """Puts items into batches of one instant, all with what the first of them says of itself."""

    def __init__(self, sent_at: int, shift: int) -> None:
        self.batch = Batch(SOURCE, sent_at + shift)
        self.shift = shift

    @property
    def items(self) -> int:
        return len(self.batch.runs) + len(self.batch.workers) + len(self.batch.readings)

    def run(self, script: Script, now: int) -> None:
        self.batch.runs.append(_labels(script, now, len(self.batch.runs), self.shift))

    def states(self, uid: str, worker: str, states: Iterable[TraceState]) -> None:
        for state in states:
            self.batch.workers.append(worker_item(len(self.batch.workers), uid, worker, state, self.shift))
            self.batch.named.add((uid, worker))

    def readings(self, uid: str, worker: str, found: Iterable[Sample]) -> None:
        for sample in found:
            self.batch.readings.append(
                ReadingItem(
                    index=len(self.batch.readings),
                    run=uid,
                    worker=worker,
                    at=sample.at + self.shift,
                    since=sample.since + self.shift,
                    busy_milli_percent=sample.busy_milli_percent,
                    step=sample.step,
                    step_ms=sample.step_ms,
                )
            )


def _labels(script: Script, now: int, index: int, shift: int) -> RunItem:
    run = script.run
    over = run.end <= now
    label = TraceRun(
        uid=run.uid,
        name=run.name,
        workers=(),
        kind="PyTorchJob" if len(run.gang) > 1 else "Job",
        user=run.user,
        workspace=run.team.workspace,
        submitted_at=run.submitted,
        ended_at=run.end if over else None,
        outcome=script.outcome if over else None,
    )
    item = run_item(index, label, shift)
    return item._replace(min_goodput_milli=MIN_GOODPUT_MILLI) if run.name.startswith(PROMISED) else item


def history(world: World, now: int, shift: int) -> Iterator[tuple[int, Batch]]:
    """Yield (runs in it, batch) of all that happened up to `now`, first what was watched, then run by run."""
    for batch in words(world, now, shift):
        yield 0, batch
    filler, runs = _Filler(now, shift), 0
    for run in world.begun(now):
        script = world.script(run)
        filler.run(script, now)
        _tell(filler, world, script, FIRST - DAY, now)
        runs += 1
        if filler.items >= ITEMS_PER_BATCH:
            yield runs, filler.batch
            filler, runs = _Filler(now, shift), 0
    if runs:
        yield runs, filler.batch


def _tell(filler: _Filler, world: World, script: Script, after: int, until: int) -> None:
    for worker in range(len(script.run.gang)):
        name = f"worker-{worker}"
        happened = [s for s in samples.states(script, worker) if after < s.at <= until]
        filler.states(script.run.uid, name, happened)
        filler.readings(script.run.uid, name, samples.samples(script, worker, after, until, world.dark))


def words(world: World, now: int, shift: int) -> Iterator[Batch]:
    """Yield batches, in order, that say what was watched up to `now`, and which machines there were."""
    away = [gap for gap in samples.outages(world.seed, now) if gap[1] < now]
    told = [*_watched(away, now, shift), *_turned(world, away, now, shift)]
    yield from sorted(told, key=lambda batch: batch.sent_at)


def _watched(away: Sequence[tuple[int, int]], now: int, shift: int) -> Iterator[Batch]:
    """Yield the words between the times when the collector was away; the first one reports all machines."""
    begin = FIRST
    machines = machine_items()
    for gap in (*away, (now + CARRY, now + CARRY)):
        end = max(begin, gap[0] - CARRY)
        if machines:
            yield Batch(SOURCE, begin + shift, machines=machines)
            machines = []
        yield Batch(SOURCE, end + shift, seen_from=begin + shift)
        begin = gap[1]


def _turned(world: World, away: Sequence[tuple[int, int]], now: int, shift: int) -> Iterator[Batch]:
    """Yield a batch for each machine that broke or was repaired; while the collector was away nobody saw it."""
    for at, machine in turns(world.repairs, FIRST, now):
        seen = next((back for left, back in away if left - CARRY < at < back), at)
        yield Batch(SOURCE, seen + shift, machines=machine_items(world, at, (machine,)))


def machine_items(world: World | None = None, at: int = FIRST, names: Iterable[str] = ()) -> list[MachineItem]:
    """Return machines as they are at an instant, these or all; all are ready where no world says otherwise."""
    every = machine_names()
    broken = world.repairs if world else {}
    return [
        MachineItem(number, name, pool, gpus * 1000, is_ready(name, at, broken))
        for number, (name, (pool, gpus)) in enumerate((name, every[name]) for name in names or every)
    ]


def happened(world: World, after: int, now: int, shift: int, complete: bool) -> Iterator[Batch]:
    """Yield what happened in (after, now], each batch saying that all of it was watched; at least one, the word.

    With `complete` the last one is a whole list: each run and worker that lives at `now` in its present state.
    """
    for at, machine in turns(world.repairs, after, now):
        yield _seen(Batch(SOURCE, at + shift, machines=machine_items(world, at, (machine,))), after, shift)
    filler = _Filler(now, shift)
    for run in world.alive(after, now):
        script = world.script(run)
        if after < run.end <= now or after < run.submitted <= now:
            filler.run(script, now)
        _tell(filler, world, script, after, now)
        if filler.items >= ITEMS_PER_BATCH:
            yield _seen(filler.batch, after, shift)
            filler = _Filler(now, shift)
    yield _seen(filler.batch, after, shift)
    if complete:
        yield whole_list(world, now, shift)


def _seen(batch: Batch, after: int, shift: int) -> Batch:
    batch.seen_from = after + shift
    return batch


def whole_list(world: World, now: int, shift: int) -> Batch:
    """Return the complete list of `now`: the machines, the living runs, and the last state of each worker."""
    filler = _Filler(now, shift)
    filler.batch.complete = True
    filler.batch.machines = machine_items(world, now)
    for run in world.alive(now, now):
        script = world.script(run)
        filler.run(script, now)
        for worker in range(len(run.gang)):
            filler.states(run.uid, f"worker-{worker}", _latest(samples.states(script, worker), now))
    return filler.batch


def _latest(states: Sequence[TraceState], now: int) -> Sequence[TraceState]:
    return [state for state in states if state.at <= now][-1:]


def shift_of(told: Mapping[str, int], world: World) -> int | None:
    """Return the shift of a demo from when (ms) any of its runs was submitted, {uid: instant}; None: no run is its."""
    return next((told[run.uid] - run.submitted for run in world.runs if run.uid in told), None)
