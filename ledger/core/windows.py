"""Whole UTC hours, days and ISO weeks, in integer milliseconds since the epoch."""

from dataclasses import dataclass

HOUR = 3_600_000
DAY = 24 * HOUR
WEEK = 7 * DAY
MAX_DAYS = 400
_MONDAY = 4 * DAY  # the epoch was a Thursday; the first Monday after it is 5 January 1970


def floor_hour(at: int) -> int:
    return at - at % HOUR


def ceil_hour(at: int) -> int:
    return -(-at // HOUR) * HOUR


def floor_day(at: int) -> int:
    return at - at % DAY


def floor_week(at: int) -> int:
    """Return the Monday 00:00 UTC at or before `at`."""
    return at - (at - _MONDAY) % WEEK


def rolled_to(open_hour: int) -> int:
    """Return up to where the day of the open hour is rolled up, ms; see ledger/sql/running_schema.sql."""
    return max(floor_day(open_hour), (open_hour - HOUR) // (3 * HOUR) * (3 * HOUR))


def oldest_kept(now: int) -> int:
    """Return the edge that pruning moves to: a UTC midnight, so far back that no window reaches over it."""
    return floor_day(now - MAX_DAYS * DAY - HOUR)


@dataclass(frozen=True, slots=True)
class Window:
    """Whole hours [start, end), ms; at most 400 days. Raises ValueError when it is empty, ragged or too long."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if self.start % HOUR or self.end % HOUR:
            raise ValueError("a window is made of whole UTC hours")
        if self.end <= self.start:
            raise ValueError("the end must lie after the start")
        if self.end - self.start > MAX_DAYS * DAY:
            raise ValueError(f"a window has at most {MAX_DAYS} days")

    @classmethod
    def around(cls, start: int, end: int) -> "Window":
        """Return the window of the whole hours that [start, end) touches."""
        return cls(floor_hour(start), ceil_hour(end))

    @classmethod
    def last_days(cls, now: int, days: int) -> "Window":
        """Return the last `days` × 24 hours, the running hour included."""
        end = floor_hour(now) + HOUR
        return cls(end - days * DAY, end)

    @classmethod
    def last_weeks(cls, now: int, weeks: int) -> "Window":
        """Return the last `weeks` ISO weeks, the running one included as far as its running hour."""
        return cls(floor_week(now) - (weeks - 1) * WEEK, floor_hour(now) + HOUR)

    def before(self) -> "Window":
        """Return the window of the same length that ends where this one starts."""
        return Window(2 * self.start - self.end, self.start)
