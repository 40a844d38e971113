"""`sacct -P` and `sacct` as records: job lines, and of their steps only when the first numbered one began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo

from astra.collect.slurm import gpus, hosts, jobnames, tables, values
from astra.collect.slurm.record import SECOND, Job, Record
from astra.collect.slurm.tables import Table, type_row
from astra.collect.slurm.words import ALIVE, state_of

CUT = "record of a listing made with sacct -T, which cuts its times at the window, left out"
ALONE = "job told by its extern step alone, taken from that"
STRAY = "step whose job is not told, left out"
FIELDS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "Cluster", "State", "Reason", "Submit", "Eligible",
    "Start", "End", "ElapsedRaw", "Suspended", "NNodes", "NodeList", "ReqTRES", "AllocTRES",
)  # fmt: skip


def read(text: str, zone: tzinfo | None, notes: Counter[str], columns: Sequence[str] = ()) -> list[Record]:
    """Return the records of all tables of a text whose times are in `zone`; what cannot be read goes to `notes`."""
    found: list[Record] = []
    for table in tables.read(text, notes, columns):
        if _is_cut(table):
            notes[CUT] += len(table.rows)
        else:
            found += _records(table.rows, zone, notes)
    return found


def _is_cut(table: Table) -> bool:
    """Whether times were cut at the window asked for: only then a job that runs has an end."""
    told = any(row.get("END", "Unknown") not in ("Unknown", "None", "") and _is_going(row) for row in table.rows)
    return table.truncated or told


def _is_going(row: type_row) -> bool:
    return state_of(row.get("STATE", "")) in ALIVE - {"COMPLETING"} and "." not in _id(row)


def _id(row: type_row) -> str:
    return row.get("JOBID") or row.get("JOBIDRAW") or ""


def _records(rows: Iterable[type_row], zone: tzinfo | None, notes: Counter[str]) -> list[Record]:
    """Return the job lines with what the step lines after each tell; a line told twice counts once."""
    found: list[Record] = []
    begin: dict[str, int] = {}  # where the last record of a job's line begins, and its array's tasks with it
    for row in _once(rows):
        job, dot, step = _id(row).partition(".")
        try:
            if dot and job in begin:
                _tell(found, begin[job], step, values.clock(row.get("START"), zone))
            elif not dot or step == "extern":
                notes[ALONE] += bool(dot)
                begin[job] = len(found)
                found += _of_line(row | {"JOBID": job, "JOBIDRAW": row.get("JOBIDRAW", job).partition(".")[0]}, zone)
            else:
                notes[STRAY] += 1
        except ValueError as error:
            notes[f"record that cannot be read, left out ({error})"] += 1
    notes += Counter()
    return found


def _once(rows: Iterable[type_row]) -> Iterator[type_row]:
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        key = tuple(row.values())
        if key not in seen:
            seen.add(key)
            yield row


def _tell(found: list[Record], begin: int, step: str, began: int | None) -> None:
    """Take what a step's line tells of its job: that there are steps, and when the first numbered one began."""
    for place in range(begin, len(found)):
        made = found[place]
        first = made.step
        if began is not None and values.is_numbered_step(step):
            first = began if first is None else min(first, began)
        found[place] = replace(made, step=first, steps=(made.steps or 0) + 1)


def _of_line(row: type_row, zone: tzinfo | None) -> Iterator[Record]:
    return jobnames.named(_record(row, zone), row["JOBID"])


def _record(row: type_row, zone: tzinfo | None) -> Record:
    nodes = hosts.expand(row.get("NODELIST"))
    held, asked = gpus.of_tres(row.get("ALLOCTRES")), gpus.of_tres(row.get("REQTRES"))
    held = held or gpus.of_gres(row.get("ALLOCGRES"))
    state = state_of(row.get("STATE", ""))
    suspended = values.seconds(row["SUSPENDED"]) if "SUSPENDED" in row else None
    elapsed = values.seconds(row.get("ELAPSEDRAW") or row.get("ELAPSED"))
    submit, eligible, start = (values.clock(row.get(name), zone) for name in ("SUBMIT", "ELIGIBLE", "START"))
    return Record(
        job=Job(row["JOBID"]),
        number=jobnames.number(row["JOBIDRAW"], row["JOBID"]),
        state=state,
        submit=submit,
        eligible=eligible,
        start=start,
        end=_end(row, zone, start, (elapsed + (suspended or 0)) * SECOND),
        elapsed=elapsed if "ELAPSEDRAW" in row or "ELAPSED" in row else None,
        suspended=suspended,
        nodes=nodes,
        width=values.number(row.get("NNODES") or row.get("ALLOCNODES")) or len(nodes),
        held=gpus.split(held, len(nodes)),
        asked=asked or held,
        name=row.get("JOBNAME", ""),
        user=row.get("USER", ""),
        account=row.get("ACCOUNT", ""),
        partition=row.get("PARTITION", "").split(",")[0],
        reason=row.get("REASON", ""),
        restarts=values.number(row.get("RESTARTS")),
        marks=frozenset((state,)),
        cluster=row.get("CLUSTER", ""),
    )


def _end(row: type_row, zone: tzinfo | None, start: int | None, lasted: int) -> int | None:
    """Return the End; of an hour that comes twice in local time, the one that fits how long it ran."""
    end = values.clock(row.get("END"), zone)
    if end is None or start is None or lasted == 0 or end - start == lasted or zone is None:
        return end
    later = values.clock(row.get("END"), zone, second=True)
    return later if later is not None and later - start == lasted else end
