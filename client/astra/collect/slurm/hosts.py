"""Slurm's lists of hosts: "node[1-3,7],gpu-a[01-02]-x" names node1, node2, node3, node7, gpu-a01-x, gpu-a02-x."""

from __future__ import annotations

import re
from collections.abc import Iterator

HOSTS_MAX = 65_536
RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
NOBODY = frozenset({"", "None assigned", "(null)", "N/A", "None", "n/a"})


def expand(text: str | None) -> tuple[str, ...]:
    """Return the hosts of a list in its order; () for what names none. Raises ValueError for a list that is none."""
    told = (text or "").strip()
    if told in NOBODY:
        return ()
    found: list[str] = []
    for part in _parts(told):
        for host in _each(part):
            found.append(host)
            if len(found) > HOSTS_MAX:
                raise ValueError(f"names more than {HOSTS_MAX} hosts")
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between the commas outside of brackets."""
    depth = begin = 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    if depth != 0:
        raise ValueError(f"a bracket of {text!r} is not closed")
    yield text[begin:]


def _each(part: str) -> Iterator[str]:
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield before
        return
    inside, _, after = rest.partition("]")
    for number in numbers(inside):
        for end in _each(after):
            yield f"{before}{number}{end}"


def numbers(text: str) -> Iterator[str]:
    """Yield "01", "02", "07" for "01-02,07". Raises ValueError."""
    for part in text.split(","):
        match = RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{part!r} is no range of numbers")
        first, last = match[1], match[2] or match[1]
        if int(last) - int(first) > HOSTS_MAX:
            raise ValueError(f"{part!r} is too wide")
        for number in range(int(first), int(last) + 1):
            yield str(number).zfill(len(first))
