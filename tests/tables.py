"""Tables that read like the specification: what is observed on the left, what the ledger makes of it on the right.

    00:00 pending gpus=8        | 00:00 waiting
    00:10 starting machine=m    | 00:10 starting
    00:20 running               | 00:20 productive
    01:00 ended                 | 01:00 -

Left, `at [worker:] facts [by=source]`: a state (phase, key=value), a reading (busy= step= step_seconds= doing= from=),
`word [from=at]`, or `list` and the workers that it names. Right, `at [worker:] category [gpus] [on machine] [in pool]
[unobserved]`: what changes then; only the columns that a table mentions are compared. Both sides start at a
Monday's midnight. Every table is told in order, backwards and doubled, to the core and to the oracle.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.evidence import Settings, type_batch
from tests.memory import Memory
from tests.oracle import Ledger, Segment, timeline
from tests.worlds import DAY, HOUR, MONDAY, iso

PHASES = ("pending", "starting", "running", "stopping", "failed", "lost", "ended")
NUMBERS = ("gpus", "attempt", "step", "step_seconds", "gpu_busy")
END = MONDAY + 4 * DAY
DEFAULTS = Settings()


class Row(NamedTuple):
    """From `at` on the ledger has these columns; a column that the table never mentions is None."""

    worker: str
    at: int
    category: str
    gpus: int | None
    machine: str | None
    pool: str | None
    unobserved: bool | None


def at(text: str) -> int:
    """Return the instant of "hh:mm[:ss[.mmm]]" after the Monday, ms; the hours go on over days."""
    hours, minutes, seconds = (*text.split(":"), "0")[:3]
    return MONDAY + int(hours) * HOUR + int(minutes) * 60_000 + round(float(seconds) * 1000)


def check(table: str, settings: Settings = DEFAULTS) -> None:
    """Assert that the core and the oracle make of the left side what stands on the right."""
    lines = [line.split("|") for line in table.strip().splitlines()]
    batches = list(_batches(left.strip() for left, _ in lines if left.strip()))
    wanted = [_row(right.strip()) for _, right in lines if right.strip()]
    asked = {name: any(getattr(row, name) for row in wanted) for name in ("gpus", "machine", "pool", "unobserved")}
    wanted = _only(wanted, asked)
    by_oracle = _changes(Ledger(batches, settings, END).timelines(), asked)
    assert by_oracle == wanted, f"the oracle: {_text(by_oracle)}"
    for told in (batches, _backwards(batches), [*batches, *batches], [*_backwards(batches), *batches]):
        memory = Memory(settings, MONDAY)
        for index, batch in enumerate(told):
            memory.receive(MONDAY + index * HOUR, batch)
        memory.categorize(END)
        by_core = _changes(memory.timelines(END), asked)
        assert by_core == wanted, f"the core: {_text(by_core)}"
        assert memory.cells(END) == Ledger(told, settings, END).cells()


def _backwards(batches: list[type_batch]) -> list[type_batch]:
    """Turn round what may come in any order; readings and lists keep the order of their streams."""
    ordered = [batch for batch in batches if batch["complete"] or batch["readings"]]
    return [batch for batch in reversed(batches) if batch not in ordered] + ordered


def _batches(lines: Iterable[str]) -> Iterable[type_batch]:
    for line in lines:
        moment, rest = line.split(maxsplit=1)
        worker, named, facts = rest.rpartition(": ") if not rest.startswith("list") else ("w", "", rest)
        yield _batch(at(moment), worker if named else "w", facts)


def _batch(moment: int, worker: str, facts: str) -> type_batch:
    """States and readings come under a word long ago, so that only what says so covers anything."""
    words = dict(part.split("=") for part in facts.split() if "=" in part)
    kind, source = facts.split(maxsplit=1)[0], words.pop("by", "a")
    batch = {"source": source, "sent_at": iso(MONDAY - DAY), "complete": False, "workers": [], "readings": []}
    batch |= {"machines": [{"name": "m1", "pool": "p1"}], "runs": [{"uid": "r", "workspace": "v"}]}
    item: dict[str, Any] = {"run": "r", "worker": worker, "at": iso(moment)}
    if kind == "word":
        seen_from = {"seen_from": iso(at(words["from"]))} if "from" in words else {}
        return batch | {"sent_at": iso(moment)} | seen_from
    if kind == "list":
        named = [part for part in facts.split()[1:] if "=" not in part]
        items = [{"run": "r", "worker": name, "at": iso(MONDAY - HOUR)} for name in named]
        return batch | {"sent_at": iso(moment), "complete": True, "workers": items}
    if "from" in words:
        item["from"] = iso(at(words.pop("from")))
    if "busy" in words:
        words["gpu_busy"] = words.pop("busy")
    reading = any(key in words for key in ("gpu_busy", "step"))
    item |= {key: _value(key, value) for key, value in words.items()}
    if kind in PHASES:
        item["phase"] = kind
    return batch | {"readings" if reading else "workers": [item]}


def _value(key: str, value: str) -> Any:
    if key == "stalled":
        return value == "true"
    if key in NUMBERS and re.fullmatch(r"[\d.]+", value):
        return float(value) if "." in value else int(value)
    return value


def _row(text: str) -> Row:
    match = re.fullmatch(
        r"(?P<at>\S+) (?:(?P<worker>\S+): )?(?P<category>\S+)(?: (?P<gpus>[\d.]+))?"
        r"(?: on (?P<machine>\S+))?(?: in (?P<pool>\S+))?(?P<unobserved> unobserved)?",
        text,
    )
    assert match, f"no row: {text}"
    gpus = None if match["gpus"] is None else round(float(match["gpus"]) * 1000)
    return Row(
        match["worker"] or "w",
        at(match["at"]),
        match["category"],
        gpus,
        match["machine"],
        match["pool"],
        bool(match["unobserved"]),
    )


def _only(rows: Iterable[Row], asked: dict[str, bool]) -> list[Row]:
    """Leave out the columns that the table does not ask for, and all of them where nothing is counted."""
    kept = [
        row._replace(**{name: None for name, wanted in asked.items() if not wanted or row.category == "-"})
        for row in rows
    ]
    return sorted(kept, key=lambda row: row[:2])


def _changes(timelines: dict[Any, list[Segment]], asked: dict[str, bool]) -> list[Row]:
    rows = []
    for (_, worker), segments in timelines.items():
        plain = [
            segment._replace(
                unobserved=segment.unobserved and asked["unobserved"],
                gpus_milli=segment.gpus_milli if asked["gpus"] else 1,
                machine=segment.machine if asked["machine"] else "",
                pool=segment.pool if asked["pool"] else "",
            )
            for segment in segments
        ]
        joined = timeline(plain)
        for index, one in enumerate(joined):
            rows.append(Row(worker, one.start, one.category, one.gpus_milli, one.machine, one.pool, one.unobserved))
            goes_on = index + 1 < len(joined) and joined[index + 1].start == one.end
            if not goes_on and one.end < END:
                rows.append(Row(worker, one.end, "-", None, None, None, None))
    return _only(rows, asked)


def _text(rows: Iterable[Row]) -> str:
    return "\n".join(
        " ".join(str(part) for part in (iso(row.at), row.worker, *row[2:]) if part is not None) for row in rows
    )
