"""Runs one source as an agent: from its start to its end by TERM."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from astra.asking import Trouble, checked_address, checked_token
from astra.collect.batches import batch_of, lines_of, records
from astra.collect.delivery import Delivery
from astra.collect.items import Items
from astra.collect.outbox import Outbox
from astra.collect.reporting import LINE_SECONDS, Reporting, serve
from astra.collect.source import Source, SourceError, sees
from astra.collect.spool import BOUND_BYTES, Spool, SpoolBroken, SpoolTaken
from astra.collect.workspaces import WorkspaceMap

log = logging.getLogger("astra.collect")

STOP_SECONDS = 8.0
FLUSH_SECONDS = 10.0
ONCE_SECONDS = 60.0


@dataclass(frozen=True)
class Agent:
    """The settings that every agent has."""

    cluster: str
    api: str = ""
    token: str = ""
    spool: Path | None = None
    spool_bound: int = BOUND_BYTES
    workspaces: WorkspaceMap = field(default_factory=WorkspaceMap)
    once: bool = False
    dry_run: bool = False
    metrics_port: int | None = None

    def work(self, source: Source) -> None:
        """Do what the flags say until it is done or TERM comes. Raises Trouble with one clear sentence."""
        if self.dry_run:
            self._print(source)
            return
        delivery = Delivery(checked_address(self.api), _token(self.token), self.cluster)
        try:
            spool = Spool(folder_of(self.spool, source.name), self.spool_bound)
        except (SpoolTaken, SpoolBroken) as error:
            raise Trouble(str(error)) from None
        outbox = Outbox(source.name, spool, delivery, sees=lambda: sees(source))
        if self.once:
            self._once(source, outbox)
        else:
            self._run(source, outbox)

    def _print(self, source: Source) -> None:
        """Print what would be sent: once a full list, else all that is seen until the end."""
        if self.once:
            _show(_looked(source), source.name)
            return
        lock = threading.Lock()

        def show(items: Items) -> None:
            with lock:
                _show(items, source.name)

        with _until_term() as stop:
            source.run(show, stop)

    def _once(self, source: Source, outbox: Outbox) -> None:
        """Deliver one full list, and what waits from before."""
        outbox.put(_looked(source))
        outbox.start()
        if not outbox.close(ONCE_SECONDS):
            raise Trouble(f"Not all was delivered, the rest waits in {outbox.spool.folder}. {outbox.told.trouble}")
        log.info("%s: %d new items delivered.", source.name, outbox.told.items)

    def _run(self, source: Source, outbox: Outbox) -> None:
        if self.metrics_port is not None:
            try:
                serve(self.metrics_port, outbox)
            except OSError as error:
                raise Trouble(f"The metrics' port {self.metrics_port} cannot be had: {error.strerror}.") from None
        reporting, died = Reporting(outbox), list[BaseException]()
        with _until_term() as stop:
            watcher = threading.Thread(target=_watch, args=(source, outbox, stop, died), name="source", daemon=True)
            outbox.start()
            watcher.start()
            log.info("%s: watching, telling %s; the spool is %s.", source.name, self.api, outbox.spool.folder)
            while not stop.wait(LINE_SECONDS):
                reporting.line()
            watcher.join(STOP_SECONDS)
            whole = outbox.close(FLUSH_SECONDS)
            reporting.line()
        if not whole:
            log.warning("What could not be sent stays in %s.", outbox.spool.folder)
        if died:
            raise Trouble(f"{source.name} ended: {died[0] or type(died[0]).__name__}")


def _watch(source: Source, outbox: Outbox, stop: threading.Event, died: list[BaseException]) -> None:
    try:
        source.run(outbox.put, stop)
    except SourceError as error:
        died.append(error)
    except Exception as error:
        log.exception("The source ended by a fault of this program")
        died.append(error)
    stop.set()


def _looked(source: Source) -> Items:
    try:
        return source.look()
    except SourceError as error:
        raise Trouble(str(error)) from None


def _show(items: Items, name: str) -> None:
    for record in records(items):
        for line in lines_of(batch_of(name, [record])):
            sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def _until_term() -> Iterator[threading.Event]:
    """An event that TERM and INT set while the block runs."""
    stop = threading.Event()
    ends = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda *_: stop.set()) for number in ends]
    try:
        yield stop
    finally:
        for number, handler in zip(ends, before):
            signal.signal(number, handler)


def folder_of(spool: Path | None, source: str) -> Path:
    """Return the folder of a source's spool: below the one that was said, else below the user's state folder."""
    if spool is None:
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        spool = Path(state) / "astra" / "spool"
    return spool / quote(source, safe="")


def _token(token: str) -> str:
    if not token:
        raise Trouble("Who tells? Set ASTRALYX_TOKEN (or --token) to a token with the scope ingest.", code=2)
    return checked_token(token)
