"""The clock of a cluster: what posts shares it, what closes an hour stops it; every step begins here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import OperationalError, transaction
from psycopg.errors import DeadlockDetected, SerializationFailure

from ledger import hours, sql, walltime
from ledger.core.facts import Thresholds
from ledger.core.windows import HOUR, oldest_kept

WORDS_SPACE = 0x60DA  # the first key of the advisory locks of what is covered by words
Result = TypeVar("Result")
TRIES = 8


@dataclass(frozen=True, slots=True)
class Clock:
    """A cluster as it was read after its lock was taken; instants in ms. Nothing before `kept_from` is kept."""

    cluster: int
    organization: int
    now: int
    open_hour: int
    first_hour: int
    final_to: int
    checked_to: int
    thresholds: Thresholds
    auto_workspaces: bool
    kept_from: int

    @property
    def edge(self) -> int:
        """The UTC midnight before which nothing is taken: the one that pruning has come to, or that it will come to."""
        return max(self.kept_from, oldest_kept(self.now))


def post(cluster: int, now: int | None, step: Callable[[Clock], Result]) -> Result:
    """Run `step` in one transaction under the cluster's shared clock, after closing what hours are over.

    `now` (ms) stands for the database's clock where it is given. A step that lost a deadlock is run again from
    the start: every step is idempotent.
    """
    for attempt in range(TRIES):
        try:
            return _post(cluster, now, step)
        except OperationalError as error:
            if attempt == TRIES - 1 or not isinstance(error.__cause__, DeadlockDetected | SerializationFailure):
                raise
    raise AssertionError("unreachable: the last try returns or raises")


def _post(cluster: int, now: int | None, step: Callable[[Clock], Result]) -> Result:
    while True:
        hours.close_over(cluster, now)
        with transaction.atomic():
            sql.rows("clock_share", space=hours.CLOCK_SPACE, cluster=cluster)
            clock = read(cluster, now)
            if clock.now < clock.open_hour + HOUR:
                return step(clock)


def barrier(cluster: int, now: int | None) -> Clock:
    """Read the clock when nothing that posts is under way: whatever posts later has a `now` that is not before it."""
    with transaction.atomic():
        sql.rows("clock_stop", space=hours.CLOCK_SPACE, cluster=cluster)
        return read(cluster, now)


def read(cluster: int, now: int | None) -> Clock:
    """Read the cluster's clock and settings. Raises LookupError when there is no such cluster."""
    found = sql.rows("clock_read", cluster=cluster)
    if not found:
        raise LookupError(f"there is no cluster {cluster}")
    clock, counted, open_hour, first_hour, final_to, checked_to, busy, stall, carry, auto, organization, kept = found[0]
    return Clock(
        cluster=cluster,
        organization=organization,
        now=walltime.now(clock, counted, now),
        open_hour=open_hour,
        first_hour=first_hour,
        final_to=final_to,
        checked_to=checked_to,
        thresholds=Thresholds(busy, stall, carry),
        auto_workspaces=auto,
        kept_from=kept,
    )
