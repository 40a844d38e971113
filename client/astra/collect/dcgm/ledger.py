"""Asks the ledger who holds which GPUs now."""

from __future__ import annotations

import time
from urllib.parse import quote

from astra.asking import Asking, Trouble
from astra.collect.dcgm.whose import Holder, Holders

FRESH_SECONDS = 20.0
PAGE = "5000"
NOT_FOUND = 404


class HoldersNow:
    """The holders of a cluster, asked anew when they are older than a third of a minute.

    While the ledger is away the last answer stands: who held GPUs then mostly does still, and a reading of one that
    does not is a reading of nobody.
    """

    def __init__(self, asking: Asking, cluster: str) -> None:
        self.asking, self.cluster = asking, cluster
        self.found: Holders | None = None
        self.trouble = ""
        self.asked = 0.0

    def get(self) -> Holders:
        """Return the holders. Raises Trouble while there never was an answer."""
        if self.found is None or time.monotonic() - self.asked > FRESH_SECONDS:
            try:
                self.found, self.trouble = self._asked(), ""
                self.asked = time.monotonic()
            except Trouble as trouble:
                self.trouble = str(trouble)
                if self.found is None:
                    raise
        return self.found

    def _asked(self) -> Holders:
        path = f"clusters/{quote(self.cluster, safe='')}/workers"
        try:
            first = self.asking.document(path, {"limit": PAGE})
        except Trouble as trouble:
            if trouble.status != NOT_FOUND:
                raise
            raise Trouble(
                f"{self.asking.base} has no cluster {self.cluster!r} that this token may write to: check --cluster, or "
                "make it with `manage.py create_cluster`.",
                status=NOT_FOUND,
            ) from None
        pages = [first, *self.asking.following(path, first)]
        return Holders(
            Holder(
                one["run"], one["worker"], one["machine"], one["gpus"], one.get("pod") or "",
                frozenset(one.get("devices") or ()),
            )
            for page in pages
            for one in page["workers"]
        )  # fmt: skip
