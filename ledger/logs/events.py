"""What a line of a log says: one event, or none."""

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """In the order in which events of one instant are taken."""

    START = 0
    RESTORE = 1
    LOADED = 2
    STEP = 3
    SAVE = 4
    DONE = 5
    BANDWIDTH = 6
    TRANSPORT = 7


LIFECYCLE = frozenset({Kind.START, Kind.RESTORE, Kind.LOADED, Kind.SAVE, Kind.DONE})


class Event(NamedTuple):
    """An event of line `number` of its stream (`part` of it, where the line was rewritten in place).

    `at` and `took` are µs, `took` of one step or one save; `loss` is as printed; `tflops`, `alg` and `bus` are
    millionths (TFLOP/s, GB/s), `size` bytes. None = not said.
    """

    number: int
    part: int
    kind: Kind
    at: int | None = None
    step: int | None = None
    took: int | None = None
    warm: bool = False
    loss: str = ""
    tflops: int | None = None
    size: int | None = None
    alg: int | None = None
    bus: int | None = None
    text: str = ""

    @property
    def said(self) -> tuple[object, ...]:
        """What two lines of one step must share to be one line that two ranks printed."""
        return (self.step, self.took, self.loss, self.tflops)
