"""The minute's look at who is slower than its gang. It moves no time; twice, or not for a day, is safe."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from django.db import transaction

from ledger import clock, sql
from ledger.core.stragglers import Found, Member, Suspect, confirmed, stragglers
from ledger.models import Cluster


class Looked(NamedTuple):
    """How many workers were found to be stragglers at this moment, and how many of them are ones for long enough."""

    found: int
    confirmed: int


def look(cluster: Cluster, *, now: int | None = None) -> Looked:
    """Compare the workers of every running gang; `now` (ms) stands for the database's clock.

    A worker whose last sample is older than readings carry is not judged.
    """
    with transaction.atomic():
        at = clock.read(cluster.pk, now)
        open_ = {worker: Suspect(*rest) for worker, *rest in sql.rows("straggle_open", cluster=at.cluster)}
        found = {one.worker: one for one in _found(at.cluster, at.now - at.thresholds.carry_max, cluster)}
        _begin([one for one in found.values() if one.worker not in open_])
        again = [(found[worker], suspect) for worker, suspect in open_.items() if worker in found]
        known = [(one, confirmed(suspect, one.at)) for one, suspect in again]
        _go_on(known)
        over = sorted(open_.keys() - found.keys())
        if over:
            sql.run("straggle_end", workers=over, now=at.now)
    return Looked(len(found), sum(sure for _, sure in known))


def _found(cluster: int, fresh: int, settings: Cluster) -> Iterable[Found]:
    rows = sql.rows("straggle_gangs", cluster=cluster, fresh=fresh)
    for _, gang in groupby(rows, key=lambda row: row[0]):
        yield from stragglers((Member(*row[1:]) for row in gang), settings.straggler_milli)


def _columns(found: Iterable[Found]) -> dict[str, list[int]]:
    workers, ats, steps, gangs, behind = (list(column) for column in zip(*found, strict=True))
    return {"workers": workers, "ats": ats, "steps": steps, "gangs": gangs, "behind": behind}


def _begin(found: list[Found]) -> None:
    if found:
        sql.run("straggle_begin", **_columns(found))


def _go_on(known: list[tuple[Found, bool]]) -> None:
    if known:
        sql.run("straggle_go_on", **_columns(one for one, _ in known), confirmed=[sure for _, sure in known])
