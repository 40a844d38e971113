"""What "now" is: the database's clock, where this process's monotonic clock went along with it; it never steps back."""

import time
from threading import Lock

from ledger.core.steady import Steady

_steady = Steady()
_alone = Lock()


def now(clock: int, counted: int, given: int | None) -> int:
    """Return the instant to count at (ms): `given` where it is, else `clock`, but not before `counted`.

    `clock` is the database's, `counted` up to where it was looked at before. Raises ClockJump.
    """
    if given is not None:
        return given
    with _alone:
        return max(_steady.take(clock, time.monotonic_ns() // 1_000_000), counted)
