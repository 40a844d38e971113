"""Whether a run reached what it was to reach: its least goodput by the ledger, and the thresholds of its log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dashboards.numbers import share
from ledger.core.totals import Ledger
from ledger.queries import RunRow

PENDING = "pending"


@dataclass(frozen=True)
class Verdict:
    """`outcome` is pass, fail, no data, or pending until the run is over; `value` is what it came to, "" unknown."""

    outcome: str
    figure: str
    value: str
    expression: str

    @property
    def kind(self) -> str:
        return self.outcome.replace(" ", "-")


def verdicts(run: RunRow, whole: Ledger | None, log: Mapping[str, Any] | None) -> Iterator[Verdict]:
    """Yield one for each threshold; `whole` is all of the run where that is known, `log` what its measurement says."""
    if run.min_goodput_milli is not None:
        value = "" if whole is None else share(whole.productive, whole.allocated)
        yield Verdict(run.verdict or PENDING, "goodput", value, f"at least {share(run.min_goodput_milli, 1000)}")
    for one in log["thresholds"] if log else ():
        value = "" if one["value"] is None else f"{float(one['value']):.2f}"
        yield Verdict(one["outcome"], f"{one['figure']} by its log", value, one["expression"])
