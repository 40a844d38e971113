"""The thread behind a reporter: asks it each while what there is to say, and delivers it in order."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from astra.backlog import Backlog
from astra.posting import Undelivered, post

LOG = logging.getLogger("astra")
REPORTS_A_POST = 500
FIRST_PAUSE_SEC = 1.0
PAUSE_SEC_MAX = 60.0
TIMEOUT_SEC = 10.0
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Order(NamedTuple):
    """What another thread asks of the sender: look now, deliver what there is, or that and then end."""

    kind: str  # "look", "flush" or "close"
    done: threading.Event


class Sender(threading.Thread):
    """Delivers what `look` returns, every `every_sec` seconds; what it cannot deliver it keeps, on disk if it can.

    It raises nothing and holds nobody up. Of all trouble it has, only the first is a warning in the log.
    """

    def __init__(
        self, look: Callable[[], dict[str, Any] | None], backlog: Backlog, address: str, token: str, every_sec: float
    ) -> None:
        super().__init__(name="astra-reporter", daemon=True)
        self.orders: SimpleQueue[Order] = SimpleQueue()  # its put() may be called by a signal's handler at any point
        self.delivered = 0
        self.refused = 0
        self._look, self._backlog, self._address, self._token = look, backlog, address, token
        self._every = every_sec
        self._pause = 0.0
        self._next_look = self._next_try = time.monotonic()
        self._warned = False

    def order(self, kind: str) -> threading.Event:
        """Ask for something; the event is set when it was done."""
        done = threading.Event()
        self.orders.put(Order(kind, done))
        return done

    def trouble(self, text: str) -> None:
        """Say what is wrong: the first time as a warning, then only to who wants to know."""
        level = logging.DEBUG if self._warned else logging.WARNING
        self._warned = True
        LOG.log(level, "astra: %s. Training goes on; what is not delivered is kept and sent later.", text)

    def run(self) -> None:
        self._guarded(self._backlog.adopt)
        order: Order | None = None
        while order is None or order.kind != "close":
            order = self._wait()
            if order is not None or time.monotonic() >= self._next_look:
                self._guarded(self._add)
            closing = order is not None and order.kind == "close"
            if closing:
                self._guarded(self._backlog.keep)
            if (order is not None and order.kind != "look") or time.monotonic() >= self._next_try:
                self._guarded(self._deliver)
            if closing:
                self._guarded(self._backlog.keep)
                self._guarded(self._backlog.close)
            if order is not None:
                order.done.set()

    def _wait(self) -> Order | None:
        until = self._next_look if not len(self._backlog) else min(self._next_look, self._next_try)
        try:
            return self.orders.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return None

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except OSError as error:
            self.trouble(f"the spool cannot be used: {error.strerror or type(error).__name__}")
        except Exception as error:  # nothing that is wrong here may reach the training
            self.trouble(f"reporting failed: {type(error).__name__}: {error}")

    def _add(self) -> None:
        self._next_look = time.monotonic() + self._every
        said = self._look()
        if said is not None:
            self._backlog.add(json.dumps(said, separators=(",", ":")).encode())

    def _deliver(self) -> None:
        while lines := self._backlog.first(REPORTS_A_POST):
            try:
                self._post(lines)
            except Undelivered as error:
                if not error.final:
                    self._put_off(str(error))
                    return
                self.refused += len(lines)
                self.trouble(f"{error}: {len(lines)} reports are dropped")
            self._pause = 0.0
            self._backlog.drop(len(lines))
        self._next_try = time.monotonic()

    def _post(self, lines: list[bytes]) -> None:
        """A line that is no JSON cannot be ours, whole."""
        good = [line for line in lines if line.startswith(b"{") and line.endswith(b"}")]
        head = json.dumps({"sent_at": iso(int(time.time() * 1000))})[:-1].encode()
        answer = post(self._address, self._token, head + b',"batches":[' + b",".join(good) + b"]}", TIMEOUT_SEC)
        refused = len(answer.get("refused", ())) if isinstance(answer, dict) else 0
        self.delivered += len(good) - refused
        self.refused += refused
        if refused:
            self.trouble(f"the server refused {refused} reports: {answer['refused'][0]}")

    def _put_off(self, why: str) -> None:
        self._pause = min(PAUSE_SEC_MAX, 2 * self._pause or FIRST_PAUSE_SEC)
        self._next_try = time.monotonic() + self._pause
        self.trouble(why)
        self._backlog.keep()


def iso(at_ms: int) -> str:
    """Return UTC ms since the epoch as RFC 3339."""
    return (_EPOCH + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
