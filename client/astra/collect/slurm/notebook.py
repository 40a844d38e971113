"""What was seen and no program of Slurm tells later, on the disk: so that an agent that begins again says the same."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

from astra.collect.slurm.knowledge import Known
from astra.collect.slurm.memory import Memory
from astra.collect.slurm.record import Job

log = logging.getLogger("astra.collect")

VERSION = 1
KEPT = 900_000  # ms; longer than sacct is read again
PLAIN = ("start", "preempted", "begun", "booting", "asking", "spread", "spoilt")
LISTS = ("asked", "pauses", "lost")


class Notebook:
    """A file with what was seen of the attempts that go on or ended of late, and how far sacct was read.

    A file that cannot be read is begun anew.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept = ""
        self.said = ""

    def read(self) -> tuple[dict[str, dict[str, Any]], int]:
        """Return what was seen, by attempt (see `key`), and up to when (ms) sacct was read (0: not known)."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}, 0
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read (%s): what was seen of start-ups before is not known.", self.path, error)
            return {}, 0
        known = isinstance(told, dict) and told.get("version") == VERSION and isinstance(told.get("attempts"), dict)
        return (dict(told["attempts"]), int(told.get("reach") or 0)) if known else ({}, 0)

    def write(self, memory: Memory, reach: int, at: int) -> None:
        """Keep what a memory has seen at the instant `at` (ms); a disk that does not take it is said once."""
        attempts = {
            key(job, known): seen for job, known in memory.recent(at - KEPT) if (seen := _seen(known))
        }  # fmt: skip
        text = json.dumps({"version": VERSION, "reach": reach, "attempts": attempts}, separators=(",", ":"))
        if text == self.kept:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_suffix(".new")
            fresh.write_text(text, encoding="utf-8")
            os.replace(fresh, self.path)
            self.kept, self.said = text, ""
        except OSError as error:
            if self.said != str(error):
                log.warning("%s cannot be written: %s.", self.path, error.strerror)
            self.said = str(error)


def key(job: Job, known: Known) -> str:
    part = "" if job.part is None else f"+{job.part}"
    return f"{job.name}{part}@{known.submit}"


def _seen(known: Known) -> dict[str, Any]:
    """Return what is not as it begins."""
    fresh = Known()
    return {
        name: getattr(known, name) for name in (*PLAIN, *LISTS) if getattr(known, name) != getattr(fresh, name)
    }  # fmt: skip


def remind(known: Known, seen: dict[str, Any]) -> None:
    """Give an attempt what was seen of it."""
    for name in PLAIN:
        if name in seen:
            setattr(known, name, seen[name])
    for name in LISTS:
        setattr(known, name, [tuple(each) for each in seen.get(name, ())])
