"""What is left of batches and cells when the edge of what is kept lies in the midst of them."""

from typing import Any

from tests.oracle import type_cell
from tests.worlds import ms

type_cells = dict[type_cell, dict[str, int]]
REFUSED = {"phase": "", "reason": "no reason"}  # what the oracle takes for a refused item: it is named all the same


def without_the_old(batch: dict[str, Any], edge: int) -> dict[str, Any]:
    """Return a batch as it counts when it comes after the edge was moved."""
    states = [item if ms(item["at"]) >= edge else item | REFUSED for item in batch.get("workers", ())]
    readings = [item for item in batch.get("readings", ()) if ms(item["at"]) >= edge]
    complete = bool(batch.get("complete")) and ms(batch["sent_at"]) >= edge
    return batch | {"workers": states, "readings": readings, "complete": complete}


def has_old(batch: dict[str, Any], edge: int) -> bool:
    """Whether anything of it is refused."""
    return any(ms(item["at"]) < edge for listed in ("workers", "readings") for item in batch.get(listed, ()))


def younger(found: type_cells, edge: int) -> type_cells:
    return {key: cell for key, cell in found.items() if key[0] >= edge}
