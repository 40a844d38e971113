"""The part of a run's timeline that is looked at, and the group of workers that is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from dashboards.filters import Problem, Shown, instant
from dashboards.moments import iso

MINUTE = 60_000
LEAST = MINUTE
STEPS = tuple(
    minutes * MINUTE for minutes in (1, 5, 10, 30, 60, 180, 360, 720, 1440, 2880, 4320, 10080, 20160, 40320, 80640)
)
TICKS_MAX = 9


@dataclass(frozen=True)
class Zoom:
    """[start, end), ms, within `whole`; `open` is the number of the open group, -1: none; `problem` if any."""

    shown: Shown
    whole: tuple[int, int]
    start: int
    end: int
    open: int = -1
    problem: str = ""

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def is_whole(self) -> bool:
        return (self.start, self.end) == self.whole

    def link(self, start: int | None = None, end: int | None = None, group: int | None = None) -> str:
        """Return the address of another part, or of the same one with another group open."""
        start, end = within(self.whole, self.start if start is None else start, self.end if end is None else end)
        group = self.open if group is None else group
        more = {} if (start, end) == self.whole else {"from": iso(start), "to": iso(end)}
        query = self.shown.state | more | ({"open": str(group)} if group >= 0 else {})
        return f"?{urlencode(query)}#timeline"

    @property
    def closer(self) -> str:
        return self.link(self.start + self.length // 4, self.end - self.length // 4) if self.length > 2 * LEAST else ""

    @property
    def wider(self) -> str:
        return "" if self.is_whole else self.link(self.start - self.length // 2, self.end + self.length // 2)

    @property
    def earlier(self) -> str:
        move = min(self.length // 2, self.start - self.whole[0])
        return self.link(self.start - move, self.end - move) if move else ""

    @property
    def later(self) -> str:
        move = min(self.length // 2, self.whole[1] - self.end)
        return self.link(self.start + move, self.end + move) if move else ""

    @property
    def all(self) -> str:
        return self.link(*self.whole)

    def ticks(self) -> list[int]:
        """Return round instants, few enough to be read."""
        step = next((step for step in STEPS if self.length <= step * TICKS_MAX), STEPS[-1])
        return list(range(-(-self.start // step) * step, self.end, step))


def within(whole: tuple[int, int], start: int, end: int) -> tuple[int, int]:
    """Return the part of `whole` that is meant, at least a minute of it."""
    start = min(max(start, whole[0]), whole[1] - LEAST)
    return start, max(min(end, whole[1]), start + LEAST)


def zoom(query: Mapping[str, str], shown: Shown, whole: tuple[int, int]) -> Zoom:
    """Read from, to and open. Never fails: see `problem`."""
    group = query.get("open", "")
    opened = int(group) if group.isascii() and group.isdigit() and len(group) < 5 else -1
    try:
        start, end = (instant(query[name]) if query.get(name) else None for name in ("from", "to"))
    except Problem as problem:
        return Zoom(shown, whole, *whole, open=opened, problem=str(problem))
    part = within(whole, whole[0] if start is None else start, whole[1] if end is None else end)
    return Zoom(shown, whole, *part, open=opened)
