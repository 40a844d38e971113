"""Figures as digits, and tables of cells. No figure is ever a float: JSON's numbers are made of digits here."""

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec
from msgspec import Raw

from ledger.core.totals import gpu_hours

DECIMALS = 6
CSV = "text/csv; charset=utf-8; header=present"
Amount = Callable[[int], Raw | str]
Cells = dict[str, str]
FORMULA_STARTS = frozenset("=+-@\t\r\n\0\u2212＝＋－＠")
QUOTES = frozenset("'\"`’‘“”")


def in_hours(gpu_us: int) -> Raw:
    """Return GPU-microseconds as a JSON number of GPU-hours with 6 decimals."""
    return Raw(gpu_hours(gpu_us, DECIMALS).encode())


def in_microseconds(gpu_us: int) -> str:
    """Return GPU-microseconds as a text of digits, which no reader of JSON rounds."""
    return str(gpu_us)


AMOUNTS: dict[str, Amount] = {"gpu_hours": in_hours, "gpu_us": in_microseconds}
UNITS = tuple(AMOUNTS)


def decimals(value: Fraction, places: int) -> str:
    """Return a number as digits, rounded half to even from the fraction: "0.840000", "-1.500000"."""
    scaled = round(value * 10**places)
    whole, part = divmod(abs(scaled), 10**places)
    return f"{'-' if scaled < 0 else ''}{whole}.{part:0{places}d}"


def decimal(value: Fraction) -> Raw:
    """Return a number as a JSON number with 6 decimals."""
    return Raw(decimals(value, DECIMALS).encode())


def seconds(us: int) -> Raw:
    """Return microseconds as a JSON number of seconds with 6 decimals."""
    return decimal(Fraction(us, 1_000_000))


def thousandths(milli: int) -> Raw:
    """Return thousandths as a JSON number with at most 3 decimals: 8, 0.142."""
    return Raw(decimals(Fraction(milli, 1000), 3).rstrip("0").rstrip(".").encode())


def as_json(document: Any) -> bytes:
    """Return a document as JSON; its numbers may be digits already (msgspec.Raw)."""
    return msgspec.json.encode(document)


def cell(value: Any) -> str:
    """Return what JSON says as a cell: text that is no formula, the same digits, "" for null."""
    if isinstance(value, str):
        return harmless(value)
    return "" if value is None else as_json(value).decode()


def table(columns: Sequence[str], lines: Iterable[Mapping[str, str]]) -> str:
    """Return lines of cells as RFC 4180, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([line[column] for column in columns] for line in lines)
    return text.getvalue()


def harmless(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula: with an apostrophe before what would begin one."""
    for character in name:
        if character in FORMULA_STARTS:
            return f"'{name}"
        if not (character.isspace() or character in QUOTES or unicodedata.category(character) == "Cf"):
            break
    return name
