"""Ledgers and lists as the tables of the command: lines of text and how each of them is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from astra.figures import ABSENT, gpus, hours, minute, percent, plain, seconds, share, tenth

COLUMNS = ("HELD", "USED", "GOODPUT", "IDLE", "STALLED", "START", "RESTART", "FAILURE", "PREEMPT", "WAITING")
SPENT = ("idle", "stalled", "starting", "restart", "failure", "preemption")
FOOTNOTE = "USED = productive (running, GPUs busy); GOODPUT = used / held; WAITING = asked for, not yet held"
PLACED_AGAIN = "Waits to be placed again stand in their cause's column and in WAITING."
STALLED = ["RUN", "WORKER", "WORKSPACE", "MACHINE", "POOL", "SINCE", "GPUS", "STEP"]
STALLED_NOTE = "SINCE = the last progress, in UTC; STEP = the last step that was told"
ALERTS = ["RULE", "WHERE", "SINCE", "UNTIL", "KNOWN TO", "WHAT"]
ALERTS_NOTE = "WHERE = the workspace, or the cluster; SINCE and UNTIL in UTC"
STRAGGLERS = [*STALLED[:6], "SLOWER", "STEP S", "BEHIND", "GPUS WAIT"]
STRAGGLERS_NOTE = "SLOWER = its step time / its gang's; BEHIND = steps; GPUS WAIT = in its gang, if that waits"
TELLS_APART = {"run": ("uid",), "machine": ("pool", "cluster"), "pool": ("cluster",)}
GAP = "  "
HEAD, TOTAL, QUIET = "bold", "bold", "dim"
Document = Mapping[str, Any]
Line = tuple[str, str]


class Terminal(Console):
    """Standard output, with styles where it is a terminal."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Let the command end as it does for every other reader that has had enough."""
        raise BrokenPipeError


def show(lines: Iterable[Line]) -> None:
    """Print lines, none of them wrapped or cut."""
    terminal = Terminal()
    for text, style in lines:
        terminal.print(Text(text, style), soft_wrap=True)


def ledgers(answer: Document, more: str = "") -> list[Line]:
    """Return the table of one window; `more` is a note on rows that are not in it. Amounts must be in gpu_us."""
    head, *rows, total = aligned([header(answer["by"]), *row_cells(answer), ledger_cells("TOTAL", answer["total"])])
    notes = [FOOTNOTE, *remarks(answer["total"]), *([more] if more else []), window(answer)]
    return [
        ("GPU-hours", HEAD),
        (head, HEAD),
        *((row, "") for row in rows),
        (total, TOTAL),
        *((note, QUIET) for note in notes),
    ]


def weeks(answer: Document, more: str = "") -> list[Line]:
    """Return a table for each ISO week, all as wide, and the total of all of them; the rest as `ledgers`."""
    tables = [
        [header(answer["by"]), *row_cells({"by": answer["by"], **week}), ledger_cells("TOTAL", week["total"])]
        for week in answer["weeks"]
    ]
    tables.append([header(answer["by"]), ledger_cells("TOTAL", answer["total"])])
    titles = [*map(week_title, answer["weeks"]), f"All {len(answer['weeks'])} weeks"]
    texts = iter(aligned([cells for table in tables for cells in table]))
    lines: list[Line] = [("GPU-hours", HEAD)]
    for title, table in zip(titles, tables):
        head, *rows, total = [next(texts) for _ in table]
        lines += [(title, HEAD), (head, HEAD), *((row, "") for row in rows), (total, TOTAL), ("", "")]
    notes = [FOOTNOTE, *remarks(answer["total"]), *([more] if more else []), window(answer)]
    return lines + [(note, QUIET) for note in notes]


def stalled(answer: Document, more: str = "") -> list[Line]:
    """Return the table of the workers that are stalled, the longest first; `more` as in `ledgers`."""
    at = f"Looked at {minute(answer['at'])} UTC."
    if not answer["workers"]:
        return [("No worker is stalled.", ""), (at, QUIET)]
    names = Counter(name for name, _ in {(worker["run"], worker["uid"]) for worker in answer["workers"]})
    head, *rows = aligned([STALLED, *(worker_cells(worker, names) for worker in answer["workers"])], left=6)
    notes = [STALLED_NOTE, *([more] if more else []), at]
    return [("Stalled workers", HEAD), (head, HEAD), *((row, "") for row in rows), *((note, QUIET) for note in notes)]


def stragglers(answer: Document, more: str = "") -> list[Line]:
    """Return the table of the workers that are slower than their gang, the slowest first; `more` as in `ledgers`."""
    at = f"Looked at {minute(answer['at'])} UTC."
    if not answer["workers"]:
        return [("No worker is a straggler.", ""), (at, QUIET)]
    names = Counter(name for name, _ in {(worker["run"], worker["uid"]) for worker in answer["workers"]})
    cells = [
        [
            *worker_cells(worker, names)[:6],
            f"{worker['slower']:.2f}x",
            seconds(worker["step_seconds"]),
            str(worker["steps_behind"]),
            tenth(worker["gpus_waiting"]),
        ]
        for worker in answer["workers"]
    ]
    head, *rows = aligned([STRAGGLERS, *cells], left=6)
    notes = [STRAGGLERS_NOTE, *([more] if more else []), at]
    return [("Stragglers", HEAD), (head, HEAD), *((row, "") for row in rows), *((note, QUIET) for note in notes)]


def worker_cells(worker: Document, names: Mapping[str, int]) -> list[str]:
    """Return what is told of a worker; `names`: how many runs have each name."""
    run = f"{worker['run']} ({worker['uid']})" if names[worker["run"]] > 1 else worker["run"]
    said = [run, worker["worker"], worker["workspace"], worker["machine"], worker["pool"]]
    step = ABSENT if worker["step"] is None else str(worker["step"])
    return [*map(plain, said), minute(worker["since"]), gpus(worker["gpus"]), step]


def alerts(answer: Document, more: str = "") -> list[Line]:
    """Return the table of alerts, those that are firing first; `more` as in `ledgers`."""
    if not answer["alerts"]:
        return [("No alert.", "")]
    head, *rows = aligned([ALERTS, *(alert_cells(alert) for alert in answer["alerts"])], left=len(ALERTS))
    notes = [ALERTS_NOTE, *([more] if more else [])]
    return [("Alerts", HEAD), (head, HEAD), *((row, "") for row in rows), *((note, QUIET) for note in notes)]


def alert_cells(alert: Document) -> list[str]:
    """Return what is told of an alert; what it says comes last, for it is long."""
    where = alert["workspace"] or alert["cluster"]
    known = plain(alert["acknowledged_by"]) if alert["acknowledged_by"] else ABSENT
    over = minute(alert["resolved_at"]) if alert["resolved_at"] else "firing"
    return [alert["rule"], plain(where), minute(alert["fired_at"]), over, known, plain(alert["text"])]


def week_title(week: Document) -> str:
    """Return the ISO week's name and its first day: "2026-W40, from Monday 2026-09-28, still running"."""
    monday = date.fromisoformat(week["start"][:10])
    year, number, _ = monday.isocalendar()
    return f"{year}-W{number:02d}, from Monday {monday}" + (", still running" if week["partial"] else "")


def header(by: str) -> list[str]:
    return [by.upper(), *COLUMNS]


def row_cells(answer: Document) -> list[list[str]]:
    """Return the cells of each row; what shares its name with another row is told apart."""
    by, rows = answer["by"], answer["rows"]
    names = Counter(row["name"] for row in rows)
    return [ledger_cells(row["name"] if names[row["name"]] == 1 else told_apart(row, by), row) for row in rows]


def told_apart(row: Document, by: str) -> str:
    """Return a name that others have too, with what tells it apart: "gpu-7 (h100, east)"."""
    more = ", ".join(filter(None, (row.get(key, "") for key in TELLS_APART.get(by, ()))))
    return f"{row['name']} ({more})" if more else str(row["name"])


def ledger_cells(name: str, ledger: Document) -> list[str]:
    """Return a ledger's name and its ten figures."""
    by_category = ledger["gpu_hours"]
    held, used = int(ledger["allocated_gpu_hours"]), int(ledger["productive_gpu_hours"])
    spent = [hours(int(by_category[category])) for category in SPENT]
    waiting = hours(int(ledger["waiting_gpu_hours"]))
    return [plain(name), hours(held), hours(used), percent(used, held), *spent, waiting]


def remarks(total: Document) -> list[str]:
    """Return what a reader of this total must know beside its figures."""
    again = int(total["waiting_gpu_hours"]) > int(total["gpu_hours"]["waiting"])
    held, used = int(total["allocated_gpu_hours"]), int(total["productive_gpu_hours"])
    blind = int(total["unobserved_productive_gpu_hours"])
    unobserved = f"GOODPUT {percent(used, held)}, of it unobserved {share(blind, held)}"
    return [*([PLACED_AGAIN] if again else []), *([unobserved] if blind else [])]


def window(answer: Document) -> str:
    """Return the hours that were counted, and how final they are."""
    final = "final" if answer["complete"] else "not final yet"
    revised = f", revised {minute(answer['revised_at'])} UTC" if answer.get("revised_at") else ""
    counted = f"counted until {minute(answer['counted_until'])} UTC"
    return f"{minute(answer['start'])} to {minute(answer['end'])} UTC, {counted}, {final}{revised}"


def aligned(table: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return a line for each row: the first `left` columns begin together, the others end together."""
    widths = [max(map(cell_len, column)) for column in zip(*table)]
    return [
        GAP.join(padded(cell, width, at < left) for at, (cell, width) in enumerate(zip(cells, widths))).rstrip()
        for cells in table
    ]


def padded(cell: str, width: int, left: bool) -> str:
    """Return a cell as wide as a terminal needs it to be."""
    blanks = " " * (width - cell_len(cell))
    return cell + blanks if left else blanks + cell
