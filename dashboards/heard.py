"""The sources of a cluster: who is heard, who has fallen silent, whose list is held back."""

from dataclasses import dataclass
from typing import Any

from dashboards.numbers import grouped
from ledger import queries
from ledger.core.windows import DAY
from ledger.queries import SourceNow

OF_A_RUN = ("logs/", "tracker/")  # they come and go with their run
SHOWN_MAX = 50


@dataclass(frozen=True)
class ShownSource:
    """A source: its newest word and since when it is silent or held back, ms; `workers` as text."""

    name: str
    word_at: int | None
    workers: str
    stale_since: int | None
    held_since: int | None

    @property
    def calls(self) -> bool:
        """Whether somebody should look after it."""
        return self.stale_since is not None or self.held_since is not None


def heard_part(cluster: int, now: int) -> dict[str, Any]:
    """Return the sources that matter now, those that need somebody first."""
    found = [one for one in queries.sources_now([cluster]) if matters(one, now)]
    sources = sorted(map(shown, found), key=lambda source: (not source.calls, source.name))
    return {"shown": sources[:SHOWN_MAX], "more": max(0, len(sources) - SHOWN_MAX)}


def matters(one: SourceNow, now: int) -> bool:
    """Whether a source has live workers, a list that is held back, or spoke within a day."""
    if one.live or one.held_since is not None:
        return True
    return one.word_at is not None and one.word_at > now - DAY and not one.source.startswith(OF_A_RUN)


def shown(one: SourceNow) -> ShownSource:
    return ShownSource(one.source, one.word_at, grouped(str(one.live)), one.stale_since, one.held_since)
