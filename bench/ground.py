"""Where measurements are made: an embedded Postgres of their own, with the settings it has in production."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "sql"


@contextmanager
def ground(keep: str | None = None) -> Iterator[Path]:
    """Start an empty Postgres in a new folder, or in `keep`, make the tables, and yield the folder.

    The environment decides where the settings look, so this comes before any of the project is imported.
    """
    state = Path(keep or tempfile.mkdtemp(prefix="goodput-bench-"))
    os.environ["GOODPUT_STATE"] = str(state)
    os.environ["DJANGO_SETTINGS_MODULE"] = "goodput_site.settings"
    os.environ.pop("DATABASE_URL", None)
    import django
    from django.core.management import call_command

    from goodput_site.commands import leave
    from goodput_site.embedded import Server
    from goodput_site.garbage import collect_seldom
    from goodput_site.places import places

    django.setup()
    collect_seldom()
    signal.signal(signal.SIGTERM, leave)
    server = Server(places())
    server.start(die_with_us=True)
    try:
        call_command("migrate", verbosity=0)
        yield state
    finally:
        server.stop()
        if keep is None:
            shutil.rmtree(places().postgres, ignore_errors=True)
            shutil.rmtree(state, ignore_errors=True)


def run(name: str, /, **parameters: Any) -> int:
    """Run a statement of bench/sql and return how many rows it touched."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute((SQL / f"{name}.sql").read_text(encoding="utf-8"), parameters)
        return int(cursor.rowcount)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---:"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def milliseconds(seconds: float) -> str:
    """Return it in ms, with as many digits as it deserves."""
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def machine() -> str:
    """Return what this runs on, in one line."""
    from django.db import connection

    names = {line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")}
    memory = next(int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal"))
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = cursor.fetchone()[0]
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} × {', '.join(names)}, {memory / 2**20:.0f} GiB, Postgres {version}, load {load:.1f}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()
