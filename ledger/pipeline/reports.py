"""Reports on the wire: what training code says, item by item; one that is wrong is refused, not its batch."""

from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ledger.batches import ReadingItem, Refusal
from ledger.decode import BadBody, refuse_twice, values, wire
from ledger.decode.items import BadValue, Judge

LIST = "batches"
REPORTS_MAX = 20_000
BATCHES_MAX = 10**9
SECONDS_MAX = 1_000_000
_TIMES = ("wall_seconds", "source_seconds", "transform_seconds", "transfer_seconds")


class Report(Struct, forbid_unknown_fields=True):
    """What one worker says: the step it has reached, and what its pipeline took since its last report."""

    worker: str
    at: str
    step: wire.Sample = UNSET
    step_seconds: wire.Sample = UNSET
    doing: wire.Text = UNSET
    batches: int | UnsetType | None = UNSET
    wall_seconds: wire.Number = UNSET
    source_seconds: wire.Number = UNSET
    transform_seconds: wire.Number = UNSET
    transfer_seconds: wire.Number = UNSET


class Body(Struct, forbid_unknown_fields=True):
    """Reports of one run; `sent_at` is when the batch was made."""

    sent_at: str
    batches: list[Raw]


class Took(NamedTuple):
    """What a pipeline took for some batches, in microseconds."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an item
    worker: str
    at: int
    batches: int
    wall_us: int
    source_us: int
    transform_us: int
    transfer_us: int


@dataclass(slots=True)
class Reports:
    """Decoded reports: `sent_at` in ms; the readings and the times that they have; what was refused."""

    sent_at: int
    readings: list[ReadingItem] = field(default_factory=list)
    took: list[Took] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


def decode(body: bytes, run: str) -> Reports:
    """Read a body of reports on the run of that uid. Raises BadBody."""
    try:
        whole = msgspec.json.decode(body, type=Body)
        refuse_twice(body)
    except msgspec.ValidationError as error:
        raise BadBody(400, f"The body is not of the right shape: {error}.") from None
    except (ValueError, RecursionError):
        raise BadBody(400, "The body is not JSON.") from None
    if len(whole.batches) > REPORTS_MAX:
        raise BadBody(413, f"A body has at most {REPORTS_MAX:,} batches; send it in parts.")
    try:
        reports = Reports(values.instant(whole.sent_at))
    except ValueError as error:
        raise BadBody(400, f"sent_at {error}.") from None
    judge = Judge()
    for index, raw in enumerate(whole.batches):
        _take(reports, judge, index, raw, run)
    return reports


def _take(reports: Reports, judge: Judge, index: int, raw: Raw, run: str) -> None:
    try:
        report = msgspec.json.decode(raw, type=Report)
        reading = judge.reading(index, _reading(report, run))
        took = _took(index, report, reading)
    except BadValue as fault:
        reports.refused.append(Refusal(LIST, index, fault.field, fault.error, _plain(raw)))
        return
    except (ValueError, RecursionError) as error:
        reports.refused.append(Refusal(LIST, index, "", f"{error}", _plain(raw)))
        return
    if reading.step is not None:
        reports.readings.append(reading)
    if took is not None:
        reports.took.append(took)


def _plain(raw: Raw) -> object:
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return bytes(raw).decode(errors="replace")[:1000]


def _reading(report: Report, run: str) -> wire.Reading:
    step = {"step": report.step, "step_seconds": report.step_seconds, "doing": report.doing}
    return wire.Reading(run=run, worker=report.worker, at=report.at, **step)  # type: ignore[arg-type]


def _took(index: int, report: Report, reading: ReadingItem) -> Took | None:
    """Raises BadValue."""
    if report.batches is UNSET or not report.batches:
        return None
    if not 0 < report.batches <= BATCHES_MAX:
        raise BadValue("batches", f"must be an integer from 0 to {BATCHES_MAX}")
    times = []
    for name in _TIMES:
        seconds = getattr(report, name)
        value = 0 if seconds is UNSET or seconds is None else seconds
        if not 0 <= value <= SECONDS_MAX:
            raise BadValue(name, f"must be seconds from 0 to {SECONDS_MAX}")
        times.append(round(value * 1_000_000))
    return Took(index, reading.worker, reading.at, report.batches, *times)
