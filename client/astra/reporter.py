"""Tells a ledger how training goes: steps, step times, phases, and what the input pipeline costs."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Callable

from astra.backlog import Backlog
from astra.posting import address_of
from astra.sender import LOG, Sender, iso
from astra.tracker import GoodputTracker, Totals

PHASES = ("checkpoint", "evaluation")
KEPT_STEP_TIMES = 64
STEP_MAX = 2**53 - 1
BACK_MS_MAX = 120_000
CLOSE_SEC = 5.0
SIGNAL_SEC = 3.0


class GoodputReporter:
    """Reports one worker of one run, from a thread of its own that can neither block nor break the training.

    What is not said comes from the environment: `ASTRALYX_API`, `ASTRALYX_TOKEN`, `ASTRALYX_RUN` (uid or name),
    `ASTRALYX_WORKER`, `ASTRALYX_SPOOL`. When one of the first four is missing nothing
    is reported, and a warning says so.
    Every method may be called from any thread, returns at once and raises nothing.
    """

    def __init__(
        self,
        run: str | None = None,
        worker: str | None = None,
        *,
        tracker: GoodputTracker | None = None,
        api: str | None = None,
        token: str | None = None,
        every_sec: float = 30.0,
        spool: str | os.PathLike[str] | None = None,
        on_sigterm: bool = True,
    ) -> None:
        self.tracker = tracker
        self._worker = worker or os.environ.get("ASTRALYX_WORKER", "")
        self._progress: tuple[int, int] | None = None  # step, monotonic ns
        self._told: tuple[int, int] | None = None
        self._times: deque[float] = deque(maxlen=KEPT_STEP_TIMES)
        self._phases: list[str] = []
        self._waited = 0
        self._totals = Totals()
        self._told_at = 0
        self._sender: Sender | None = None
        try:
            self._sender = self._start(run, api, token, every_sec, spool)
        except Exception as error:  # whatever is wrong, the training goes on
            LOG.warning("astra: nothing is reported: %s", error)
            return
        _OPEN.append(self)
        if on_sigterm:
            _listen()

    def _start(
        self,
        run: str | None,
        api: str | None,
        token: str | None,
        every_sec: float,
        spool: str | os.PathLike[str] | None,
    ) -> Sender:
        run = run or os.environ.get("ASTRALYX_RUN", "")
        api = api or os.environ.get("ASTRALYX_API", "")
        token = token or os.environ.get("ASTRALYX_TOKEN", "")
        said = {"ASTRALYX_API": api, "ASTRALYX_TOKEN": token, "ASTRALYX_RUN": run, "ASTRALYX_WORKER": self._worker}
        missing = [name for name, value in said.items() if not value]
        if missing:
            raise ValueError(f"{', '.join(missing)} must be given or be in the environment")
        backlog = Backlog(_folder(spool), run, self._worker)
        sender = Sender(self._report, backlog, address_of(api, run), token, min(max(every_sec, 0.1), 60.0))
        sender.start()
        return sender

    # --- what training says ---

    def progress(self, step: int, step_seconds: float | None = None) -> None:
        """Say that this step is done; `step_seconds`: how long it took this worker by itself, if that is known."""
        try:
            number = int(step)
            if 0 <= number <= STEP_MAX:
                self._progress = (number, time.monotonic_ns())
            if step_seconds is not None and 0 <= step_seconds < 1e6:
                self._times.append(float(step_seconds))
        except (TypeError, ValueError, OverflowError) as error:
            self._trouble(f"{step!r} is no step: {error}")

    def step(self, step: int) -> Step:
        """Return a context manager around one step: it is timed, and told when it ends without an exception."""
        return Step(self, step)

    def waiting(self) -> Waiting:
        """Return a context manager around waiting for others within a step, which is not this worker's own time."""
        return Waiting(self)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Say that a "checkpoint" or an "evaluation" goes on, during which no progress is to be expected."""
        if name not in PHASES:
            self._trouble(f"{name!r} is no phase; there are {', '.join(PHASES)}")
            yield
            return
        self._phases.append(name)
        self._order("look")
        try:
            yield
        finally:
            self._phases.pop()
            self._order("look")

    def flush(self, timeout_sec: float = CLOSE_SEC) -> bool:
        """Deliver what there is, or try to; False when that took longer."""
        done = self._order("flush")
        return done is None or done.wait(timeout_sec)

    def close(self, timeout_sec: float = CLOSE_SEC) -> None:
        """Say the last, deliver it or keep it on disk, and end the thread. Again does nothing."""
        sender, self._sender = self._sender, None
        if sender is None:
            return
        _OPEN[:] = [one for one in _OPEN if one is not self]
        if sender.is_alive():
            sender.order("close")
            sender.join(timeout_sec)

    def __enter__(self) -> GoodputReporter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    @property
    def delivered(self) -> int:
        """Return how many reports the server has taken."""
        return 0 if self._sender is None else self._sender.delivered

    # --- what the thread asks ---

    def _report(self) -> dict[str, Any] | None:
        """Return what there is to say now, None when there is nothing yet."""
        progress, now = self._progress, time.monotonic_ns()
        doing = self._phases[-1:]
        fresh = progress is not None and progress != self._told and not doing
        at = self._stamp(progress[1] if fresh and progress else now, now)
        said: dict[str, Any] = {"worker": self._worker, "at": iso(at)}
        pipeline = self._pipeline()
        if progress is None and not pipeline:
            return None
        if progress is not None:
            said["step"] = progress[0]
            said.update(self._step_seconds(progress))
            if doing:
                said["doing"] = doing[0]
        self._told, self._told_at = progress, at
        return {**said, **pipeline}

    def _stamp(self, then: int, now: int) -> int:
        """Return the wall clock at a monotonic instant, in ms; a clock that was set back a little waits for itself."""
        at = int(time.time() * 1000) - (now - then) // 1_000_000
        return self._told_at + 1 if 0 <= self._told_at - at < BACK_MS_MAX else at

    def _step_seconds(self, progress: tuple[int, int]) -> dict[str, float]:
        times = [self._times.popleft() for _ in range(len(self._times))]
        if times:
            return {"step_seconds": round(median(times), 6)}
        if self._told is None or progress[0] <= self._told[0]:
            return {}
        return {"step_seconds": round((progress[1] - self._told[1]) / (progress[0] - self._told[0]) / 1e9, 6)}

    def _pipeline(self) -> dict[str, float]:
        """Return what the tracker has added since the last report; one that was reset begins anew."""
        if self.tracker is None:
            return {}
        totals, before = self.tracker.totals(), self._totals
        self._totals = totals
        if any(new < old for new, old in zip(totals, before)):
            before = Totals()
        batches, *times = (new - old for new, old in zip(totals, before))
        if not batches:
            return {}
        names = ("wall_seconds", "source_seconds", "transform_seconds", "transfer_seconds")
        return {"batches": batches, **{name: ns // 1000 / 1e6 for name, ns in zip(names, times)}}

    def _order(self, kind: str) -> threading.Event | None:
        sender = self._sender
        return None if sender is None else sender.order(kind)

    def _trouble(self, text: str) -> None:
        if self._sender is not None:
            self._sender.trouble(text)

    def _forget(self) -> None:
        """In a fork there is no thread; the child reports nothing, and its parent goes on."""
        self._sender = None


class Step:
    """One step being timed."""

    __slots__ = ("_began", "_number", "_reporter", "_waited")

    def __init__(self, reporter: GoodputReporter, number: int) -> None:
        self._reporter = reporter
        self._number = number
        self._began = self._waited = 0

    def __enter__(self) -> None:
        self._waited = self._reporter._waited
        self._began = time.perf_counter_ns()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            spent = time.perf_counter_ns() - self._began - (self._reporter._waited - self._waited)
            self._reporter.progress(self._number, max(0, spent) / 1e9)


class Waiting:
    """Waiting for others within a step."""

    __slots__ = ("_began", "_reporter")

    def __init__(self, reporter: GoodputReporter) -> None:
        self._reporter = reporter
        self._began = 0

    def __enter__(self) -> None:
        self._began = time.perf_counter_ns()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._reporter._waited += time.perf_counter_ns() - self._began


# --- the end of the process ---

_OPEN: list[GoodputReporter] = []
_BEFORE: list[Callable[..., Any] | int | None] = []


def _close_all(timeout_sec: float) -> None:
    until = time.monotonic() + timeout_sec
    for reporter in tuple(_OPEN):
        reporter.close(max(0.1, until - time.monotonic()))


def _forget_all() -> None:
    for reporter in tuple(_OPEN):
        reporter._forget()
    _OPEN.clear()


def _listen() -> None:
    """Flush on SIGTERM, then let happen what would have happened. Only the main thread may set a handler."""
    if _BEFORE or threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGTERM)
    if before is None or before == signal.SIG_IGN:  # set by C code, or unheard on purpose
        return
    _BEFORE.append(before)
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: Any) -> None:
    _close_all(SIGNAL_SEC)
    before = _BEFORE[0] if _BEFORE else signal.SIG_DFL
    if callable(before):
        before(number, frame)
        return
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _folder(spool: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of spools, None when there can be none."""
    said = spool or os.environ.get("ASTRALYX_SPOOL") or ""
    if said:
        return Path(said)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "astra" / "tracker"
    except RuntimeError:
        return None


atexit.register(_close_all, CLOSE_SEC)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
