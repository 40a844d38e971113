"""A window of a run's log as it comes in: its progress to the ledger, its events to the measurement."""

from collections.abc import Callable

from ledger.ingest import ingest
from ledger.logs.order import natural
from ledger.measuring import progress
from ledger.measuring.begin import Wish, begin
from ledger.measuring.profiles import matcher_of
from ledger.measuring.windows import BadWindow, Taken, Window, read_window, take_window
from ledger.models import Cluster, Worker

FIRST_WORKER = "worker-0"


def deliver(
    run: int, uid: str, cluster: int, window: Window, profile: str | None, seen_at: int | None, now: int,
    enough: Callable[[], bool] = lambda: False,
) -> Taken:  # fmt: skip
    """Take a window. What the ledger is told comes first: a death in between leaves what is simply sent again.

    Raises BadWindow and Conflict.
    """
    try:
        measurement = begin(run, Wish(profile))
    except LookupError as error:
        raise BadWindow(f"{error}") from None
    if measurement.document is None:
        raise BadWindow(f"There is no log profile {measurement.profile}.")
    found = read_window(matcher_of(measurement.document), window, enough)
    if measurement.frozen is None:
        told = progress.batch(uid, window.worker, found.events, now, seen_at, run)
        if told.readings:
            ingest(Cluster.objects.get(pk=cluster), told)
    return take_window(run, window, found)


def first_worker(run: int) -> str:
    """Return the name of the run's first worker, for a log that says none."""
    names = Worker.objects.filter(run=run).values_list("name", flat=True)
    return min(names, key=natural, default=FIRST_WORKER)
