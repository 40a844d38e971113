"""Slurm's own programs, run: squeue, sacct and scontrol, their answers as records."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

from astra.collect.slurm import sacct_json, sacct_text, scontrol, squeue_json, squeue_text
from astra.collect.slurm.record import Record
from astra.collect.slurm.scontrol import Node
from astra.collect.source import SourceError

TIMEOUT_SECONDS = 60.0
JOBS_AT_ONCE = 200
UTC = timezone.utc


class Programs:
    """Runs Slurm's programs in UTC. Whether they speak JSON is found out once, by asking.

    `notes` counts what could not be read.
    """

    def __init__(self, folder: str = "", timeout: float = TIMEOUT_SECONDS) -> None:
        self.folder, self.timeout = folder, timeout
        self.notes: Counter[str] = Counter()
        self.json: dict[str, bool] = {}
        self.environment = {**os.environ, "TZ": "UTC", "SLURM_TIME_FORMAT": "standard", "LC_ALL": "C.UTF-8"}
        for name in ("SQUEUE_FORMAT", "SQUEUE_FORMAT2", "SQUEUE_STATES", "SQUEUE_SORT", "SACCT_FORMAT", "SQUEUE_USERS"):
            self.environment.pop(name, None)

    def queue(self) -> tuple[list[Record], bool]:
        """Return all jobs that the controller knows, those that ended of late too, and whether all could be read.

        Raises SourceError.
        """
        before = sum(self.notes.values())
        found = self._queue()
        return found, sum(self.notes.values()) == before

    def _queue(self) -> list[Record]:
        body = self._json("squeue", ["--json", "--all", "--states=all"])
        if body is not None:
            return list(squeue_json.read(body, self.notes))
        columns = ["--noheader", "--all", "--array", "--states=all", "--Format", squeue_text.FORMAT]
        text = self._run("squeue", columns)
        return list(squeue_text.read(text, UTC, self.notes, [*squeue_text.COLUMNS, ""]))

    def accounted(self, since: datetime) -> list[Record]:
        """Return the records of the accounting that reach into the time since an instant. Raises SourceError."""
        return self._accounted([f"--starttime={since.astimezone(UTC):%Y-%m-%dT%H:%M:%S}", "--allusers"])

    def jobs(self, names: Sequence[str]) -> list[Record]:
        """Return all records of the jobs of these names ("4101", "4110_3"). Raises SourceError."""
        found: list[Record] = []
        for begin in range(0, len(names), JOBS_AT_ONCE):
            found += self._accounted([f"--jobs={','.join(names[begin : begin + JOBS_AT_ONCE])}"])
        return found

    def _accounted(self, which: Iterable[str]) -> list[Record]:
        body = self._json("sacct", ["--json", "--duplicates", *which])
        if body is not None:
            return list(sacct_json.read(body, self.notes))
        text = self._run("sacct", ["--parsable2", "--duplicates", f"--format={','.join(sacct_text.FIELDS)}", *which])
        return sacct_text.read(text, UTC, self.notes)

    def nodes(self) -> list[Node]:
        """Return the nodes. Raises SourceError."""
        return list(scontrol.nodes(self._run("scontrol", ["--oneliner", "show", "node"])))

    def _json(self, program: str, arguments: list[str]) -> dict[str, Any] | None:
        """Return a program's answer, None when this version of it speaks no JSON."""
        if self.json.get(program) is False:
            return None
        try:
            body = json.loads(self._run(program, arguments))
        except ValueError:
            body = None
        except SourceError:
            if self.json.get(program):
                raise
            body = None
        self.json[program] = isinstance(body, dict) and "jobs" in body
        return body if self.json[program] else None

    def _run(self, program: str, arguments: list[str]) -> str:
        path = os.path.join(self.folder, program) if self.folder else program
        try:
            done = subprocess.run(
                [path, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=self.timeout, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            raise SourceError(f"{path} is not there: this runs where Slurm's programs are.") from None
        except OSError as error:
            raise SourceError(f"{path} cannot be run: {error.strerror}.") from None
        except subprocess.TimeoutExpired:
            raise SourceError(f"{program} did not answer within {self.timeout:.0f} s.") from None
        if done.returncode != 0:
            said = " ".join((done.stderr or done.stdout).split())[:300]
            raise SourceError(f"{program} ended with {done.returncode}: {said or 'it said nothing'}.")
        return done.stdout
