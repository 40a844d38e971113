"""What an agent watches: the interface that the sources of readings and states keep."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from astra.collect.items import Items

Put = Callable[[Items], None]


class SourceError(Exception):
    """A source cannot be read now: one clear sentence, for the log and for the end of `--once`."""


class Source(Protocol):
    """A place that says what workers and GPUs do.

    A source may also have an attribute `seeing: bool`. While it is False (its server is away, it stands by behind
    another agent) nothing is said in its name, so that time which nobody watched counts as unobserved. One
    without the attribute is taken to see as long as `run` goes on.
    """

    name: str

    def look(self) -> Items:
        """Return one full list of now. Raises SourceError."""
        ...

    def run(self, put: Put, stop: threading.Event) -> None:
        """List, watch and put what is seen until `stop`, then return within seconds.

        Never raises on bad objects; what is away is asked again with growing pauses. `put` is quick, may be
        called from any thread, and keeps its order. A source that dies (raises) ends its agent.
        """
        ...


def sees(source: Source) -> bool:
    """Return whether the source is being watched now."""
    return bool(getattr(source, "seeing", True))
