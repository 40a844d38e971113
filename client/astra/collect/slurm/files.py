"""Files of sacct's output as one source: what `--file` reads."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path

from astra.collect.items import Items
from astra.collect.slurm import sacct_json, sacct_text, telling
from astra.collect.slurm.attempts import Run, runs_of
from astra.collect.slurm.mapping import Told, start_of, tell
from astra.collect.slurm.record import BadText, Record
from astra.collect.source import Put, SourceError

NO_GPUS = "job without GPUs: in no ledger"
NO_START = "job that tells neither when it was submitted nor when it began, left out"
GOING = "job still going when the file was made: it stops there"


class FileSource:
    """A dump of `sacct --json` or `sacct -P`; `zone` is that of a text's times. `notes` says what was left out."""

    def __init__(self, cluster: str, file: Path, zone: tzinfo | None, workspaces: Mapping[str, str]) -> None:
        self.name = f"slurm/{cluster}"
        self.file, self.zone, self.workspaces = file, zone, workspaces
        self.notes: Counter[str] = Counter()
        self.held = 0

    def look(self) -> Items:
        """Return all that the file tells. Raises SourceError with one sentence."""
        try:
            records = read(self.file.read_bytes(), self.zone, self.notes)
        except OSError as error:
            raise SourceError(f"{self.file} cannot be read: {error.strerror}.") from None
        except BadText as error:
            raise SourceError(f"{self.file}: {error}") from None
        return self._items(runs_of(records))

    def run(self, put: Put, stop: threading.Event) -> None:  # noqa: ARG002
        put(self.look())

    def _items(self, runs: list[Run]) -> Items:
        until = max((_last(record) for run in runs for record in run.records()), default=0)
        told = [each for run in runs if (each := self._told(run, until)) is not None]
        items = [telling.run_item(each, self.workspaces) for each in told]
        workers = [telling.worker_item(each.run.uid, state) for each in told for state in each.states]
        readings = [telling.reading_item(each.run.uid, sample) for each in told for sample in each.samples]
        first = min((each.run.first or until for each in told), default=until)
        return Items(
            telling.moment(until), (), tuple(items), tuple(workers), tuple(readings), seen_from=telling.moment(first)
        )

    def _told(self, run: Run, until: int) -> Told | None:
        if run.first is None:
            self.notes[NO_START] += 1
            return None
        if not any(record.asked or record.gpus for record in run.records()):
            self.notes[NO_GPUS] += 1
            return None
        told = tell(run, until)
        self.notes[GOING] += told.ended is None
        self.held += sum(_held(record) for record in run.records())
        self.notes += Counter()
        return told


def read(body: bytes, zone: tzinfo | None, notes: Counter[str]) -> list[Record]:
    """Return the records of a dump, JSON or text. Raises BadText when it has none."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadText("it is no UTF-8 text.") from None
    if text.lstrip()[:1] == "{":
        return _of_json(text, notes)
    records = sacct_text.read(text, zone, notes)
    if not records:
        why = next(iter(notes), "no line names a column JobID")
        raise BadText(f"no record of sacct can be read in it ({why}).")
    return records


def _of_json(text: str, notes: Counter[str]) -> list[Record]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadText(f"it begins as JSON and is none ({error}).") from None
    if not isinstance(told.get("jobs"), list):
        raise BadText("it is JSON, but has no list of jobs as sacct --json writes it.")
    return list(sacct_json.read(told, notes))


def _last(record: Record) -> int:
    """Return the last instant that a record knows of."""
    told = [record.submit, record.start, record.end]
    if record.placed and record.end is None and record.lasted is not None:
        told.append(start_of(record) + record.lasted)
    return max((at for at in told if at is not None), default=0)


def _held(record: Record) -> int:
    """Return the GPU-milliseconds × 1000 that a record says were held, without the ledger."""
    if not record.placed:
        return 0
    if record.end is None:
        return record.gpus * (record.lasted or 0)
    return record.gpus * max(0, record.end - start_of(record))
