"""What is known of one attempt from squeue, from sacct and from what was seen, and the record that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from astra.collect.slurm.attempts import Attempt, type_stretch
from astra.collect.slurm.record import SECOND, Record
from astra.collect.slurm.scontrol import Node
from astra.collect.slurm.words import ALIVE, PAUSED, PROLOG, is_held_back

ANSWER = 5 * SECOND  # a list may tell what happened between the question and its answer
UNLOOKED_MAX = 60 * SECOND  # so long a new job may stand in the queue before the scheduler looks at it
START_UP = frozenset({"CONFIGURING"})
PLACED = frozenset({"RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"})


@dataclass
class Known:
    """`now` is what squeue says (None: it does not name it any more), `past` what sacct says; instants in ms."""

    now: Record | None = None
    past: Record | None = None
    last: Record | None = None
    start: int | None = None
    preempted: int | None = None
    begun: int | None = None
    booting: bool = False
    asking: int | None = None
    asked: list[tuple[int, int | None]] = field(default_factory=list)
    spread: int = 0
    pauses: list[tuple[int, int | None]] = field(default_factory=list)
    lost: list[tuple[str, int, int | None]] = field(default_factory=list)
    spoilt: bool = False

    @property
    def submit(self) -> int | None:
        record = self.last or self.past
        return None if record is None else record.submit

    @property
    def alive(self) -> bool:
        """Whether squeue says that it waits, runs or completes."""
        return self.now is not None and self.now.state in ALIVE

    def see(self, record: Record, at: int) -> None:
        """Take what squeue said in a list of the instant `at`."""
        if record.state == "COMPLETING" and (record.end is None or record.end > at + ANSWER):
            record = replace(record, end=None)
        self.now = self.last = record
        if record.state in PLACED and record.start is not None:
            self.start = record.start
        if record.preempted is not None and record.preempted <= at + ANSWER:
            self.preempted = min(record.preempted, self.preempted or record.preempted)
        self._wait(record, at)
        self._begin(record, at)
        self._pause(record, at)

    def miss(self, at: int) -> None:
        """Take a list of the instant `at` that does not name it any more."""
        self.now = None
        if self.booting:
            self.begun, self.booting = at, False

    def _wait(self, record: Record, at: int) -> None:
        if record.state != "PENDING":
            return
        since = record.eligible
        looked = record.reason not in ("None", "") or (since is not None and at - since > UNLOOKED_MAX)
        if since is not None and since <= at and looked and not is_held_back(record.reason):
            after = self.asked[-1][1] if self.asked else None
            self.asking = self.asking or max(since, after or 0)
            self.spread = self.spread or record.width
        elif self.asking is not None and is_held_back(record.reason):
            self.asked.append((self.asking, at))
            self.asking = None

    def _begin(self, record: Record, at: int) -> None:
        if record.state in START_UP or (record.state == "RUNNING" and record.reason == PROLOG):
            self.booting = self.begun is None
        elif record.state in PLACED and self.booting:
            # what is suspended before it was seen to run was past its start-up when that happened
            self.begun = min(_switched(record, at), at) if record.state in PAUSED else at
            self.booting = False

    def _pause(self, record: Record, at: int) -> None:
        switched = _switched(record, at)
        open_since = self.pauses[-1][0] if self.pauses and self.pauses[-1][1] is None else None
        if record.state in PAUSED and open_since is None:
            self.pauses.append((switched, None))
        elif record.state in PLACED - PAUSED and open_since is not None:
            self.pauses[-1] = (open_since, switched if switched > open_since else at)

    def hear(self, nodes: Mapping[str, Node], heard: Mapping[str, int], at: int) -> None:
        """Take which of its nodes answer in a list of the instant `at`; `heard`: when each answered last."""
        if self.now is None or self.now.state not in PLACED:
            return
        for name in self.now.nodes:
            node = nodes.get(name)
            gone = [place for place, (lost, _, until) in enumerate(self.lost) if lost == name and until is None]
            if node is not None and not node.answers and not gone and name in heard:
                self.lost.append((name, heard[name], None))
            elif node is not None and node.answers and gone:
                self.lost[gone[0]] = (name, self.lost[gone[0]][1], at)

    def judge_prolog(self, nodes: Mapping[str, Node]) -> None:
        """Note that it ended in its prolog because that failed, as the reason says for which its node was drained."""
        record = self.past or self.last
        if self.booting and record is not None:
            whys = [nodes[name].why.lower() for name in record.nodes if name in nodes]
            self.spoilt = self.spoilt or any("prolog" in why for why in whys)

    def attempt(self, has_next: bool) -> Attempt:
        """Return the attempt as it is known; that it is over is believed when squeue does not say otherwise."""
        record = self._record(has_next)
        waits: tuple[type_stretch, ...] | None = None
        if record.state == "PENDING" and not self.asked:
            waits = () if self.asking is None else ((self.asking, None),)
        elif self.asked:
            last = () if self.asking is None else ((self.asking, record.start if record.placed else record.end),)
            waits = (*self.asked, *last)
        seen = (self.begun, self.booting, waits, self.spread, tuple(self.pauses), tuple(self.lost), self.spoilt)
        return Attempt(record, *seen, watched=True)

    def _record(self, has_next: bool) -> Record:
        """Return the record that holds: what squeue says of what goes on, what sacct says of what is over."""
        now, past = self.now or self.last, self.past
        if now is None:
            assert past is not None, "an attempt is known from something"
            return past
        seen = replace(now, start=self.start or now.start, preempted=self.preempted)
        if past is None:
            return seen
        if self.alive and not has_next:
            start = past.start if seen.placed and past.start is not None else seen.start
            return replace(seen, start=start, step=past.step, steps=past.steps, end=seen.end or self._end(past))
        if past.end is None and seen.placed:
            return replace(seen, step=past.step)
        return replace(
            past,
            held=seen.held if seen.nodes == past.nodes and seen.gpus == past.gpus else past.held,
            asked=seen.asked or past.asked,
            width=self.spread or past.width,
            preempted=self.preempted,
        )

    def _end(self, past: Record) -> int | None:
        """Return the End that sacct has of an attempt which squeue shows as completing."""
        return past.end if self.now is not None and self.now.state == "COMPLETING" else None


def _switched(record: Record, at: int) -> int:
    """Return when it was suspended or went on, as it says itself; else the instant of the list that shows it."""
    return record.switched if record.switched is not None and record.switched <= at + ANSWER else at
