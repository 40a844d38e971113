"""A ledger: amounts in GPU-microseconds by category, and the figures that follow from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import le

from ledger.core.categories import Category

GPU_US_PER_HOUR = 3_600_000_000
_COUNT = len(Category)
_NONE_OF_ALL = (0,) * _COUNT


@dataclass(frozen=True, slots=True)
class Ledger:
    """Sums over cells, GPU-microseconds.

    `amounts`: the eight categories, held and not held together; `held`: the part of each on a machine;
    `unobserved` and `unobserved_productive`: second labels, part of asked and of productive.
    """

    amounts: tuple[int, ...] = _NONE_OF_ALL
    held: tuple[int, ...] = _NONE_OF_ALL
    unobserved: int = 0
    unobserved_productive: int = 0

    def __post_init__(self) -> None:
        assert len(self.amounts) == len(self.held) == _COUNT, "a ledger has eight categories"
        assert min(self.held) >= 0, "nothing negative"
        assert all(map(le, self.held, self.amounts)), "held ≤ asked"
        assert self.held[Category.WAITING] == 0, "waiting is never held"
        assert self.productive == self.held[Category.PRODUCTIVE], "productive is always held"
        assert 0 <= self.unobserved <= self.asked, "unobserved ≤ asked"
        assert 0 <= self.unobserved_productive <= min(self.unobserved, self.productive), "unobserved productive"

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(
            tuple(a + b for a, b in zip(self.amounts, other.amounts, strict=True)),
            tuple(a + b for a, b in zip(self.held, other.held, strict=True)),
            self.unobserved + other.unobserved,
            self.unobserved_productive + other.unobserved_productive,
        )

    @property
    def asked(self) -> int:
        return sum(self.amounts)

    @property
    def allocated(self) -> int:
        """The GPU time held: all that was on a machine."""
        return sum(self.held)

    @property
    def waiting(self) -> int:
        """All waits for a placement, the first and later ones."""
        return self.asked - self.allocated

    @property
    def productive(self) -> int:
        return self.amounts[Category.PRODUCTIVE]

    @property
    def not_productive(self) -> int:
        return self.allocated - self.productive

    @property
    def lost(self) -> int:
        return self.asked - self.productive

    @property
    def waiting_again(self) -> int:
        """The waits that stand in their cause's category: asked again after a failure, a stall, a preemption."""
        return self.waiting - self.amounts[Category.WAITING]

    @property
    def goodput(self) -> Fraction | None:
        """Productive / held; None when nothing was held."""
        return Fraction(self.productive, self.allocated) if self.allocated else None

    @property
    def unobserved_share(self) -> Fraction | None:
        """The part of goodput that nobody watched: unobserved productive / held; None when it is nothing."""
        if not self.allocated or not self.unobserved_productive:
            return None
        return Fraction(self.unobserved_productive, self.allocated)

    @property
    def biggest_loss(self) -> Category | None:
        """The largest category but productive and waiting, the first of equals; None when all are 0."""
        losses = [c for c in Category if c not in (Category.PRODUCTIVE, Category.WAITING)]
        worst = max(losses, key=lambda c: (self.amounts[c], -c))
        return worst if self.amounts[worst] else None


def together(ledgers: Sequence[Ledger]) -> Ledger:
    """Return the sum of many, column by column: one after the other would make and check a ledger for each."""
    if not ledgers:
        return Ledger()
    return Ledger(
        tuple(map(sum, zip(*(of.amounts for of in ledgers), strict=True))),
        tuple(map(sum, zip(*(of.held for of in ledgers), strict=True))),
        sum(of.unobserved for of in ledgers),
        sum(of.unobserved_productive for of in ledgers),
    )


def rounded(part: int, whole: int) -> int:
    """Return part / whole rounded half to even, as of a Fraction, which a page has too many to make of."""
    quotient, rest = divmod(part, whole)
    return quotient + (2 * rest > whole or (2 * rest == whole and quotient % 2))


def gpu_hours(gpu_us: int, decimals: int) -> str:
    """Return an amount in GPU-hours as text, rounded half to even from the integer: "396167.202000"."""
    scaled = rounded(gpu_us * 10**decimals, GPU_US_PER_HOUR)
    whole, part = divmod(abs(scaled), 10**decimals)
    sign = "-" if scaled < 0 else ""
    return f"{sign}{whole}.{part:0{decimals}d}" if decimals else f"{sign}{whole}"


def percent(ratio: Fraction | None, absent: str = "–") -> str:
    """Return a ratio as whole percent, rounded half to even from the fraction: "88 %"."""
    return absent if ratio is None else f"{round(ratio * 100)} %"
