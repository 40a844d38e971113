"""What every part of a run's page is made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from dashboards.filters import PAGE_ROWS, SINCE_EVER, Shown
from dashboards.lanes import natural
from dashboards.pages import Pages
from dashboards.places import Place
from dashboards.verdicts import Verdict, verdicts
from dashboards.zoom import Zoom
from ledger import queries
from ledger.access import Scope
from ledger.core.totals import Ledger
from ledger.queries import Answer, Answered, RunKey, RunRow, RunWorker


@dataclass(frozen=True)
class RunView:
    """A run as it is looked at: by whom (`scope`), in which hours (`shown`), which of them closer (`zoom`).

    `row` are its labels, `answer` its ledger in those hours, `query` the query string, `now` in ms.
    """

    place: Place
    scope: Scope
    run: RunKey
    row: RunRow
    shown: Shown
    zoom: Zoom
    answer: Answer
    query: Mapping[str, str]
    now: int

    @property
    def total(self) -> Ledger:
        return self.answer.total

    @cached_property
    def workers(self) -> list[RunWorker]:
        """All of them now, 2 before 10."""
        return sorted(queries.run_workers(self.run), key=lambda worker: natural(worker.name))

    @cached_property
    def measured(self) -> Answered | None:
        """What its logs say; None when nobody reads them."""
        return queries.measurement(self.run, self.now)

    @property
    def verdicts(self) -> list[Verdict]:
        """Those of its thresholds, with the goodput of the whole run where that is what is looked at."""
        whole = self.total if self.shown.range == SINCE_EVER else None
        return list(verdicts(self.row, whole, self.measured.document if self.measured else None))

    @property
    def pages(self) -> Pages:
        return Pages(len(self.workers), max(self.shown.page, 1), PAGE_ROWS)

    @property
    def attempts(self) -> int:
        return max((worker.attempt for worker in self.workers), default=1)
