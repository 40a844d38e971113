"""Numbers as people read them. Amounts are integer GPU-microseconds; nothing here rounds twice."""

from fractions import Fraction

from ledger.core.costs import money as in_currency
from ledger.core.totals import GPU_US_PER_HOUR, rounded

ABSENT = "–"
THIN_SPACE = "\u202f"
MINUS = "−"


def grouped(text: str) -> str:
    """Put thin spaces between the thousands of a plain decimal: "1204.5" → "1 204.5"."""
    whole, point, part = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return sign + f"{int(digits):,}".replace(",", THIN_SPACE) + point + part


def hours(gpu_us: int) -> str:
    """Return an amount in GPU-hours with one decimal."""
    return decimal_of(gpu_us * 10, GPU_US_PER_HOUR)


def money(amount: int) -> str:
    """Return an amount of money (GPU-microseconds × price) with two decimals, without its currency: "1 204.50"."""
    cents = round(in_currency(amount) * 100)
    return grouped(f"{cents // 100}.{cents % 100:02d}")


def gpus(gpus_milli: int) -> str:
    """Return milli-GPUs as GPUs, with no more decimals than they have: "1 GPU", "0.142 GPUs"."""
    whole, part = divmod(gpus_milli, 1000)
    return grouped(f"{whole}.{part:03d}".rstrip("0").rstrip(".")) + (" GPU" if gpus_milli == 1000 else " GPUs")


def share(part: int, whole: int) -> str:
    """Return part / whole in percent with one decimal, absent when there is no whole."""
    return f"{decimal_of(part * 1000, whole)} %" if whole else ABSENT


def decimal(value: Fraction) -> str:
    """Return a number with one decimal, rounded half to even from the fraction."""
    return decimal_of(value.numerator * 10, value.denominator)


def decimal_of(part: int, whole: int) -> str:
    """Return part / whole, which is a number of tenths, with one decimal and thin spaces between its thousands."""
    tenths = rounded(part, whole)
    if tenths < 0:
        return "-" + decimal_of(-tenths, 1)
    if tenths < 10_000:  # a page has thousands of these
        return f"{tenths // 10}.{tenths % 10}"
    return f"{tenths // 10:,}.{tenths % 10}".replace(",", THIN_SPACE)


def signed(value: Fraction) -> str:
    """Return a difference with its sign, also when it is nothing: "+3.1", "−0.4", "±0.0"."""
    text = decimal(abs(value))
    if text == "0.0":
        return "±0.0"
    return ("+" if value > 0 else MINUS) + text


def points(now: Fraction | None, before: Fraction | None) -> str | None:
    """Return the difference of two ratios in points; None when either is absent."""
    return None if now is None or before is None else f"{signed((now - before) * 100)} points"


def relative(now: int, before: int) -> str | None:
    """Return how much more or less `now` is than `before`; None when there is nothing to compare with.

    In percent, and from ten times on as what multiple it is: "+25.1 %", "151-fold".
    """
    if not before:
        return None
    if now >= 10 * before:
        return f"{grouped(str(now // before))}-fold"
    return f"{signed(Fraction((now - before) * 100, before))} %"
