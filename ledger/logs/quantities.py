"""Numbers that logs print: steps, durations, rates. Each becomes an integer of millionths, exactly."""

import re
from decimal import Decimal
from fractions import Fraction

STEP_MAX = 2**53 - 1
MILLIONTHS_MAX = 10**18
UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)


def millionths(text: str, scale: int = 1_000_000) -> int | None:
    """Return a number times `scale`, rounded half to even; None for what is none, negative, or out of bounds."""
    if text.isascii() and text.isdecimal() and len(text) <= 12:
        return int(text) * scale
    whole, _, part = text.partition(".")
    if len(text) <= 18 and text.isascii() and whole.isdecimal() and part.isdecimal():
        return rounded(int(whole + part) * scale, 10 ** len(part))
    if not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    if value and not -30 <= value.adjusted() <= 18:
        return None if value.adjusted() > 0 else 0
    found = round(Fraction(value) * scale)
    return found if 0 <= found <= MILLIONTHS_MAX else None


def rounded(value: int, divisor: int) -> int:
    """Return a quotient rounded half to even, as round() does it with a fraction."""
    whole, rest = divmod(value, divisor)
    return whole + (2 * rest > divisor or (2 * rest == divisor and whole % 2 == 1))


def step_of(text: str) -> int | None:
    """Return a step: an integer, also one in scientific notation; None for what is none."""
    if text.isascii() and text.isdecimal():
        return int(text) if len(text) <= 16 and int(text) <= STEP_MAX else None
    found = millionths(text, 1)
    return found if found is not None and found <= STEP_MAX and Decimal(text) == found else None


def fixed(value: Fraction | int) -> str:
    """Return a number with 6 decimals, rounded half to even; it may be negative."""
    sign, micro = ("-", -round(value * 1_000_000)) if value < 0 else ("", round(value * 1_000_000))
    return f"{sign if micro else ''}{micro // 1_000_000}.{micro % 1_000_000:06d}"


def seconds(us: int) -> str:
    """Return µs as seconds with 6 decimals."""
    return fixed(Fraction(us, 1_000_000))
