"""Log files of `make run`: of each that has grown too large the last ones are kept beside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

BYTES_MAX = 20 * 1024**2
KEPT = 3


def rotate(folder: Path, most: int = BYTES_MAX, kept: int = KEPT) -> list[Path]:
    """Copy each log over `most` bytes to `NAME.log.1`, those before it one further, empty it; return which.

    Processes go on writing to the file they have open, at its end: it is emptied, not replaced. A line that is
    written between the copy and that is lost.
    """
    turned = []
    for log in sorted(folder.glob("*.log")):
        if log.stat().st_size <= most:
            continue
        for number in range(kept - 1, 0, -1):
            older = log.with_name(f"{log.name}.{number}")
            if older.exists():
                older.replace(log.with_name(f"{log.name}.{number + 1}"))
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
        turned.append(log)
    return turned
