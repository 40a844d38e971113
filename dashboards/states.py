"""What a run is doing, in one word, and what is known of it."""

from dataclasses import dataclass

from dashboards.numbers import gpus
from ledger.queries import RunRow


@dataclass(frozen=True)
class RunState:
    """`word` is shown as a badge of the kind `kind`: going, waiting, alarm or over."""

    word: str
    kind: str
    detail: str = ""


def state_of(run: RunRow) -> RunState:
    """Return a run's state now."""
    if not run.going:
        return RunState(run.outcome.lower() or "ended", "over")
    if run.stalled:
        return RunState("stalled", "alarm", f"holds {gpus(run.held_milli)}")
    if run.held_milli:
        waits = f", waits for {gpus(run.waiting_milli)}" if run.waiting_milli else ""
        return RunState("going", "going", f"holds {gpus(run.held_milli)}{waits}")
    return RunState("waiting", "waiting", f"waits for {gpus(run.waiting_milli)}")
