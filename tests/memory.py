"""The ledger in memory: deliveries → facts → spans → linear cells, by the functions that the real one uses.

It keeps facts, spans and cells in dicts and decides nothing: each answer is the core's. A run is counted again when
a fact of it is new or time alone changes it, never else. Instants are UTC ms.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ledger.core.categories import Category, Phase
from ledger.core.facts import FOREVER, Gone, Left, Range, Rule, Stall, State, Thresholds, content_of, union
from ledger.core.postings import LINES, Cell, Postings
from ledger.core.spans import Span, Watch, remake, spans_of, until
from ledger.core.stalls import gang_of
from ledger.core.streams import Doing, Reading, Stream, Trace, take
from ledger.core.timeline import NOTHING, Stretch, fold
from ledger.core.windows import HOUR, floor_hour
from tests import evidence
from tests.evidence import Settings, instant, milli
from tests.oracle import Segment

type_name = tuple[str, str]  # run uid, worker name


@dataclass
class Member:
    """A worker as the complete lists of one source know it."""

    proof: int
    missing_since: int | None = None
    stored: bool = False


@dataclass
class Source:
    words: tuple[Range, ...] = ()
    listed_at: int = -1
    members: dict[type_name, Member] = field(default_factory=dict)


@dataclass
class Worker:
    states: list[State] = field(default_factory=list)
    gones: set[Gone] = field(default_factory=set)
    stream: Stream = field(default_factory=Stream)
    left: Left = field(default_factory=Left)
    spans: list[Span] = field(default_factory=list)
    due: int = FOREVER  # when time alone changes it next

    def stretches(self) -> list[Stretch]:
        return fold(NOTHING, self.states, self.gones)[0]

    def all_left(self) -> Left:
        """Return what the samples left, with the ranges that are still open."""
        covered = union((*self.left.covered, *self.stream.covered))
        told = tuple(sorted((*self.left.told, *self.stream.told)))
        return Left(self.left.flips, self.left.stalls, covered, told)


class Names:
    """Numbers for names, from `first` on in the order of their mention."""

    def __init__(self, first: int, *reserved: str) -> None:
        self.first, self.names = first, list(reserved)

    def number(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.first + self.names.index(name)

    def name(self, number: int) -> str:
        return self.names[number - self.first]


class Memory:
    """One cluster. `receive` and `categorize` take the clock; the hour that runs is open, all before it closed."""

    def __init__(self, settings: Settings, began: int) -> None:
        self.limits = Thresholds(milli(settings.busy_percent), settings.stall_after, settings.carry_max)
        self.rules = [
            Rule(rule.since, Category[rule.unmeasured_as.upper()], rule.readings_expected) for rule in settings.rules
        ]
        self.open_hour = floor_hour(began)
        self.runs, self.source_ids = Names(1), Names(1)
        self.machines, self.pools = Names(0, "unplaced", "unknown"), Names(0, "none")
        self.sources: dict[str, Source] = {}
        self.workers: dict[type_name, Worker] = {}
        self.rates: dict[Cell, list[int]] = {}
        self.offsets: dict[Cell, list[int]] = {}
        self.closed: dict[tuple[int, Cell], list[int]] = {}
        self.dirty: set[str] = set()

    # --- facts ---

    def receive(self, now: int, batch: evidence.type_batch) -> None:
        """Take one batch at `now` and count what it changes."""
        self.close(now)
        source = self.sources.setdefault(batch["source"], Source())
        sent_at = instant(batch["sent_at"])
        since = instant(batch["seen_from"]) if batch.get("seen_from") else sent_at
        words = union((*source.words, (since, sent_at + self.limits.carry_max)))
        if words != source.words:
            source.words = words
            number = self.source_ids.number(batch["source"])
            self.dirty |= {
                run for (run, _), worker in self.workers.items() if any(s.source == number for s in worker.states)
            }
        for run in batch.get("runs", ()):
            self.runs.number(run["uid"])
        known = [item for item in batch.get("workers", ()) if item["run"] in self.runs.names]
        self._states(known, batch)
        for item in batch.get("readings", ()):
            if item["run"] in self.runs.names:
                self._reading(item, now)
        if batch.get("complete") and sent_at > source.listed_at:
            self._list(source, sent_at, {(item["run"], item["worker"]) for item in known})
        self._count(now)

    def _states(self, items: list[Any], batch: evidence.type_batch) -> None:
        pools = {machine["name"]: machine.get("pool") or "none" for machine in batch.get("machines", ())}
        for item in items:
            if not evidence.is_refused(item):
                state = self._state(evidence.state_of(item, batch["source"], pools))
                worker = self.workers.setdefault((item["run"], item["worker"]), Worker())
                if state not in worker.states:
                    worker.states = sorted([*worker.states, state], key=lambda one: one.order)
                    self.dirty.add(item["run"])

    def _state(self, told: evidence.State) -> State:
        content = content_of(told.reason, told.gpus_milli, told.machine, told.pool, told.stalled, told.source)
        return State(
            told.at,
            told.attempt,
            Phase[told.phase.upper() or "NONE"],
            content,
            told.reason,
            told.gpus_milli,
            None if told.machine is None else self.machines.number(told.machine),
            None if told.pool is None else self.pools.number(told.pool),
            told.stalled,
            self.source_ids.number(told.source),
        )

    def _reading(self, item: dict[str, Any], now: int) -> None:
        worker = self.workers.setdefault((item["run"], item["worker"]), Worker())
        busy, seconds = item.get("gpu_busy"), item.get("step_seconds")
        reading = Reading(
            instant(item["at"]),
            instant(item["from"]) if item.get("from") else None,
            None if evidence.is_blank(busy) else milli(busy),
            item.get("step"),
            None if seconds is None else round(seconds * 1000),
            Doing[(item.get("doing") or "none").upper()],
        )
        trace = Trace()
        before = worker.stream
        worker.stream = take(worker.stream, reading, self.limits, now, trace)
        if worker.stream != before:
            self.dirty.add(item["run"])
        left, ends = worker.left, dict(trace.resumed)
        stalls = (*left.stalls, *trace.proofs)
        worker.left = Left(
            (*left.flips, *trace.flips),
            tuple(Stall(one[0], one[1], ends.get(one[0], one[2])) for one in stalls),
            union((*left.covered, *trace.covered)),
            (*left.told, *trace.told),
        )

    def _list(self, source: Source, at: int, present: set[type_name]) -> None:
        source.listed_at = at
        for name in present:
            source.members[name] = Member(proof=at)
        for name, member in source.members.items():
            if name in present:
                continue
            if member.missing_since is None:
                member.missing_since = at
            elif not member.stored and at - member.missing_since >= 30_000:
                member.stored = True
                gone = Gone(at, member.missing_since, member.proof)
                self.workers.setdefault(name, Worker()).gones.add(gone)
                self.dirty.add(name[0])

    # --- counting ---

    def categorize(self, now: int) -> None:
        """Count what time alone changed."""
        self.close(now)
        self._count(now)

    def close(self, now: int) -> None:
        """Close every hour that is over: its lines become amounts, the open ones go on from zero."""
        while self.open_hour + HOUR <= now:
            for cell in self.rates:
                amounts = self._open(cell, self.open_hour + HOUR)
                _add(self.closed, (self.open_hour, cell), amounts)
                self.offsets[cell] = [0] * len(LINES)
            self.rates = {cell: line for cell, line in self.rates.items() if any(line)}
            self.offsets = {cell: self.offsets[cell] for cell in self.rates}
            self.open_hour += HOUR

    def _open(self, cell: Cell, at: int) -> list[int]:
        lines = zip(self.rates[cell], self.offsets[cell], strict=True)
        return [offset + rate * (at - self.open_hour) for rate, offset in lines]

    def _count(self, now: int) -> None:
        due = {run for (run, _), worker in self.workers.items() if worker.due <= now}
        for run in sorted(self.dirty | due):
            members = {name: worker for name, worker in self.workers.items() if name[0] == run}
            gang = self._gang(members.values())
            for worker in members.values():
                self._recount(run, worker, gang, now)
        self.dirty.clear()

    def _gang(self, members: Iterable[Worker]) -> tuple[Range, ...]:
        return gang_of([(worker.stretches(), worker.all_left()) for worker in members])

    def _recount(self, run: str, worker: Worker, gang: tuple[Range, ...], now: int) -> None:
        words = {self.source_ids.number(name): source.words for name, source in self.sources.items()}
        watch = Watch(words, self.rules, gang)
        spans, worker.due = until(spans_of(worker.stretches(), worker.all_left(), watch, 0), now)
        gone, come = remake(worker.spans, spans, 0)
        postings = Postings(self.open_hour)
        postings.post(self.runs.number(run), -1, gone, 0)
        postings.post(self.runs.number(run), 1, come, 0)
        self._post(postings.net())
        worker.spans = sorted({*worker.spans} - {*gone} | {*come})

    def _post(self, postings: Postings) -> None:
        for key, amounts in postings.closed.items():
            _add(self.closed, key, amounts)
        for cell in postings.rates:
            _add(self.rates, cell, postings.rates[cell])
            _add(self.offsets, cell, postings.offsets[cell])

    # --- answers ---

    def cells(self, at: int) -> dict[tuple[int, str, str, str], dict[str, int]]:
        """Return the ledger at `at`, in the open hour, in the shape of the oracle."""
        rows = dict(self.closed)
        for cell in self.rates:
            rows[self.open_hour, cell] = self._open(cell, at)
        return {
            (hour, self.runs.name(cell.run), self.machines.name(cell.machine), self.pools.name(cell.pool)): {
                line: amount for line, amount in zip(LINES, amounts, strict=True) if amount
            }
            for (hour, cell), amounts in rows.items()
            if any(amounts)
        }

    def timelines(self, at: int) -> dict[type_name, list[Segment]]:
        """Return the spans of each worker up to `at`, in the shape of the oracle."""
        return {
            name: [
                Segment(
                    span.since,
                    min(span.to, at),
                    span.category.label,
                    span.unobserved,
                    span.gpus_milli,
                    self.machines.name(span.machine),
                    self.pools.name(span.pool),
                )
                for span in worker.spans
            ]
            for name, worker in self.workers.items()
        }


def _add(rows: dict[Any, list[int]], key: Any, amounts: list[int]) -> None:
    rows[key] = [a + b for a, b in zip(rows.get(key, [0] * len(LINES)), amounts, strict=True)]
