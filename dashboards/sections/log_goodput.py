"""Log goodput beside the ledger's: its terms, its steps over time, what it must reach."""

from fractions import Fraction
from typing import Any

from dashboards.logs import duration, pace, steps, waterfall
from dashboards.numbers import grouped, share
from dashboards.sections.view import RunView
from ledger.core import parts

MICRO = 1_000_000


def part(view: RunView) -> dict[str, Any] | None:
    """Return what the run's logs say; None when nobody reads them."""
    found = view.measured
    if found is None:
        return None
    document, drawn = found.document, found.picture
    status, profile = document["status"], document["spec"]["logProfileRef"]
    result = status.get("result")
    return {
        "result": share(round(Fraction(result) * MICRO), MICRO) if result is not None else "–",
        "provisional": document["provisional"],
        "missing": "" if result is not None else missing(status),
        "profile": profile,
        "profile_address": f"{view.place.log_profiles}/{parts.part(profile['name'])}",
        "falls": waterfall(drawn) if drawn else [],
        "steps": steps(drawn),
        "pace": pace(drawn),
        "start": ms(drawn.get("start")),
        "end": ms(drawn.get("end")),
        "figures": list(figures(status)),
        "breaks": [(ms(at), step) for at, step in drawn.get("breaks", ())[:20]],
        "read": document["read"],
        "formula": document["formula"],
    }


def missing(status: dict[str, Any]) -> str:
    """Return why there is no result: what the status says, else what is waited for."""
    said: str = status["conditions"][-1]["message"]
    if said:
        return said
    if not status.get("stepLines"):
        return "no line matched trainingStep yet"
    return "no line has said yet when it was printed"


def ms(at: int | None) -> int | None:
    return None if at is None else at // 1_000


def figures(status: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the figures beside the terms, those that there are."""
    found = [
        ("step now", whole(status.get("currentStep"))),
        ("highest step", whole(status.get("highestStep"))),
        ("last checkpoint", whole(status.get("lastCheckpointStep"))),
        ("interruptions", whole(status.get("interruptionCount"))),
        ("a step takes", seconds(status.get("avgStepTimeSec"))),
        ("TFLOP/s a GPU", rounded(status.get("avgTFLOPSPerGPU"))),
        ("bus bandwidth, GB/s", rounded(status.get("busBandwidthGBps"))),
        ("network", status.get("networkTransport", "")),
        ("clocks disagree by", seconds(status.get("skewSec")) if Fraction(status.get("skewSec", "0")) else ""),
    ]
    return [(name, value) for name, value in found if value]


def whole(value: int | None) -> str:
    return "" if value is None else grouped(str(value))


def rounded(value: str | None) -> str:
    return "" if value is None else grouped(f"{round(Fraction(value) * 10) / 10:.1f}")


def seconds(value: str | None) -> str:
    return "" if value is None else duration(round(Fraction(value) * MICRO))
