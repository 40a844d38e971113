"""A log profile tried on a file: what is sent, and the answer as lines of text."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from astra.figures import plain
from astra.tables import HEAD, QUIET, Line, aligned

LINES_MAX = 5_000
LINE_BYTES_MAX = 8_192
SHOWN = 40


def lines_of(file: BinaryIO, last: bool) -> tuple[list[str], bool]:
    """Return the first lines of a file, or the last, and whether there are more."""
    pieces = deque(islice(file, None if last else LINES_MAX + 1), maxlen=LINES_MAX + 1)
    cut = len(pieces) > LINES_MAX
    if cut:
        pieces.popleft() if last else pieces.pop()
    return [piece.rstrip(b"\n")[:LINE_BYTES_MAX].decode("utf-8", "replace") for piece in pieces], cut


def profile_of(name: str) -> dict[str, Any]:
    """Return a profile as it is sent: its name, or the text of its file."""
    path = Path(name)
    if path.is_file() or path.suffix in (".yaml", ".yml", ".json"):
        try:
            return {"text": path.read_text()}
        except (OSError, UnicodeDecodeError):
            return {"profile": name}
    return {"profile": name}


def shown(found: Mapping[str, Any], cut: bool) -> list[Line]:
    """Return what each line said, the warnings, and the figures that come of it."""
    rows = [
        [str(line["line"]), match["pattern"], match["at"] or "-", captured(match)]
        for line in found["lines"]
        for match in line["matches"]
    ]
    lines: list[Line] = []
    if rows:
        head, *texts = aligned([["LINE", "PATTERN", "AT", "CAPTURED"], *rows[:SHOWN]], left=4)
        lines += [(head, HEAD), *((text, "") for text in texts)]
    if len(rows) > SHOWN:
        lines.append((f"{len(rows) - SHOWN:,} more matches: --json shows them.", QUIET))
    matched = ", ".join(f"{name} {count:,}" for name, count in found["matched"].items()) or "nothing"
    lines.append((f"{found['read']:,} lines read{' (the file has more)' if cut else ''}, matched: {matched}", ""))
    lines += [(f"Warning: {warning}", HEAD) for warning in found["warnings"]]
    status = {name: value for name, value in found["status"].items() if name != "conditions"}
    lines.append((found["formula"], QUIET))
    return [*lines, *((text, "") for text in aligned([[name, str(value)] for name, value in status.items()]))]


def captured(match: Mapping[str, Any]) -> str:
    """Return what was captured, with its unit; a "!" before what is not what its name promises."""
    wrong = {problem.partition(" ")[0] for problem in match["problems"]}
    said = (
        f"{'!' if name in wrong else ''}{name}={plain(value)}{match['units'].get(name, '')}"
        for name, value in match["captured"].items()
    )
    return " ".join(said)
