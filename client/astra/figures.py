"""Figures, instants and names as people read them; amounts are integers and rounded once, here."""

from __future__ import annotations

from fractions import Fraction

GPU_US_PER_HOUR = 3_600_000_000
ABSENT = "-"


def hours(gpu_us: int) -> str:
    """Return GPU-microseconds as GPU-hours with one decimal, rounded half to even."""
    tenths = round(Fraction(gpu_us * 10, GPU_US_PER_HOUR))
    return f"{tenths // 10}.{tenths % 10}"


def percent(part: int, whole: int) -> str:
    """Return part / whole in whole percent, rounded half to even; absent when there is no whole."""
    return f"{round(Fraction(part * 100, whole))}%" if whole else ABSENT


def share(part: int, whole: int) -> str:
    """Return part / whole as `percent` does, but what is not nothing never as 0%."""
    return "less than 1%" if 0 < part * 100 < whole else percent(part, whole)


def gpus(number: float) -> str:
    """Return a number of GPUs with no more decimals than it has."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def tenth(number: float) -> str:
    """Return a number of GPUs to a tenth, for what is an estimate of how many."""
    return gpus(round(round(number * 1000), -2) / 1000)


def seconds(number: float) -> str:
    """Return the seconds of a step with the digits that matter: 0.85, 1.25, 12.3, 340."""
    return f"{number:.3g}" if number < 100 else str(int(number))


def minute(instant: str) -> str:
    """Return an instant of the interface, always UTC, to the minute that has begun."""
    return instant[:16].replace("T", " ")


def plain(name: str) -> str:
    """Return a name with whatever could steer a terminal, or turn the direction of writing, spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
