"""Tables as Slurm prints them: columns between "|" (or "|#"), or of fixed width under a line of dashes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

DELIMITERS = ("|#", "|")
NAMES = frozenset({"JOBID", "JOBIDRAW"})
BROKEN = "line that belongs to no record, left out"
TRUNCATED = re.compile(r"(?:^|\s)(?:-[A-Za-z]*T[A-Za-z]*|--truncate)(?:\s|$)")
type_row = dict[str, str]


@dataclass
class Table:
    """Rows by their columns' names in capitals; `truncated`: the command that made it cut times at its window."""

    columns: list[str]
    delimiter: str | None = None
    spans: list[tuple[int, int]] = field(default_factory=list)
    rows: list[type_row] = field(default_factory=list)
    truncated: bool = False


def read(text: str, notes: Counter[str], columns: Sequence[str] = ()) -> list[Table]:
    """Return the tables of a text, which may hold several, with the commands that printed them.

    `columns` names those of a text without a heading. A record broken by a line end inside of a field is joined.
    """
    reader = _Reader(notes)
    if columns:
        reader.begin([name.upper() for name in columns], next((d for d in DELIMITERS if d in text), "|"))
    for line in text.splitlines():
        reader.take(line)
    reader.drop()
    return reader.tables


class _Reader:
    def __init__(self, notes: Counter[str]) -> None:
        self.notes, self.tables = notes, list[Table]()
        self.waiting: list[str] = []
        self.truncated = False

    def begin(self, columns: list[str], delimiter: str | None) -> None:
        self.drop()
        self.tables.append(Table(columns, delimiter, truncated=self.truncated))

    def take(self, line: str) -> None:
        if line.startswith(("# ", "$ ")):
            self.truncated = TRUNCATED.search(line) is not None
        elif (heading := _heading(line)) is not None:
            self.begin(*heading)
        elif not self.tables:
            return
        elif self.tables[-1].delimiter is None:
            self._fixed(self.tables[-1], line)
        elif line or self.waiting:
            self._delimited(self.tables[-1], line)

    def _fixed(self, table: Table, line: str) -> None:
        if line and not set(line) - {"-", " "}:
            table.spans = [match.span() for match in re.finditer("-+", line)]
        elif table.spans and line.strip():
            fields = line.split()
            if len(fields) != len(table.spans):
                fields = [line[begin:end].strip() for begin, end in table.spans]
            if fields[0] and fields[0][0].isdigit():
                table.rows.append(_row(table.columns, fields))

    def _delimited(self, table: Table, line: str) -> None:
        width, mark = len(table.columns), table.delimiter or "|"
        if self.waiting and line.count(mark) == width - 1:
            self.drop()
        self.waiting.append(line)
        fields = "\n".join(self.waiting).split(mark)
        if len(fields) == width:
            self.waiting = []
            table.rows.append(_row(table.columns, fields))
        elif len(fields) > width:
            self.drop()

    def drop(self) -> None:
        """Forget what was begun and never became a record."""
        self.notes[BROKEN] += len(self.waiting)
        self.waiting = []
        self.notes += Counter()


def _row(columns: Sequence[str], fields: Sequence[str]) -> type_row:
    """Return the fields by column; of a column that stands twice the first counts."""
    return {name: value.strip() for name, value in reversed(list(zip(columns, fields)))}


def _heading(line: str) -> tuple[list[str], str | None] | None:
    delimiter = next((each for each in DELIMITERS if each in line), None)
    names = [name.strip().upper() for name in (line.split(delimiter) if delimiter else line.split())]
    return (names, delimiter) if NAMES & set(names) else None


def rows(tables: Sequence[Table]) -> Iterator[type_row]:
    for table in tables:
        yield from table.rows
