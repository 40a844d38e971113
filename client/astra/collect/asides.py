"""What the server would not take: whole batches are kept in a folder, refused items are said once."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from astra.collect.batches import lines_of

log = logging.getLogger("astra.collect")

FILES_MAX = 1_000
SAID_MAX = 10_000


class Asides:
    """The folder `refused` of a spool, and the refusals that were said already."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "refused"
        self.said: set[tuple[str, ...]] = set()
        self.number = 0

    def put(self, batch: dict[str, Any], said: str) -> None:
        """Keep a batch as NDJSON that can be posted again, and say why it was refused."""
        self.number += 1
        name = f"{str(batch['sent_at']).replace(':', '')}-{self.number:04d}.ndjson"
        try:
            self.folder.mkdir(exist_ok=True, mode=0o700)
            for old in sorted(self.folder.glob("*.ndjson"))[: -FILES_MAX + 1]:
                old.unlink()
            (self.folder / name).write_text("".join(f"{line}\n" for line in lines_of(batch)), encoding="utf-8")
        except OSError as error:
            log.error("A batch was refused and could not be kept (%s): %s", error.strerror, said)  # noqa: TRY400
            return
        log.error("A batch was refused and put aside as %s: %s", self.folder / name, said)

    def note(self, batch: dict[str, Any], refused: Sequence[Any]) -> None:
        """Say each refused item once."""
        for fault in refused:
            try:
                item = batch[fault["list"]][fault["index"]]
                what = str(item.get("worker") or item.get("uid") or item.get("name"))
                of = str(item.get("run", ""))
                key: tuple[str, ...] = (str(fault["list"]), of, what, str(fault["field"]), str(fault["error"]))
            except (LookupError, TypeError, AttributeError):
                key = (json.dumps(fault, default=str)[:200],)
            if key not in self.said and len(self.said) < SAID_MAX:
                self.said.add(key)
                log.warning("The server refused an item: %s", " ".join(part for part in key if part))
