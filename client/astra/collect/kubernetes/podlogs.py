"""Ships the logs of pods whose runs have a log profile: read by threads of their own, delivered by one more.

Nothing here holds up the watching of objects, and nothing is lost by a death: a log is read on from what was delivered.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from urllib.parse import quote

import httpx

from astra.api import Api, ApiError
from astra.collect.kubernetes import raw
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.logged import Wanted, logs_of, profile_of
from astra.collect.kubernetes.loglines import Line, Place
from astra.collect.kubernetes.places import Places
from astra.collect.kubernetes.reading import LAG_SECONDS, SETTLE_SECONDS, WINDOW_LINES, Reader
from astra.collect.kubernetes.runs import Run
from astra.collect.kubernetes.watching import TIMEOUT, pause
from astra.following import Lines
from astra.shipping import SEEN_SECONDS, WINDOW_SECONDS, Shipment

log = logging.getLogger("astra.collect")

LOGS_MAX = 512
POSTS_A_MINUTE = 1_000  # fewer than a server takes of a token, unless it was told otherwise
TURN_SECONDS = 0.5
SEE_SECONDS = 1.0
ASK_SECONDS = 1.0  # between two questions to the server about runs that name no profile themselves
ASKED_SECONDS = 600.0
KEPT_SECONDS = 3_600.0
SLOW_SECONDS = 60.0
STOP_SECONDS = 3.0
SAID_MAX = 1_000
AWAY = "they wait, the server cannot be reached or is busy. Objects are watched as before."


@dataclass(frozen=True)
class Timing:
    """Seconds: how long lines gather, how often a quiet log is told to be alive; and those of its reader."""

    window: float = WINDOW_SECONDS
    seen: float = SEEN_SECONDS
    settle: float = SETTLE_SECONDS
    lag: float = LAG_SECONDS


@dataclass
class Task:
    """A log that is read. `place` is how far it was delivered; the rest is in monotonic seconds."""

    of: Wanted
    reader: Reader
    place: Place
    told: float
    again: float = 0.0
    failures: int = 0
    left_out: int = 0
    said_at: float = float("-inf")

    def is_due(self, now: float, timing: Timing, gap: float) -> bool:
        if now < self.again:
            return False
        if self.reader.waiting or self.reader.dropped:
            full = len(self.reader.waiting) >= WINDOW_LINES or not self.reader.is_alive()
            return full or now - self.reader.since >= gap
        return self.reader.is_open and now - self.told >= max(timing.seen, gap)


def gap_of(timing: Timing, logs: int) -> float:
    """Return for how many seconds lines gather: the longer the more logs there are."""
    return max(timing.window, logs * 60 / POSTS_A_MINUTE)


class PodLogs:
    """The logs that are wanted now. `see` is called by who watches the cluster; it never waits for anybody."""

    def __init__(
        self, access: Access, server: Api, places: Callable[[], Places], timing: Timing = Timing(), most: int = LOGS_MAX
    ) -> None:
        self.server, self.make_places, self.timing, self.most = server, places, timing, most
        self.client = access.client(TIMEOUT)
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.tasks: dict[str, Task] = {}
        self.over: set[str] = set()
        self.profiles: dict[str, tuple[str, float]] = {}  # by run, as the server said and when it may be asked again
        self.containers: dict[str, tuple[str, float]] = {}  # by profile, the same
        self.asking: dict[tuple[str, str], None] = {}  # ("run", uid) or ("profile", name)
        self.unseen: dict[str, float] = {}
        self.said: set[str] = set()
        self.seen_at = self.away = self.asked_at = 0.0
        self.failures = 0
        self.thread = threading.Thread(target=self._run, name="logs", daemon=True)

    def start(self) -> None:
        self.places = self.make_places()
        self.thread.start()

    def see(self, runs: Iterable[Run], *, speaks: bool) -> None:
        """Take the cluster's runs as they are now; while another agent speaks no log is read."""
        now = time.monotonic()
        if now - self.seen_at < SEE_SECONDS:
            return
        self.seen_at = now
        try:
            self._see(list(runs) if speaks else [], now, speaks=speaks)
        except Exception:
            log.exception("Logs cannot be read by a fault of this program")

    def _see(self, runs: list[Run], now: float, *, speaks: bool) -> None:
        wanted = [one for run in runs for one in self._wanted(run, now)]
        with self.lock:
            self._begin(wanted, now)
            if not speaks:
                for task in self.tasks.values():
                    task.reader.end()
                return
            self._forget({one.uid for one in wanted}, now)
        live = {run.top.uid for run in runs}
        self.over &= live
        for uid in self.profiles.keys() - live:
            del self.profiles[uid]
        for kind, name in list(self.asking):
            if kind == "run" and name not in live:
                self.asking.pop((kind, name), None)

    def close(self) -> None:
        """End all reading, deliver what waits once, and leave the rest to the next start."""
        with self.lock:
            for task in self.tasks.values():
                task.reader.end()
        self.stop.set()
        self.thread.join(STOP_SECONDS)
        self.client.close()
        self.server.close()
        self.places.close()

    def _wanted(self, run: Run, now: float) -> list[Wanted]:
        uid = run.top.uid
        if uid in self.over:
            return []
        profile, again = self.profiles.get(uid, ("", 0.0))
        profile = profile_of(run) or profile
        if not profile:
            if now >= again and run.pods_left:
                self.asking["run", uid] = None
            return []
        container, again = self.containers.get(profile, (None, 0.0))
        if now >= again:
            self.asking["profile", profile] = None
        return [] if container is None else sorted(logs_of(run, container), key=lambda one: one.worker)

    def _begin(self, wanted: list[Wanted], now: float) -> None:
        for one in wanted:
            place = self.places.of.get(one.key, Place())
            if one.key in self.tasks or place.done:
                continue
            if len(self.tasks) >= self.most:
                self.tell(f"More than {self.most} logs are wanted at once: the others wait until one of these ends.")
                return
            reader = Reader(one, place, self.client, self.tell, self.timing.settle, self.timing.lag)
            self.tasks[one.key] = Task(one, reader, place, now)
            reader.start()

    def _forget(self, pods: set[str], now: float) -> None:
        """Forget how far the logs of pods were read that are long gone."""
        for key in list(self.places.of):
            if key.partition("/")[0] in pods or key in self.tasks:
                self.unseen.pop(key, None)
            elif now - self.unseen.setdefault(key, now) > KEPT_SECONDS:
                del self.unseen[key]
                self.places.forget(key)

    def tell(self, trouble: str) -> None:
        """Say what is wrong, each thing once."""
        if trouble not in self.said and len(self.said) < SAID_MAX:
            self.said.add(trouble)
            log.warning("Logs: %s", trouble)

    # one thread delivers

    def _run(self) -> None:
        while not self.stop.wait(TURN_SECONDS):
            self._guarded()
        self._guarded(last=True)

    def _guarded(self, *, last: bool = False) -> None:
        try:
            while self._turn(last=last):
                if last or self.stop.is_set():
                    break
        except Exception:
            log.exception("Logs cannot be delivered by a fault of this program")

    def _turn(self, *, last: bool = False) -> bool:
        """Deliver a window of each log that is due; return whether there is more to deliver at once."""
        now = time.monotonic()
        if now < self.away:
            return False
        self._ask(now)
        more = False
        with self.lock:
            tasks = list(self.tasks.values())
        gap = gap_of(self.timing, len(tasks))
        for task in tasks:
            due = bool(task.reader.waiting) if last else task.is_due(now, self.timing, gap)
            if due and not self._deliver(task):
                return False
            more = more or len(task.reader.waiting) >= WINDOW_LINES
            self._settle(task)
        return more

    def _deliver(self, task: Task) -> bool:
        """Deliver a window; return whether the server is there."""
        lines, dropped = task.reader.window()
        of = task.of
        shipment = Shipment(
            self.server, of.run, of.attempt, of.worker, "", None, stamp=False, seen=lambda: task.reader.is_open
        )
        try:
            goes_on = shipment.post(Lines(0, [line.text for line in lines], live=True), numbered=False, dropped=dropped)
        except ApiError as error:
            return self._failed(task, error)
        if self.failures:
            log.info("Logs: the server takes them again.")
            self.said.discard(AWAY)
        self.failures = task.failures = 0
        task.told = time.monotonic()
        self._delivered(task, lines, dropped)
        if not goes_on:
            self.over.add(of.run)
            task.reader.end()
        return True

    def _delivered(self, task: Task, lines: list[Line], dropped: int) -> None:
        task.reader.took(lines, dropped)
        task.place = task.place.after(lines)
        self.places.put(task.of.key, task.place)
        task.left_out += dropped
        if task.left_out and task.told - task.said_at >= SLOW_SECONDS:
            log.warning("Logs: %d lines of %s were left out: it prints too much.", task.left_out, task.of.where)
            task.left_out, task.said_at = 0, task.told

    def _failed(self, task: Task, error: ApiError) -> bool:
        now = time.monotonic()
        if error.status is None:
            self.failures += 1
            self.away = now + pause(self.failures)
            self.tell(AWAY)
            return False
        task.failures += 1
        task.again = now + min(2.0 ** min(task.failures, 10), SLOW_SECONDS)
        if task.failures > 3:
            self.tell(f"the server does not take that of {task.of.where}: {error}")
        return True

    def _settle(self, task: Task) -> None:
        """Let go of a log whose reader has ended and that was delivered."""
        if task.reader.is_alive() or ((task.reader.waiting or task.reader.dropped) and task.of.run not in self.over):
            return
        if task.reader.finished or task.of.run in self.over:
            task.place = replace(task.place, done=True)
            self.places.put(task.of.key, task.place)
        with self.lock:
            self.tasks.pop(task.of.key, None)

    # and asks

    def _ask(self, now: float) -> None:
        """Ask what a profile says of containers, and seldom whether a run has been given one on the server."""
        asked = sorted(self.asking)[:1]
        if asked and asked[0][0] == "run" and now - self.asked_at < ASK_SECONDS:
            return
        for kind, name in asked:
            self.asked_at = now
            found = self._answer(kind, quote(name, safe=""))
            if found is not None:
                self.asking.pop((kind, name), None)
                (self.profiles if kind == "run" else self.containers)[name] = (found, now + ASKED_SECONDS)

    def _answer(self, kind: str, name: str) -> str | None:
        """Return a run's profile, or a profile's container; "" where there is none; None: it must be asked again."""
        if kind == "run":
            spec = self._document("PUT", f"runs/{name}/measurement")
            return None if spec is None else raw.text(spec, "spec", "logProfileRef", "name")
        spec = self._document("GET", f"log-profiles/{name}")
        return None if spec is None else raw.text(spec, "document", "spec", "containerName")

    def _document(self, method: str, path: str) -> raw.Raw | None:
        """Return the server's document, an empty one when it has none; None when it must be asked again."""
        try:
            response = self.server.http.request(method, path, json={} if method == "PUT" else None)
            found = response.json()
        except (httpx.TransportError, ValueError):
            self.failures += 1
            self.away = time.monotonic() + pause(self.failures)
            return None
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error:
            self.away = time.monotonic() + pause(4)
            return None
        return found if response.is_success and isinstance(found, dict) else {}
