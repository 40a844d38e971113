"""Names that the server knows: whether there is one, and which come nearest to one that there is not."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from astra.asking import Asking
from astra.figures import plain
from astra.questions import DAYS_MAX, ROWS_MAX

DAYS, ROWS = str(DAYS_MAX), str(ROWS_MAX)
NEAREST = 3


def unknown(filters: Mapping[str, str], asking: Asking) -> str:
    """Return a sentence on the first name that is in no ledger at all, "" when all of them are in one."""
    for kind, name in filters.items():
        found = asking.document("goodput", {"by": listed(kind), kind: name, "days": DAYS, "limit": "1"})
        if not found["rows"]:
            return no_such(kind, name, asking)
    return ""


def no_such(kind: str, name: str, asking: Asking) -> str:
    """Return a sentence that says what there is instead."""
    near = nearest(name, names(kind, asking))
    said = f"There is no {kind} {plain(name)} that you may see"
    if near:
        return f"{said}; the nearest names are {', '.join(map(plain, near))}."
    lists = f"--by {listed(kind)} --days {DAYS}{'' if listed(kind) == kind else ' --csv'}"
    return f"{said}, nor one with a name like it: `astra astraeus goodput {lists}` lists what there is."


def listed(kind: str) -> str:
    """Return the grouping whose rows tell the names of a kind: a cluster stands beside its pools."""
    return "pool" if kind == "cluster" else kind


def names(kind: str, asking: Asking, part: str = "") -> list[str]:
    """Return the names of a kind, those that held most first; `part` is text that must be in them."""
    by = listed(kind)
    asked = {"by": by, "days": DAYS, "limit": ROWS, "sort": "-held", **({"q": part} if part and by == kind else {})}
    key = "name" if by == kind else kind
    return list(dict.fromkeys(row[key] for row in asking.document("goodput", asked)["rows"] if row[key]))


def nearest(name: str, among: list[str]) -> list[str]:
    """Return at most three names: those that begin with or contain this one, then those spelled alike."""
    said = name.casefold()
    folded = {known.casefold(): known for known in reversed(among)}
    inside = sorted((known for known in folded if said in known), key=lambda known: (known.index(said), len(known)))
    alike = [known for known in get_close_matches(said, folded, 2 * NEAREST, 0.5) if known not in inside]
    return [folded[known] for known in [*inside, *alike][:NEAREST]]
