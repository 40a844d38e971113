"""Small pictures of a window: how a figure went, bucket by bucket."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from dashboards.bars import Markup
from ledger.core.totals import Ledger, together
from ledger.core.windows import DAY, HOUR, Window

BUCKETS_MAX = 60
BUCKET_HOURS = (1, 2, 3, 6, 12, 24, 48, 72, 168)
HEIGHT = 24

Figure = Callable[[Ledger], int | Fraction | None]


def bucket_hours(window: Window) -> int:
    """Return how many hours a bucket has, so that there are at most BUCKETS_MAX."""
    wanted = -(-(window.end - window.start) // (HOUR * BUCKETS_MAX))
    return next(size for size in BUCKET_HOURS if size >= wanted)


def in_days(window: Window) -> bool:
    """Whether each bucket is of whole days, so that no hour needs to be told apart."""
    return bucket_hours(window) % 24 == 0 and window.start % DAY == 0


def buckets(hourly: Iterable[tuple[int, Ledger]], window: Window) -> list[Ledger]:
    """Return the sums of the window's buckets, in order; hours that are not told are nothing."""
    size = bucket_hours(window) * HOUR
    found: list[list[Ledger]] = [[] for _ in range(-(-(window.end - window.start) // size))]
    for hour, ledger in hourly:
        found[(hour - window.start) // size].append(ledger)
    return [together(ledgers) for ledgers in found]


def spark(
    sums: Sequence[Ledger], figure: Figure, top: int | Fraction | None = None, *, partial: bool = False
) -> Markup:
    """Return the columns of a figure over the buckets as SVG; absent leaves a hole, `top` is the scale's end.

    `partial`: the last bucket is not over, so its column is drawn apart.
    """
    if not sums:
        return Markup()
    values = [figure(ledger) for ledger in sums]
    highest = top or max((value for value in values if value is not None), default=0)
    columns = [column(place, value, highest) if value and highest else "" for place, value in enumerate(values)]
    last = columns.pop() if partial else ""
    return Markup(
        f'<svg class="spark" viewBox="0 0 {len(sums)} {HEIGHT}" preserveAspectRatio="none" '
        f'width="100%" height="{HEIGHT}" aria-hidden="true"><path d="{"".join(columns)}"/>'
        + (f'<path class="partial" d="{last}"/></svg>' if last else "</svg>")
    )


def column(place: int, value: int | Fraction, highest: int | Fraction) -> str:
    """Return a column's path, at least 0.4 high so that a little is not taken for nothing."""
    height = max(round(Fraction(value) * HEIGHT * 10 / highest), 4) / 10
    return f"M{place} {HEIGHT}v-{height:g}h.8V{HEIGHT}z"
