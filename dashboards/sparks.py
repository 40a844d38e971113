"""Small pictures of a window: how a figure went, bucket by bucket."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from dashboards.bars import Markup
from ledger.core.totals import Ledger, rounded
from ledger.core.windows import HOUR, Window
from ledger.queries import Stretch

BUCKETS_MAX = 60
BUCKET_HOURS = (1, 2, 3, 6, 12, 24, 48, 72, 168)
HEIGHT = 24

Figure = Callable[[Ledger], int | Fraction | None]


def bucket_size(window: Window) -> int:
    """Return how long a bucket is, ms, so that there are at most BUCKETS_MAX."""
    wanted = -(-(window.end - window.start) // (HOUR * BUCKETS_MAX))
    return HOUR * next(size for size in BUCKET_HOURS if size >= wanted)


def buckets(told: Iterable[Stretch], window: Window) -> list[Ledger]:
    """Return the sums of the window's buckets, in order, of what is told of them; those that are not are nothing."""
    known = {each.start: each.ledger for each in told}
    return [known.get(start, Ledger()) for start in range(window.start, window.end, bucket_size(window))]


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
    """Return a column's path, at least 0.4 high so that a little is not taken for nothing.

    Rounded as the fraction would be, of which a page has too many to make.
    """
    tenths = rounded(value.numerator * highest.denominator * HEIGHT * 10, value.denominator * highest.numerator)
    height = max(tenths, 4) / 10
    return f"M{place} {HEIGHT}v-{height:g}h.8V{HEIGHT}z"
