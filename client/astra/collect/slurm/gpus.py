"""GPUs as Slurm writes them, in thousandths of a card: TRES ("gres/gpu:a100=16") and GRES ("gpu:a100:8(IDX:0-7)")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

CARD = 1000
SLICE = re.compile(r"(?<![0-9])([0-9])g\.([0-9]+)gb", re.IGNORECASE)
SLICES_OF_CARD = 7
QUARTERS = frozenset({"1g.6gb", "2g.12gb", "4g.24gb", "1g.24gb", "2g.48gb", "4g.96gb"})  # cards cut in four
TRES = re.compile(r"gres/gpu(?::(?P<type>[^=,]+))?=(?P<count>[0-9]+)")
GRES = re.compile(r"(?<![\w.])gpu(?:[:=](?P<type>[^:=,()]*[A-Za-z][^:=,()]*))?[:=](?P<count>[0-9]+)")


class Kind(NamedTuple):
    """So many GPUs of a type; the type None counts all of them, typed ones included."""

    type: str | None
    number: int


def of_tres(text: str | None) -> int:
    """Return the GPUs of "billing=2,cpu=2,gres/gpu:a100=16,gres/gpu=16": both name the same cards."""
    found = TRES.finditer(text or "")
    return milli(Kind(match["type"], int(match["count"])) for match in found)


def of_gres(text: str | None) -> int:
    """Return the GPUs of "gpu:a100:8(IDX:0-7)", "gres:gpu:8", "gres/gpu:8" or "gpu:a100:2(S:0),gpu:h100:2(S:1)"."""
    found = GRES.finditer(text or "")
    return milli(Kind(match["type"], int(match["count"])) for match in found)


def of_list(trackable: Iterable[object]) -> int:
    """Return the GPUs of a TRES list in JSON: [{"type": "gres", "name": "gpu:a100", "count": 16}, …]."""
    kinds = []
    for each in trackable:
        if not isinstance(each, dict) or each.get("type") != "gres" or not isinstance(each.get("count"), int):
            continue
        name, _, kind = str(each.get("name") or "").partition(":")
        if name == "gpu":
            kinds.append(Kind(kind or None, each["count"]))
    return milli(kinds)


def milli(kinds: Iterable[Kind]) -> int:
    """Add up kinds: typed ones are a part of the count without a type, where there is one."""
    told = list(kinds)
    typed = [kind for kind in told if kind.type is not None]
    whole = sum(kind.number for kind in told if kind.type is None)
    untyped = max(0, whole - sum(kind.number for kind in typed))
    return untyped * CARD + sum(kind.number * share(kind.type or "") for kind in typed)


def share(kind: str) -> int:
    """Return how much of a card one of this type is: a slice "1g.5gb" is a seventh, rounded down."""
    found = SLICE.search(kind)
    if found is None:
        return CARD
    parts = 4 if found[0].lower() in QUARTERS else SLICES_OF_CARD
    return min(CARD, CARD * int(found[1]) // parts)


def split(total: int, places: int) -> tuple[int, ...]:
    """Share GPUs out over nodes, whole cards where they are whole, the first ones taking what is left."""
    if places <= 0:
        return ()
    unit = CARD if total % CARD == 0 else 1
    each, left = divmod(total // unit, places)
    return tuple((each + (place < left)) * unit for place in range(places))


def on_nodes(total: int, told: Sequence[int], places: int) -> tuple[int, ...]:
    """Return the GPUs of each node: as told when that names each node and adds up, else shared out."""
    return tuple(told) if len(told) == places and sum(told) == total else split(total, places)
