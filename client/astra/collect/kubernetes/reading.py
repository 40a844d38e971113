"""Reads one container's log to its end: follows it, goes on where a stream broke, and ends with its incarnation."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from enum import Enum

import httpx

from astra.collect.kubernetes import raw
from astra.collect.kubernetes.logged import Wanted
from astra.collect.kubernetes.loglines import Budget, Known, Line, Place, Splitter, line_of
from astra.collect.kubernetes.raw import Raw
from astra.collect.kubernetes.watching import hang_up, jittered, message_of, pause

log = logging.getLogger("astra.collect")

SETTLE_SECONDS = 1.0
LAG_SECONDS = 10.0  # so long a pod's status may lag behind a container that was started again
REFUSED_SECONDS = 120.0
SILENCE = httpx.Timeout(30.0, read=300.0)
ROOM_LINES, ROOM_BYTES = 2_048, 256 * 1024
WINDOW_LINES = 512  # so many the server recognizes when they are sent again
RULE = '- {apiGroups: [""], resources: ["pods/log"], verbs: ["get"]}'


class Standing(Enum):
    """How an incarnation of a container stands; BEFORE: the container was started again since."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    BEFORE = "before"
    GONE = "gone"


class LogRefused(Exception):
    """The API server said no: a sentence that says what is missing."""


class Unread(Exception):
    """It may work later. `status`: what the API server answered."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def standing_of(pod: Raw, of: Wanted) -> Standing:
    """Return how the incarnation stands by its pod's status; one that its node no longer has is gone."""
    if raw.text(pod, "metadata", "uid") != of.uid:
        return Standing.GONE
    said = [one for one in raw.items(pod, "status", "containerStatuses") if raw.text(one, "name") == of.container]
    if not said:
        return Standing.GONE if raw.text(pod, "status", "phase") in ("Succeeded", "Failed") else Standing.WAITING
    later = (raw.count(said[0], "restartCount") or 0) - of.restarts
    runs = raw.at(said[0], "state", "running") is not None
    ended = raw.at(said[0], "state", "terminated") is not None
    if later > 1 or (later == 1 and not runs and not ended):
        return Standing.GONE
    if later == 1:
        return Standing.BEFORE
    if later < 0 or runs:
        return Standing.RUNNING if runs and not later else Standing.WAITING
    return Standing.ENDED if ended or raw.at(said[0], "lastState", "terminated") is not None else Standing.WAITING


class Reader(threading.Thread):
    """A log on its way: what was read waits here until it was delivered, and what reads it waits for room.

    A stream that ends by itself says that the container has ended; that it runs, as its pod says, is then not
    believed for `lag` seconds, lest lines of the next incarnation be taken for this one's. `finished`: all of the
    incarnation was read; `is_open`: its log is followed now. `tell` takes each new trouble.
    """

    def __init__(
        self,
        of: Wanted,
        place: Place,
        client: httpx.Client,
        tell: Callable[[str], None],
        settle: float = SETTLE_SECONDS,
        lag: float = LAG_SECONDS,
    ) -> None:
        super().__init__(name=f"log {of.where}", daemon=True)
        self.of, self.place, self.client, self.tell = of, place, client, tell
        self.settle, self.lag, self.believed = settle, lag, 0.0
        self.stop, self.room = threading.Event(), threading.Condition()
        self.waiting: deque[Line] = deque()
        self.size = self.dropped = self.dropped_ever = 0
        self.since = time.monotonic()
        self.budget = Budget(self.since)
        self.is_open = self.finished = False
        self.open: httpx.Response | None = None

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.of.namespace}/pods/{self.of.pod}"

    def run(self) -> None:
        failures = 0
        while not (self.stop.is_set() or self.finished):
            before = self.place
            try:
                rest, failures = self._turn(), 0
            except LogRefused as error:
                self.tell(str(error))
                rest = jittered(REFUSED_SECONDS)
            except Exception as error:  # a log that cannot be read stops nothing else
                failures = failures + 1 if self.place == before else 1
                rest = max(self.settle, pause(failures))
                log.debug("The log of %s: %s: %s", self.of.where, type(error).__name__, error)
            if not self.finished:
                self.stop.wait(rest)

    def _turn(self) -> float:
        """Read as far as the log goes now; return for how many seconds to rest."""
        standing = self._standing()
        if standing is Standing.WAITING or (standing is Standing.RUNNING and time.monotonic() < self.believed):
            return self.settle
        if standing is not Standing.GONE:
            try:
                self._read(standing)
            except Unread as error:
                if standing is Standing.RUNNING or error.status not in (400, 404):
                    raise
        self.believed = time.monotonic() + self.lag
        self.finished = standing is not Standing.RUNNING and not self.stop.is_set()
        return self.settle

    def _standing(self) -> Standing:
        response = self.client.get(self.path)
        if response.status_code == httpx.codes.NOT_FOUND:
            return Standing.GONE
        self._judge(response)
        return standing_of(response.json(), self.of)

    def _judge(self, response: httpx.Response) -> None:
        """Raises LogRefused or Unread for an answer other than 200."""
        status = response.status_code
        if status == httpx.codes.OK:
            return
        said = message_of(response.read().decode(errors="replace"))
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            where = f"the logs of pods in {self.of.namespace} ({status})"
            raise LogRefused(f"the API server refuses {where}. Missing in a role: {RULE}")
        raise Unread(f"{status}: {said}", status)

    def _read(self, standing: Standing) -> None:
        asked: dict[str, str] = {"container": self.of.container, "timestamps": "true"}
        if standing is Standing.RUNNING:
            asked["follow"] = "true"
        if standing is Standing.BEFORE:
            asked["previous"] = "true"
        if self.place.last:
            asked["sinceTime"] = self.place.since
        splitter, known = Splitter(), Known(self.place)
        with self.client.stream(
            "GET", f"{self.path}/log", params=asked, timeout=SILENCE, headers={"Accept": "*/*"}
        ) as response:
            self._judge(response)
            self.open, self.is_open = response, standing is Standing.RUNNING
            try:
                for piece in response.iter_bytes():
                    self._take(splitter.feed(piece), known)
            finally:
                self.is_open = False
        if standing is not Standing.RUNNING:
            self._take(splitter.end(), known)

    def _take(self, texts: list[bytes], known: Known) -> None:
        """Keep the lines that are new, as far as the log's share reaches; wait for room."""
        for text in texts:
            line = line_of(text)
            if line is None or known.has(line):
                continue
            takes = self.budget.takes(len(text), time.monotonic())
            with self.room:
                while self._is_full() and not self.stop.is_set():
                    self.room.wait(0.5)
                if self.stop.is_set():
                    return
                self._keep(line, takes=takes)

    def _keep(self, line: Line, *, takes: bool) -> None:
        if not self.waiting and not self.dropped:
            self.since = time.monotonic()
        if takes:
            self.waiting.append(line)
            self.size += len(line.text)
        else:
            self.dropped += 1
            self.dropped_ever += 1
        self.place = self.place.after([line])

    def _is_full(self) -> bool:
        return len(self.waiting) >= ROOM_LINES or self.size >= ROOM_BYTES

    def window(self) -> tuple[list[Line], int]:
        """Return the first lines that wait, and how many were dropped meanwhile."""
        with self.room:
            return [self.waiting[at] for at in range(min(len(self.waiting), WINDOW_LINES))], self.dropped

    def took(self, lines: list[Line], dropped: int) -> None:
        """These were delivered."""
        with self.room:
            for _ in lines:
                self.size -= len(self.waiting.popleft().text)
            self.dropped -= dropped
            self.since = time.monotonic()
            self.room.notify()

    def end(self) -> None:
        """End, from another thread; what waits may still be delivered."""
        self.stop.set()
        with self.room:
            self.room.notify()
        hang_up(self.open)
