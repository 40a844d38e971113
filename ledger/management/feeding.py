"""Sends batches the way the interface does, and keeps count of what became of their items."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ledger import sql
from ledger.batches import Batch, Receipt
from ledger.categorizer import categorize
from ledger.ingest import ingest
from ledger.management.progress import Advance
from ledger.models import Cluster


@dataclass
class Tally:
    """Items by what became of them; `reasons`: why, for the refused ones."""

    accepted: int = 0
    duplicate: int = 0
    late: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, receipt: Receipt) -> None:
        self.accepted += receipt.accepted
        self.duplicate += receipt.duplicate
        self.late += receipt.late
        self.refused += len(receipt.refused)
        self.reasons.update(f"{r.list}: {r.field}: {r.error}" for r in receipt.refused)

    def lines(self) -> list[str]:
        """Return what a person should read of it."""
        counts = (
            f"{self.accepted:,} items accepted, {self.duplicate:,} duplicate, {self.late:,} late, "
            f"{self.refused:,} refused"
        )
        return [counts, *(f"  refused {count:,}: {reason}" for reason, count in self.reasons.most_common(20))]


def feed(cluster: Cluster, batches: Iterable[tuple[int, Batch]], advance: Advance, now: int | None = None) -> Tally:
    """Take each (how many, batch), one transaction a batch, and roll up what came.

    `now` (ms) stands for the database's clock.
    """
    tally = Tally()
    for many, batch in batches:
        tally.add(ingest(cluster, batch, now=now))
        advance(many)
    sql.execute("analyze_loaded")
    categorize(cluster, now=now)
    return tally
