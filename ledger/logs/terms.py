"""The fold: from the events of all attempts, in order, to the terms of log goodput. Pure and bounded."""

from copy import deepcopy
from dataclasses import dataclass, field

from ledger.logs.checkpoints import Checkpoints
from ledger.logs.events import Event, Kind
from ledger.logs.series import Series

REMEMBERED = 64
HELD_MAX = 64
SAME_LINE_US = 10_000_000  # ranks print one line of one step within this
Recent = tuple[int, int | None, str, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt as its source and its log reader know it, µs: when it began and ended, the last line's own time.

    `lines`: how many its logs have.
    """

    began: int | None = None
    ended: int | None = None
    last_line: int | None = None
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """What the fold needs of a profile."""

    warmup_steps: int = 0
    log_interval: int = 1
    done_is_told: bool = True


@dataclass(slots=True)
class Pass:
    """A stretch of work without interruption: its start, its first step's beginning, its newest step; µs."""

    started: int | None = None
    first_step: int | None = None
    stepped: bool = False
    current: int | None = None
    highest: int | None = None
    last_at: int | None = None
    last_step_at: int | None = None
    steps: int = 0
    recent: list[Recent] = field(default_factory=list)


@dataclass(slots=True)
class Fold:
    """All that is remembered of the events so far. Times are µs; what is not known yet is None."""

    rules: Rules
    attempt: int = 0
    began: int | None = None
    now: Pass = field(default_factory=Pass)
    saves: Checkpoints = field(default_factory=Checkpoints)
    held: list[Event] = field(default_factory=list)
    restarted: bool = False
    restart_at: int | None = None
    interrupted_at: int | None = None
    reschedules: bool = False
    first_start: int | None = None
    first_step: int | None = None
    lost: int = 0
    resumed: int = 0
    rescheduled: int = 0
    interruptions: int = 0
    skew: int = 0
    current: int | None = None
    highest: int | None = None
    step_lines: int = 0
    steps: int = 0
    step_time: int = 0
    plain_steps: int = 0
    plain_time: int = 0
    tflops_steps: int = 0
    tflops: int = 0
    transport: str = ""
    bandwidth: tuple[int, int | None, int | None] | None = None
    last_at: int | None = None
    series: Series = field(default_factory=Series)
    checkpoints: Series = field(default_factory=Series)
    breaks: Series = field(default_factory=Series)

    def enter(self, attempt: int, known: dict[int, Attempt]) -> None:
        """Begin the next attempt; whatever was done in the one before is interrupted."""
        if self.attempt:
            self._end_attempt(known)
        self.attempt = attempt
        self.began = known.get(attempt, Attempt()).began

    def take(self, event: Event) -> None:
        """Take the next event of the attempt, in the order of its log."""
        self._take(event)

    def _take(self, event: Event) -> None:
        if self.held:
            self._hold(event)
            return
        match event.kind:
            case Kind.STEP:
                self._step(event)
            case Kind.START:
                self._start(event)
            case Kind.SAVE | Kind.DONE:
                self._save(event)
            case Kind.BANDWIDTH if event.size is not None and (
                self.bandwidth is None or event.size >= self.bandwidth[0]
            ):
                self.bandwidth = (event.size, event.alg, event.bus)
            case Kind.TRANSPORT:
                self.transport = event.text or self.transport
        if not self.held:
            self._see(event.at)

    def _see(self, at: int | None) -> None:
        if at is not None:
            self.now.last_at = at if self.now.last_at is None else max(at, self.now.last_at)
            self.last_at = at if self.last_at is None else max(at, self.last_at)

    def _start(self, event: Event) -> None:
        now = self.now
        if now.stepped:
            later = event.at is None or now.last_step_at is None or event.at > now.last_step_at
            if later and not self.restarted:
                self.restarted, self.restart_at, self.interrupted_at = True, event.at, now.last_at
            return
        if event.at is None:
            return
        self.first_start = event.at if self.first_start is None else self.first_start
        if self.reschedules:
            self.rescheduled += self._span(self.interrupted_at, event.at)
            self.reschedules = False
        now.started = event.at if now.started is None else min(now.started, event.at)

    def _save(self, event: Event) -> None:
        step = self.saves.take(event, self.now.current, self.now.last_at, self.rules.done_is_told)
        if step is not None:
            self.checkpoints.add(self.saves.done_at, step if step >= 0 else self.now.current)

    def _step(self, event: Event) -> None:
        """A progress bar that begins again without a start of the application is another rank's."""
        now = self.now
        if self.restarted:
            self._restart(event)
            self._count(event)
        elif event.step is None or now.current is None or event.step > now.current:
            self._count(event)
        elif event.step < now.current and not event.part and not self._repeats(event):
            self.held = [event]

    def _repeats(self, event: Event) -> bool:
        """Whether another rank has printed this line: the same step, the same figures, about the same instant."""
        return any(
            said == event.said and (at is None or event.at is None or abs(event.at - at) <= SAME_LINE_US)
            for *values, at in self.now.recent
            if (said := tuple(values))
        )

    def _hold(self, event: Event) -> None:
        """A lower step is a late line when the next step lies above all; else the work went back to it."""
        first, reached = self.held[0], self.now.current
        assert reached is not None, "only a step below another one is held"
        another = event.kind is Kind.STEP and event.step is not None and event.step != first.step
        if not another and len(self.held) < HELD_MAX:
            self.held.append(event)
            return
        held, self.held = self.held, []
        if another and event.step is not None and event.step > reached:
            self._late(first)
        else:
            self._back(first)
        for one in (*held[1:], event):
            self._take(one)

    def _late(self, event: Event) -> None:
        self._add(event)
        self._see(event.at)

    def _back(self, event: Event) -> None:
        """The work went back to this step: what was done since the last checkpoint is lost."""
        self._interrupt(self.now.last_at, restored=event.step)
        self._count(event)
        self._see(event.at)

    def _restart(self, event: Event) -> None:
        """The process began anew within its attempt."""
        start, at = self.restart_at, self.interrupted_at
        ahead = event.step is not None and self.now.current is not None and event.step > self.now.current
        self._interrupt(at, lost=not ahead)
        self.rescheduled += self._span(at, start)
        self.now.started = start

    def _interrupt(self, at: int | None, *, lost: bool = True, restored: int | None = None) -> None:
        """End the stretch of work at `at`; without a step in it, all of it was start-up."""
        now = self.now
        if not now.stepped:
            self.resumed += self._span(now.started, at)
        elif lost:
            self.lost += self._span(self.saves.done_at if self.saves.done_at is not None else now.first_step, at)
        self.interruptions += 1
        self.breaks.add(at, now.current if restored is None else restored)
        self.now = Pass()
        self.saves.begin_pass()
        self.restarted, self.restart_at = False, None

    def _end_attempt(self, known: dict[int, Attempt]) -> None:
        self._settle()
        before = known.get(self.attempt, Attempt())
        self._open()
        at = first_known(before.last_line, self.now.last_at, before.ended)
        self._interrupt(at)
        self.interrupted_at, self.reschedules = at, True

    def _open(self, at: int | None = None) -> None:
        """An attempt that says no start began when its source says, else with its first step, at `at`.

        Before the first start or step of all nothing is counted.
        """
        if self.now.started is None and (self.first_start is not None or self.step_lines):
            self.now.started = self.began
        if self.reschedules:
            self.rescheduled += self._span(self.interrupted_at, first_known(self.began, at))
            self.reschedules = False

    def _settle(self) -> None:
        """Nothing more comes that could show a lower step to be a late line."""
        while self.held:
            held, self.held = self.held, []
            self._back(held[0])
            for one in held[1:]:
                self._take(one)

    def _count(self, event: Event) -> None:
        """Take a step that goes on."""
        now = self.now
        if not now.stepped:
            now.stepped = True
            began = self._began(event)
            now.first_step = began
            self._open(began)
            if self.first_step is None:
                self.first_step = began
            self.resumed += self._span(now.started, began)
        self._add(event)
        if event.step is not None:
            now.current = self.current = event.step
        if event.at is not None:
            now.last_step_at = event.at

    def _began(self, event: Event) -> int | None:
        """A step's line is printed when it is done: it began its duration earlier."""
        if event.at is None or event.took is None:
            return event.at
        began = event.at - event.took * self.rules.log_interval
        return began if self.now.started is None else max(began, min(self.now.started, event.at))

    def _add(self, event: Event) -> None:
        every = self.rules.log_interval
        warm = event.warm or self.now.steps < self.rules.warmup_steps
        self.now.recent = [*self.now.recent[1 - REMEMBERED :], (*event.said, event.at)]  # type: ignore[list-item]
        self.step_lines += 1
        if event.step is None:
            return
        self.highest = event.step if self.highest is None else max(self.highest, event.step)
        self.now.steps += every
        self.steps += every
        if event.took is not None:
            self.step_time += event.took * every
            if not warm:
                self.plain_steps += every
                self.plain_time += event.took * every
        if event.tflops is not None and not warm:
            self.tflops_steps += every
            self.tflops += event.tflops * every
        self.series.add(event.at, event.step, event.took, event.tflops)

    def _span(self, since: int | None, to: int | None) -> int:
        """Return the time between; clocks that disagree are told as skew, and the time between them is none."""
        if since is None or to is None:
            return 0
        self.skew = max(self.skew, since - to)
        return max(to - since, 0)

    def ended(self, failed: bool, known: dict[int, Attempt]) -> "Fold":
        """Return the fold as if nothing more came; a run that failed loses what it did since its last checkpoint."""
        last = deepcopy(self)
        last._settle()
        if failed and last.attempt:
            own = known.get(last.attempt, Attempt())
            last._open()
            last._interrupt(first_known(own.last_line, last.now.last_at, own.ended))
        return last


def first_known(*instants: int | None) -> int | None:
    return next((at for at in instants if at is not None), None)
