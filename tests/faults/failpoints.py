"""Named points before each statement and around each commit, at which a test lets something happen.

Production knows nothing of them: they hang on Django's own hook for statements and on the connection's commit. The
point after a statement is the one before the next: nothing that lasts happens between the two.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import connection

from ledger.sql import sending

type_reached = Callable[[int, str], None]  # (how many points were crossed, with this one; its name)


@cache
def names() -> dict[str, str]:
    """Return the name of each statement by its text."""
    return {path.read_text(encoding="utf-8"): path.stem for path in sending.FOLDER.glob("*.sql")}


def name_of(statement: str) -> str:
    return names().get(statement, statement.split(maxsplit=1)[0])


@contextmanager
def failpoints(reached: type_reached) -> Iterator[None]:
    """Call `reached` at each point that this thread's connection crosses."""
    crossed = 0

    def cross(name: str) -> None:
        nonlocal crossed
        crossed += 1
        reached(crossed, name)

    def execute(run: Callable[..., Any], statement: str, *rest: Any) -> Any:
        cross(f"before {name_of(statement)}")
        return run(statement, *rest)

    commit = connection.commit

    def commit_between() -> None:
        cross("before COMMIT")
        commit()
        cross("after COMMIT")

    connection.commit = commit_between  # type: ignore[method-assign]
    try:
        with connection.execute_wrapper(execute):
            yield
    finally:
        del connection.commit
