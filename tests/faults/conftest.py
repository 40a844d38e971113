"""Real sessions on real Postgres: nothing here runs within one test transaction."""

from collections.abc import Iterator

import pytest

from ledger import walltime
from tests.faults.scripted import ScriptedClock, scripted_clock
from tests.worlds import MONDAY


class Trusting:
    """In place of the guard against jumps: a test may move the clock as far as it likes."""

    def take(self, clock: int, monotonic: int) -> int:
        return clock


@pytest.fixture
def clock(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedClock]:
    """The database's clock, at a Monday's midnight; each step of it is believed at once."""
    monkeypatch.setattr(walltime, "_steady", Trusting())
    with scripted_clock(MONDAY) as moved:
        yield moved
