"""Logs read by profiles without a database: whole, in windows, as attempts of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger.logs.builtin import BUILTIN, matcher
from ledger.logs.layouts import compiled
from ledger.logs.matching import Matcher
from ledger.logs.profiles import parse
from ledger.logs.reader import Lines, read_lines
from ledger.logs.status import Measured, measure, status
from ledger.logs.streams import Stream, fold, with_last_lines
from ledger.logs.terms import Attempt

INSTANT = compiled("RFC3339Nano")


def lines_of(path: Path) -> list[bytes]:
    joiner = Lines()
    return [*joiner.feed(path.read_bytes()), *joiner.end()]


def varied(name: str, **spec: Any) -> Matcher:
    """A built-in profile with some of its spec changed."""
    return Matcher(parse(BUILTIN[name]["spec"] | spec))


def at(text: str | None) -> int | None:
    """An instant in µs; a time of day is of 2026-10-01."""
    if text is None:
        return None
    return INSTANT(text if "T" in text else f"2026-10-01T{text}Z")


def measured(
    by: Matcher | str, *logs: Sequence[bytes], end: int | None = None, failed: bool = False,
    known: dict[int, Attempt] | None = None,
) -> Measured:  # fmt: skip
    """Measure logs, one an attempt; the run ends at `end`, else with the last instant that a log has."""
    by = matcher(by) if isinstance(by, str) else by
    read = [read_lines(by, lines) for lines in logs]
    streams = [Stream(n, "worker-0", lambda f=f: f.events, last_at=f.last_at) for n, f in enumerate(read, 1)]
    joined = with_last_lines(known or {}, streams)
    last = max((f.last_at for f in read if f.last_at is not None), default=None)
    return measure(fold(by.profile, streams, joined), joined, last if end is None else end, failed)


def figures(found: Measured, *names: str) -> dict[str, Any]:
    said = status(found, ended=True)
    return {name: said.get(name) for name in names}
