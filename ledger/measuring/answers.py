"""What a run's measurement says now, and its freezing when the run is over."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from django.db import transaction
from django.db.models import Max, Sum

from ledger import sql
from ledger.logs.picture import picture
from ledger.logs.profiles import BadProfile
from ledger.logs.status import FORMULA, NOT_FOUND, condition, is_failed, measure, status
from ledger.logs.terms import Attempt, Fold
from ledger.logs.thresholds import judged
from ledger.measuring.folds import folded, forget, whole
from ledger.measuring.profiles import matcher_of
from ledger.models import LogStream, Measurement, Run

KIND = "GoodputMeasurement"
API_VERSION = "goodput/v1"
FOLDS_KEPT = 64


class Key(NamedTuple):
    """All that a fold depends on; `windows` counts what was stored."""

    run: int
    begun: datetime
    windows: int
    profile: str
    version: int
    known: tuple[tuple[int, Attempt], ...]


@dataclass(frozen=True, slots=True)
class End:
    """When a run ended by its source, ms, and how; None while it goes on."""

    at: int | None
    outcome: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A measurement as it is answered: the bytes of the document, the same read, and what a page draws of it."""

    text: str
    document: dict[str, Any]
    picture: dict[str, Any]


def end_of(run: int) -> End:
    """Return the run's own end: the one its source says, else when the last that was counted of it ended."""
    said, outcome = Run.objects.values_list("ended_at", "outcome").get(pk=run)
    counted = sql.value("run_end", run=run)
    if said is not None:
        return End(ms_of(said), outcome)
    return End(None if counted is None else int(counted), outcome)


def answer(run: int, now: int) -> Answered | None:
    """Return what the measurement says at `now` (ms); None: the run has none. It is frozen here when that is due."""
    measurement = Measurement.objects.filter(run=run).first()
    if measurement is None:
        return None
    if measurement.frozen is None and due(measurement, end_of(run), now):
        measurement = freeze(run, now)
    if measurement.frozen is not None:
        return Answered(measurement.frozen, msgspec.json.decode(measurement.frozen), measurement.picture or {})
    return _compute(measurement, end_of(run), now)


def due(measurement: Measurement, end: End, now: int) -> bool:
    """One last read is waited for: what the log's reader sends within a sample interval after the end.

    Of a run that was over before its measurement began, whose log is brought in later, after the last that was sent.
    """
    if end.at is None:
        return False
    last = end.at
    if ms_of(measurement.created_at) > end.at:
        last = max(last, ms_of(measurement.touched_at))
    return now >= last + measurement.sample_interval_seconds * 1_000


def ms_of(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000)


def freeze(run: int, now: int) -> Measurement:
    """Freeze a measurement whose run is over, once and for ever, and return it."""
    with transaction.atomic():
        measurement = Measurement.objects.select_for_update(no_key=True).get(run=run)
        end = end_of(run)
        if measurement.frozen is None and end.at is not None:
            found = _compute(measurement, end, now, final=True)
            measurement.frozen, measurement.picture = found.text, found.picture
            measurement.frozen_at = sql.rows("clock_time")[0][0]
            measurement.save(update_fields=["frozen", "picture", "frozen_at"])
            forget(run)
        return measurement


def freeze_due(now: int, limit: int = 100) -> int:
    """Freeze what is due, the oldest first; return how many."""
    found = 0
    waiting = Measurement.objects.filter(frozen=None).order_by("created_at", "pk")
    for run in waiting.values_list("run", flat=True)[:5_000]:
        measurement = Measurement.objects.filter(run=run).first()
        if measurement is not None and due(measurement, end_of(run), now):
            freeze(run, now)
            found += 1
            if found >= limit:
                break
    return found


def _compute(measurement: Measurement, end: End, now: int, final: bool = False) -> Answered:
    ended = end.at is not None
    read = _read_of(measurement)
    spec, drawn = _spec(measurement), dict[str, Any]()
    if measurement.document is None:
        why = f"there is no log profile {measurement.profile}"
        told: dict[str, Any] = {
            "conditions": [condition("Measuring", False, NOT_FOUND, why), condition("Complete", ended, NOT_FOUND, why)]
        }
    else:
        try:
            matcher_of(measurement.document)
        except BadProfile as error:  # a document from before a rule that it breaks
            return _document(
                measurement,
                spec,
                {"conditions": [condition("Measuring", False, NOT_FOUND, str(error))]},
                {},
                read,
                final,
            )
        known = known_of(measurement.run_id)
        until = end.at if end.at is not None else now
        key = Key(
            measurement.run_id, measurement.created_at, measurement.windows, measurement.profile, measurement.version,
            tuple(sorted(known.items())),
        )  # fmt: skip
        found = whole(measurement.run_id, matcher_of(measurement.document).profile, known) if final else _folded(key)
        measured = measure(found, known, until * 1_000, ended and is_failed(end.outcome))
        told = status(measured, ended, end.outcome)
        drawn = picture(measured)
    return _document(measurement, spec, told, drawn, read, final, ended)


def _document(
    measurement: Measurement, spec: dict[str, Any], told: dict[str, Any], drawn: dict[str, Any], read: dict[str, int],
    final: bool, ended: bool = False,
) -> Answered:  # fmt: skip
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "spec": spec,
        "status": told,
        "provisional": not final,
        "formula": FORMULA,
        "thresholds": judged(measurement.thresholds, told, ended),
        "read": read,
    }
    return Answered(msgspec.json.encode(document).decode(), document, drawn)


def _spec(measurement: Measurement) -> dict[str, Any]:
    run = measurement.run
    return {
        "jobRef": {"name": run.name, "uid": run.uid},
        "logProfileRef": {"name": measurement.profile, "version": measurement.version},
        "sampleInterval": measurement.sample_interval_seconds,
        "thresholds": measurement.thresholds,
    }


def _read_of(measurement: Measurement) -> dict[str, int]:
    sums = LogStream.objects.filter(measurement=measurement).aggregate(
        lines=Sum("lines"), bytes=Sum("octets"), dropped=Sum("dropped")
    )
    return {name: int(value or 0) for name, value in sums.items()}


@lru_cache(maxsize=FOLDS_KEPT)
def _folded(key: Key) -> Fold:
    """Return the fold of a run's events, which is another one only when the key is, so it is kept a while."""
    measurement = Measurement.objects.get(run=key.run)
    assert measurement.document is not None, "asked before"
    return folded(key.run, matcher_of(measurement.document).profile, dict(key.known))


def known_of(run: int) -> dict[int, Attempt]:
    """Return when each attempt of the run began and ended by its source, and its logs' last times and lines."""
    known = {number: Attempt(began, ended) for number, began, ended in sql.rows("run_attempts", run=run)}
    rows = LogStream.objects.filter(measurement=run).values_list("attempt")
    for attempt, last, lines in rows.annotate(last=Max("last_at"), read=Sum("lines")).order_by("attempt"):
        before = known.get(attempt, Attempt())
        known[attempt] = Attempt(before.began, before.ended, last, lines)
    return known
