"""A clock is believed as far as a monotonic one goes on beside it: a jump counts nothing until it is confirmed."""

JUMP_MAX = 600_000
CONFIRM_AFTER = 55_000


class ClockJump(Exception):
    """The clock jumped; `by` (ms) is how far, forth (> 0) or back."""

    def __init__(self, by: int) -> None:
        super().__init__(f"the database's clock jumped by {by / 1000:+.3f} s; nothing is counted until it is confirmed")
        self.by = by


class Steady:
    """Readings of a clock and of a monotonic one, both in ms, compared with the last one that was believed."""

    def __init__(self) -> None:
        self._believed: int | None = None  # the clock less the monotonic one
        self._doubted: tuple[int, int] | None = None  # the same of a jump, and the monotonic instant it was seen

    def take(self, clock: int, monotonic: int) -> int:
        """Return `clock` when it is to be believed.

        A jump is when a reading goes more than ten minutes further, or less far, than the monotonic clock since the
        one before. It is believed once a reading nearly a minute later agrees with it. Raises ClockJump till then.
        """
        offset = clock - monotonic
        if self._believed is not None and abs(offset - self._believed) > JUMP_MAX:
            if self._doubted is None or abs(offset - self._doubted[0]) > JUMP_MAX:
                self._doubted = (offset, monotonic)
            if monotonic - self._doubted[1] < CONFIRM_AFTER:
                raise ClockJump(offset - self._believed)
        self._believed, self._doubted = offset, None
        return clock
