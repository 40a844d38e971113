"""`manage.py demo_feed` plays the demo live: an agent that sends what happens to the interface until it is stopped."""

import logging
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.batches import Batch
from ledger.core.windows import DAY
from ledger.demo import playing
from ledger.management import demo
from ledger.replay.wire import body_of, instant_text

TICK_SECONDS = 20.0
LIST_EVERY_MS = 300_000
SAY_EVERY_SECONDS = 60.0
WAIT_SECONDS_MAX = 30.0
TIMEOUT_SECONDS = 30.0
AHEAD = 2 * DAY  # how much of the world is made at once


class Command(BaseCommand):
    """What happened while it was away it tells first, with its true times; TERM ends it at once."""

    help = "Plays the demo live through the HTTP interface. Runs until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, default=TICK_SECONDS, metavar="SECONDS")

    def handle(self, *_: Any, every: float, **__: Any) -> None:
        signal.signal(signal.SIGTERM, leave)
        signal.signal(signal.SIGINT, leave)
        logging.getLogger("httpx").setLevel(logging.WARNING)
        path: Path = settings.PLACES.demo
        player = Player(demo.read(path), demo.read(demo.feed_path(path)))
        self.say(f"plays on from {instant_text(player.until)} at {player.address}")
        wait, said = every, time.monotonic()
        while True:
            try:
                player.play(_now())
                wait = every
            except httpx.HTTPError as error:
                player.trouble = f"{type(error).__name__}: {error}"
                wait = min(WAIT_SECONDS_MAX, wait * 1.5)
            else:
                demo.write(demo.feed_path(path), {"until_ms": str(player.until)})
            if time.monotonic() - said >= SAY_EVERY_SECONDS:
                said = time.monotonic()
                self.say(player.minute())
            time.sleep(wait)

    def say(self, line: str) -> None:
        self.stdout.write(f"{instant_text(_now())} {line}")
        self.stdout.flush()


def leave(_number: int, _frame: FrameType | None) -> None:
    """End at once: whatever was not answered is told again next time."""
    raise SystemExit(0)


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass
class Minute:
    """What was sent since the last line of the log."""

    batches: int = 0
    items: int = 0
    refused: int = 0
    running: int = 0


@dataclass
class Player:
    """Knows up to which instant (ms) it has told what happened, and tells the rest when it is asked to.

    Raises CommandError when demo.json does not say what it needs.
    """

    values: dict[str, str]
    progress: dict[str, str]
    trouble: str = ""
    sent: Minute = field(default_factory=Minute)

    def __post_init__(self) -> None:
        missing = [key for key in ("url", *demo.SEEDED_KEYS) if not self.values.get(key)]
        if missing:
            raise CommandError(f"demo.json lacks {', '.join(missing)}: `make run` makes the demo and writes it")
        self.shift = int(self.values["shift_ms"])
        self.until = max(int(self.values["seeded_until_ms"]), int(self.progress.get("until_ms", 0)))
        self.listed_at = 0
        self.world = playing.World(self.until - self.shift + AHEAD)
        self.client = httpx.Client(
            timeout=TIMEOUT_SECONDS,
            headers={"authorization": f"Bearer {self.values['ingest_token']}"},
            trust_env=False,
        )

    @property
    def address(self) -> str:
        return f"{self.values['url'].rstrip('/')}/v1/clusters/{self.values['cluster']}/observations"

    def play(self, now: int) -> None:
        """Tell what happened up to `now` (ms). Raises httpx.HTTPError when it could not be told, all or in part."""
        if now <= self.until:
            return
        if now - self.shift > self.world.until:
            self.world = playing.World(now - self.shift + AHEAD)
        complete = now - self.listed_at >= LIST_EVERY_MS
        for batch in self._batches(now, complete):
            self._send(batch)
        self.until = now
        self.listed_at = now if complete else self.listed_at
        self.trouble = ""

    def _batches(self, now: int, complete: bool) -> Iterator[Batch]:
        return playing.happened(self.world, self.until - self.shift, now - self.shift, self.shift, complete)

    def _send(self, batch: Batch) -> None:
        answer = self.client.post(self.address, json=body_of(batch))
        if answer.is_error:
            raise httpx.HTTPStatusError(answer.text[:300], request=answer.request, response=answer)
        refused = answer.json().get("refused", [])
        self.sent.batches += 1
        self.sent.items += len(batch.runs) + len(batch.workers) + len(batch.readings)
        self.sent.refused += len(refused)
        self.sent.running = max(self.sent.running, len({(r.run, r.worker) for r in batch.readings}))

    def minute(self) -> str:
        """Return the line of the last minute and begin the next."""
        sent, self.sent = self.sent, Minute()
        line = f"{sent.items} items in {sent.batches} batches, {sent.refused} refused, {sent.running} workers running"
        return f"{line}; cannot send: {self.trouble}" if self.trouble else line
