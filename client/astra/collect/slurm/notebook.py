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
PLAIN = ("start", "preempted", "begun", "booting", "asking", "spread", "spoilt")
LISTS = ("asked", "pauses", "lost")


class Notebook:
    """A file with what was seen of the attempts that go on. A file that cannot be read is begun anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept = ""
        self.said = ""

    def read(self) -> dict[str, dict[str, Any]]:
        """Return what was seen, by attempt (see `key`)."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read (%s): what was seen of start-ups before is not known.", self.path, error)
            return {}
        known = isinstance(told, dict) and told.get("version") == VERSION and isinstance(told.get("attempts"), dict)
        return dict(told["attempts"]) if known else {}

    def write(self, memory: Memory) -> None:
        """Keep what a memory has seen of what goes on; a disk that does not take it is said once."""
        attempts = {
            key(job, known): seen for job, known in memory.living() if (seen := _seen(known))
        }  # fmt: skip
        text = json.dumps({"version": VERSION, "attempts": attempts}, separators=(",", ":"))
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
