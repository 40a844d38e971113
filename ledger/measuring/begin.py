"""Begin a run's measurement, and say what it must reach."""

from contextlib import suppress
from dataclasses import dataclass

from django.db import transaction

from ledger.logs.thresholds import check
from ledger.measuring.profiles import find
from ledger.models import Measurement, Run

SAMPLE_SECONDS_MAX = 3_600


class Conflict(ValueError):
    """A change that comes too late; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a run's measurement; None = as it is."""

    profile: str | None = None
    sample_seconds: int | None = None
    thresholds: dict[str, str] | None = None


def begin(run: int, wish: Wish) -> Measurement:
    """Make or change a run's measurement; the same again changes nothing.

    A profile that is not there yet is looked for again until lines come. Raises Conflict when lines were read by
    another profile or the measurement is frozen, BadThreshold, and LookupError when no profile was ever named.
    """
    thresholds = None if wish.thresholds is None else check(wish.thresholds)
    with transaction.atomic():
        of = Run.objects.select_related("cluster").get(pk=run)
        if wish.profile is not None:
            Measurement.objects.bulk_create([Measurement(run=of, profile=wish.profile)], ignore_conflicts=True)
        measurement = Measurement.objects.select_for_update(no_key=True).filter(run=run).first()
        if measurement is None:
            raise LookupError("The run has no measurement; name a log profile.")
        before = _said(measurement)
        if wish.profile is not None and measurement.windows == 0 and measurement.frozen is None:
            measurement.profile = wish.profile
        elif wish.profile is not None and wish.profile != measurement.profile:
            raise Conflict(f"The run's log was read by {measurement.profile}, and a measurement keeps its profile.")
        if measurement.document is None or measurement.windows == 0:
            found = find([of.cluster.organization_id], measurement.profile)
            measurement.document = None if found is None else found.document
            measurement.version = 0 if found is None else found.version
        measurement.sample_interval_seconds = wish.sample_seconds or measurement.sample_interval_seconds
        measurement.thresholds = measurement.thresholds if thresholds is None else thresholds
        if _said(measurement) != before:
            if measurement.frozen is not None:
                raise Conflict("The run is over and its measurement frozen.")
            measurement.save()
        return measurement


def name_profiles(named: dict[int, str]) -> None:
    """Begin the measurements of runs that name a log profile; one that was begun stays as it is."""
    if named:
        begun = Measurement.objects.filter(run__in=named).exclude(document=None).values_list("run", flat=True)
        for run in sorted(set(named) - set(begun)):
            with suppress(Conflict):
                begin(run, Wish(named[run]))


def _said(of: Measurement) -> tuple[object, ...]:
    return of.profile, of.version, of.document, of.sample_interval_seconds, of.thresholds
