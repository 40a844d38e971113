"""Column stores with the same hourly rows: DuckDB and chDB, each the way its own users would write it.

Both have the run's workspace and user in each row, so neither joins, and answer with ids where the ledger has names.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from django.db import connection

from ledger.core.categories import Category
from ledger.core.postings import LINES
from ledger.core.windows import Window

KEYS = {
    "workspace": "workspace_id", "run": "run_id", "machine": "machine_id", "pool": "pool_id", "user": '"user"',
}  # fmt: skip
CATEGORIES = tuple(category.label for category in Category)
LOST = " + ".join(f"coalesce(all_{name}, 0)" for name in CATEGORIES[1:])
SUMMED = tuple(f"all_{line}" for line in LINES) + tuple(f"held_{name}" for name in CATEGORIES)
ROWS = f"""
SELECT h.hour AT TIME ZONE 'UTC', h.run_id, h.machine_id, h.pool_id, r.workspace_id, r."user", {", ".join(LINES)}
FROM ledger_hour AS h JOIN ledger_run AS r ON r.id = h.run_id
WHERE h.hour >= %s AND h.hour < %s ORDER BY h.hour, h.run_id, h.machine_id
"""
MONTHS = """
SELECT generate_series(date_trunc('month', min(day), 'UTC'), now() + interval '1 month', '1 month') FROM ledger_daypool
"""
TABLE = f"""
CREATE TABLE hours (hour TIMESTAMP, run_id BIGINT, machine_id BIGINT, pool_id BIGINT, workspace_id BIGINT,
"user" VARCHAR,
{", ".join(f"{line} BIGINT" for line in LINES)})
"""
MERGE_TREE = f"""
CREATE TABLE hours (hour DateTime64(3, 'UTC'), run_id Int64, machine_id Int64, pool_id Int64, workspace_id Int64,
"user" LowCardinality(String), {", ".join(f"{line} Int64" for line in LINES)}) ENGINE MergeTree ORDER BY (hour, run_id)
"""


class Peer:
    """A store that answers the ledger's questions over the whole hours of a window (ms)."""

    name: str
    held: str  # how it sums what was held alone

    def open(self) -> None:
        """Begin with hours that it has already."""

    def all(self, statement: str) -> list[Any]:
        """Run a statement and return its rows."""
        raise NotImplementedError

    def ledgers(self, by: str, window: Window, *, weekly: bool) -> list[Any]:
        """Return a page of a hundred ledgers, in each week if asked, the most lost first, and their total."""
        raise NotImplementedError

    def run(self, run: int) -> list[Any]:
        """Return the ledger of a run over all its hours."""
        return self.all(f"SELECT {self.sums} FROM hours WHERE run_id = {run}")

    def total(self, window: Window) -> tuple[int, ...]:
        """Return the sum of each category."""
        amounts = ", ".join(f"sum({name})" for name in CATEGORIES)
        return tuple(
            int(value or 0) for value in self.all(f"SELECT {amounts} FROM hours WHERE {self.within(window)}")[0]
        )

    def within(self, window: Window) -> str:
        raise NotImplementedError

    @property
    def sums(self) -> str:
        held = (self.held.format(name) + f" AS held_{name}" for name in CATEGORIES)
        return ", ".join([*(f"sum({line}) AS all_{line}" for line in LINES), *held])


class DuckDB(Peer):
    name, held = "DuckDB", "sum({}) FILTER (WHERE machine_id <> 0)"

    def __init__(self, folder: Path) -> None:
        self.connection = import_module("duckdb").connect(str(folder / "hours.duckdb"))
        self.folder = folder

    def load(self) -> None:
        """Take the closed hours of the ledger, and leave them in a file for the other."""
        self.all(TABLE)
        for part in exported(self.folder / "hours.csv"):
            self.all(f"COPY hours FROM '{part}' (FORMAT csv, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S')")
        self.all(f"COPY hours TO '{self.folder / 'hours.parquet'}' (FORMAT parquet)")
        self.all("CHECKPOINT")

    def all(self, statement: str) -> list[Any]:
        return list(self.connection.execute(statement).fetchall())

    def within(self, window: Window) -> str:
        return f"hour >= make_timestamp({window.start}000) AND hour < make_timestamp({window.end}000)"

    def ledgers(self, by: str, window: Window, *, weekly: bool) -> list[Any]:
        week = "date_trunc('week', hour)" if weekly else "NULL"
        totals = ", ".join(f"sum({name})" for name in SUMMED)
        return self.all(f"""
            WITH ledgers AS (
                SELECT {week} AS week, {KEYS[by]} AS key, {self.sums}
                FROM hours WHERE {self.within(window)} GROUP BY ALL
            )
            SELECT week, NULL, {totals} FROM ledgers GROUP BY week
            UNION ALL (
                SELECT * FROM ledgers QUALIFY row_number() OVER (PARTITION BY week ORDER BY {LOST} DESC) <= 100
            )
        """)


class ChDB(Peer):
    name, held = "chDB", "sumIf({}, machine_id != 0)"

    def __init__(self, folder: Path) -> None:
        self.session = import_module("chdb.session").Session(str(folder / "chdb"))
        self.folder = folder

    def open(self) -> None:
        self.session.query("USE bench")

    def load(self) -> None:
        """Take the hours that DuckDB has left."""
        self.session.query("CREATE DATABASE IF NOT EXISTS bench ENGINE = Atomic")
        self.open()
        self.session.query(MERGE_TREE)
        lines = ", ".join(f"ifNull({line}, 0)" for line in LINES)
        named = f'hour, run_id, machine_id, pool_id, workspace_id, "user", {lines}'
        self.session.query(f"INSERT INTO hours SELECT {named} FROM file('{self.folder / 'hours.parquet'}', Parquet)")
        self.session.query("OPTIMIZE TABLE hours FINAL")

    def all(self, statement: str) -> list[Any]:
        text = str(self.session.query(statement, "TabSeparated"))
        return [line.split("\t") for line in text.splitlines() if line]

    def within(self, window: Window) -> str:
        return f"hour >= fromUnixTimestamp64Milli({window.start}) AND hour < fromUnixTimestamp64Milli({window.end})"

    def ledgers(self, by: str, window: Window, *, weekly: bool) -> list[Any]:
        week = "toMonday(hour)" if weekly else "0"
        return self.all(f"""
            SELECT {week} AS week, {KEYS[by]} AS key, {self.sums} FROM hours WHERE {self.within(window)}
            GROUP BY week, key WITH TOTALS ORDER BY {LOST} DESC LIMIT 100 BY week
        """)


def exported(file: Path) -> Iterator[Path]:
    """Write the closed hours into `file`, a month after the other, and yield it each time."""
    with connection.cursor() as cursor:
        cursor.execute(MONTHS)
        months = [month for (month,) in cursor.fetchall()]
    for lower, upper in zip(months, months[1:], strict=False):
        copy = f"COPY ({ROWS}) TO STDOUT (FORMAT csv)"
        with connection.cursor() as cursor, file.open("wb") as out, cursor.copy(copy, (lower, upper)) as rows:
            for block in rows:
                out.write(block)
        yield file
    file.unlink()


PEERS: tuple[Callable[[Path], Any], ...] = (DuckDB, ChDB)
