"""How far a long command is: a bar on a terminal, else a plain line every 5 %."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

EVERY_PERCENT = 5


class Advance(Protocol):
    def __call__(self, done: int) -> None:
        """Say that so many more are done."""


@contextmanager
def progress(out: OutputWrapper, what: str, total: int) -> Iterator[Advance]:
    """Show how many of `total` (runs, batches …) are done; to be called with how many more."""
    if out.isatty():
        with _bar() as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)
    else:
        yield _Lines(out, what, total).advance


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console())


class _Lines:
    """Writes a line each time another EVERY_PERCENT is reached."""

    def __init__(self, out: OutputWrapper, what: str, total: int) -> None:
        self.out, self.what, self.total = out, what, total
        self.done, self.said = 0, 0
        self.began = time.monotonic()

    def advance(self, done: int) -> None:
        self.done += done
        percent = 100 * self.done // max(1, self.total)
        if percent < self.said + EVERY_PERCENT:
            return
        self.said = percent - percent % EVERY_PERCENT
        seconds = time.monotonic() - self.began
        self.out.write(f"{self.what}: {percent:3d} %, {self.done:,} of {self.total:,}, {seconds:.0f} s\n")
        self.out.flush()
