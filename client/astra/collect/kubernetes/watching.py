"""Keeps sight of one kind of object: lists it in pages, then watches it, and lists it again when it must."""

from __future__ import annotations

import json
import logging
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from typing import NamedTuple

import httpx

from astra.collect.kubernetes import raw
from astra.collect.kubernetes.raw import Raw
from astra.collect.kubernetes.resources import Resource, slim
from astra.collect.source import SourceError

log = logging.getLogger("astra.collect")

PAGE = 500
LIST_SECONDS = 300.0  # a list at least so often
WATCH_SECONDS = 240
SILENCE_SECONDS = 150.0  # bookmarks come each minute
FIRST_PAUSE, PAUSE_MAX = 0.5, 30.0
REFUSED_PAUSE, MISSING_PAUSE = 30.0, 120.0
QUICK_SECONDS, QUICK_MAX = 1.0, 3
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
WATCH_TIMEOUT = httpx.Timeout(SILENCE_SECONDS, connect=10.0)


class Sight(Enum):
    """What is known of a kind: not asked yet, seen as it is, lost from sight, refused, or not installed."""

    UNKNOWN = "unknown"
    SEEN = "seen"
    LOST = "lost"
    REFUSED = "refused"
    MISSING = "missing"


class Seen(NamedTuple):
    """A change (`type` ADDED, MODIFIED or DELETED, one object), or a list (LISTED, all of them); `at` in UTC ms.

    Of a list `sight` is up to when the kind had been watched before, None the first time.
    """

    kind: str
    namespace: str
    type: str
    objects: list[Raw]
    at: int
    sight: int | None = None


class Expired(Exception):
    """The version to go on from is too old: list again."""


class Refused(Exception):
    """The server said no (401, 403): a sentence that says what is missing."""


class Missing(Exception):
    """The server does not know the kind."""


class Watcher:
    """One kind in one namespace ("" = all), told to `see`. `clock` gives UTC ms, once a thing that is received."""

    def __init__(
        self,
        resource: Resource,
        namespace: str,
        client: httpx.Client,
        see: Callable[[Seen], None],
        clock: Callable[[], int],
        stop: threading.Event,
        list_seconds: float = LIST_SECONDS,
    ) -> None:
        self.resource, self.namespace, self.client = resource, namespace, client
        self.see, self.clock, self.stop = see, clock, stop
        self.list_seconds = list_seconds
        self.version = resource.versions[0]
        self.sight = Sight.UNKNOWN
        self.lost_since: float | None = None
        self.seen_at: int | None = None
        self.last_said = ""
        self.lists = 0
        self.failures = 0
        self.from_version = ""
        self.open: httpx.Response | None = None

    @property
    def where(self) -> str:
        return f"{self.resource.name} in {self.namespace}" if self.namespace else self.resource.name

    def run(self) -> None:
        """Watch until `stop`. Whatever fails is tried again, with pauses that grow until something was watched."""
        while not self.stop.is_set():
            try:
                self._listed(self.listing())
                self._watch_on()
            except Exception as error:  # noqa: PERF203
                if self.stop.is_set():
                    return
                self.stop.wait(self._failed(error))

    def _failed(self, error: Exception) -> float:
        """Note what went wrong and return for how many seconds to wait."""
        if isinstance(error, Missing):
            self._lose(Sight.MISSING, "")
            return jittered(MISSING_PAUSE)
        if isinstance(error, Refused):
            self._lose(Sight.REFUSED, str(error))
            return jittered(REFUSED_PAUSE)
        self.failures += 1
        if isinstance(error, Expired):
            return pause(self.failures)
        known = isinstance(error, (Again, SourceError))
        self._lose(Sight.LOST, str(error) if known else f"{type(error).__name__}: {error}")
        return max(pause(self.failures), error.seconds if isinstance(error, Again) else 0.0)

    def listing(self) -> list[Raw]:
        """Return all objects, slim, page by page; notes the version to watch from."""
        for version in self.resource.versions:
            try:
                found = self._pages(self.resource.path(version, self.namespace))
            except Missing:
                continue
            self.version = version
            return found
        raise Missing

    def _pages(self, path: str) -> list[Raw]:
        found: list[Raw] = []
        parameters: dict[str, str | int] = {"limit": PAGE}
        while True:
            body = self._get(path, parameters)
            found += [slim(one) for one in raw.items(body, "items")]
            self.from_version = raw.text(body, "metadata", "resourceVersion")
            following = raw.text(body, "metadata", "continue")
            if not following:
                return found
            parameters = {"limit": PAGE, "continue": following}

    def _get(self, path: str, parameters: dict[str, str | int]) -> Raw:
        try:
            response = self.client.get(path, params=parameters)
        except httpx.TransportError as error:
            raise Again(f"The API server cannot be reached: {error or type(error).__name__}") from None
        self._judge(response, "list")
        body = response.json()
        if not isinstance(body, dict) or not isinstance(body.get("items"), list):
            raise Again("The API server answered a list without items")
        return body

    def _judge(self, response: httpx.Response, verb: str) -> None:
        """Raise what an answer other than 200 means."""
        status = response.status_code
        if status == httpx.codes.OK:
            return
        said = response.read().decode(errors="replace")
        if status == httpx.codes.NOT_FOUND:
            raise Missing
        if status == httpx.codes.GONE:
            raise Expired
        if status == httpx.codes.UNAUTHORIZED:
            raise Refused(
                "The API server does not accept the credentials (401): are they of this cluster, and current?"
            )
        if status == httpx.codes.FORBIDDEN:
            raise Refused(forbidden(self.resource, verb, self.namespace, said))
        if status == httpx.codes.BAD_REQUEST and "continue" in said:
            raise Expired
        wait = response.headers.get("Retry-After", "")
        seconds = float(wait) if wait.isdigit() else 0.0
        raise Again(f"The API server answered {status}: {message_of(said)}", min(seconds, PAUSE_MAX))

    def _listed(self, objects: list[Raw]) -> None:
        at = self.clock()
        before, self.seen_at = self.seen_at, at
        self.lists += 1
        self._regain()
        self.see(Seen(self.resource.kind, self.namespace, "LISTED", objects, at, before))

    def _watch_on(self) -> None:
        """Watch, and watch on from where a stream ended, until a list is due."""
        due = time.monotonic() + jittered(self.list_seconds)
        quick = 0
        while not self.stop.is_set() and time.monotonic() < due:
            began, events = time.monotonic(), 0
            for _ in self._events(max(int(min(WATCH_SECONDS, due - began)), 1)):
                events += 1
                if time.monotonic() >= due + 1.0:
                    break  # a server that does not end its streams when asked to
            self.seen_at = self.clock()
            if events or time.monotonic() - began >= QUICK_SECONDS:
                quick, self.failures = 0, 0
                continue
            quick += 1
            if quick >= QUICK_MAX:
                raise Again("Watches end at once, empty")
            self.stop.wait(pause(quick))

    def _events(self, seconds: int) -> Iterator[None]:
        """Yield once a thing received; a stream that breaks is one that ends. Raises Expired, Refused, Again."""
        parameters: dict[str, str | int] = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self.from_version,
            "timeoutSeconds": seconds,
        }
        path = self.resource.path(self.version, self.namespace)
        try:
            with self.client.stream("GET", path, params=parameters, timeout=WATCH_TIMEOUT) as response:
                self._judge(response, "watch")
                self.open = response
                self._regain()
                for line in response.iter_lines():
                    if self.stop.is_set():
                        return
                    if line:
                        self._take(line)
                        yield
        except (httpx.ReadError, httpx.RemoteProtocolError, httpx.ReadTimeout) as error:
            log.debug("A watch of %s broke: %s", self.where, error)
        except httpx.TransportError as error:
            raise Again(f"The API server cannot be reached: {error or type(error).__name__}") from None

    def interrupt(self) -> None:
        """End the stream that is open, from another thread: its reader finds it ended."""
        hang_up(self.open)

    def _take(self, line: str) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return  # the stream was cut within a line
        kind, of = raw.text(event, "type"), raw.mapping(event, "object")
        if kind == "ERROR":
            self._error(of)
        at = self.clock()
        self.seen_at = at
        self.from_version = raw.text(of, "metadata", "resourceVersion") or self.from_version
        if kind in ("ADDED", "MODIFIED", "DELETED"):
            self.see(Seen(self.resource.kind, self.namespace, kind, [slim(of)], at))

    def _error(self, status: Raw) -> None:
        code = raw.count(status, "code")
        if code == httpx.codes.GONE or raw.text(status, "reason") in ("Expired", "Gone"):
            raise Expired
        if code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise Refused(forbidden(self.resource, "watch", self.namespace, json.dumps(dict(status))))
        raise Again(f"A watch ended with an error: {raw.text(status, 'message') or code}")

    def _regain(self) -> None:
        if self.last_said:
            log.info("%s: seen again.", self.where)
        self.sight, self.lost_since, self.last_said = Sight.SEEN, None, ""

    def _lose(self, sight: Sight, why: str) -> None:
        """Note the loss; a reason is said once, not at each try."""
        if self.lost_since is None:
            self.lost_since = time.monotonic()
        self.sight = sight
        if why and why != self.last_said:
            log.warning("%s: %s", self.where, why)
        self.last_said = why or self.last_said


class Again(Exception):
    """It may work later; `seconds`: the server said when."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


def hang_up(response: httpx.Response | None) -> None:
    """Shut the connection that a response is read from."""
    stream = response.extensions.get("network_stream") if response is not None else None
    found = stream.get_extra_info("socket") if stream is not None else None
    if found is not None:
        with suppress(OSError):
            found.shutdown(socket.SHUT_RDWR)


def wall() -> int:
    return int(time.time() * 1000)


def pause(failures: int) -> float:
    """Return the seconds before the next try, longer each time and never the same."""
    return jittered(min(FIRST_PAUSE * 2.0 ** min(failures - 1, 10), PAUSE_MAX))


def jittered(seconds: float) -> float:
    return seconds * random.uniform(0.8, 1.0)  # noqa: S311 - not a secret


def message_of(body: str) -> str:
    """Return what the server said, short, on one line."""
    try:
        said = raw.text(json.loads(body), "message") or body
    except ValueError:
        said = body
    return " ".join(said.split())[:300]


def forbidden(resource: Resource, verb: str, namespace: str, body: str) -> str:
    """Return what right is missing, as the line of a role that gives it."""
    rule = f'- {{apiGroups: ["{resource.group}"], resources: ["{resource.plural}"], verbs: ["get", "list", "watch"]}}'
    role = f"a Role in {namespace}" if namespace else "a ClusterRole"
    return f"The API server refuses to {verb} {resource.name} (403: {message_of(body)}). Missing in {role}: {rule}"


def once(watcher: Watcher) -> list[Raw]:
    """Return one list, the server's passing troubles borne for a while. Raises SourceError, Missing, Refused."""
    for failures in range(1, 6):
        try:
            return watcher.listing()
        except (Again, Expired) as error:  # noqa: PERF203
            if failures == 5:
                raise SourceError(f"{watcher.where}: {error or 'the list expires again and again'}") from None
            watcher.stop.wait(pause(failures))
    raise AssertionError("the loop returns or raises")
