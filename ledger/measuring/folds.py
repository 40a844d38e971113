"""The fold of a run's logs, gone on with from where one was kept, so that a read costs what is new."""

import zlib
from collections.abc import Iterable
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from types import ModuleType

import msgspec

from ledger import sql
from ledger.logs import checkpoints, events, kept, order, series, terms
from ledger.logs.events import Event
from ledger.logs.kept import HELD, Kept
from ledger.logs.order import Late, Log, Part, parts_of
from ledger.logs.profiles import Profile
from ledger.logs.streams import rules_of
from ledger.logs.terms import Attempt, Fold
from ledger.measuring.packing import unpacked
from ledger.models import LogFold, LogStream

Known = dict[int, Attempt]
Chunk = tuple[int, int, bytes]  # its number, its first line, its events


def form_of(*modules: ModuleType) -> str:
    """Return what changes whenever the code does: a fold of other code may be another one."""
    code = b"".join(Path(module.__file__ or "").read_bytes() for module in modules)
    return blake2b(code, digest_size=16).hexdigest()


FORM = form_of(checkpoints, events, kept, order, series, terms)


def folded(run: int, profile: Profile, known: Known) -> Fold:
    """Return the fold of all that was stored of a run's logs, and keep it when much of it is new."""
    before = load(run)
    if before is not None:
        try:
            return gone_on(run, before, profile, known)
        except Late:
            pass
    fresh = Kept(Fold(rules_of(profile)), parts_of(profile.strategy, logs_of(run, 0)))
    return finished(run, fresh, known, taken_whole(fresh, known))


def whole(run: int, profile: Profile, known: Known) -> Fold:
    """Return the same from the first line on, whatever was kept."""
    fresh = Kept(Fold(rules_of(profile)), parts_of(profile.strategy, logs_of(run, 0)))
    taken_whole(fresh, known)
    fresh.go_on(known)
    return fresh.fold


def gone_on(run: int, before: Kept, profile: Profile, known: Known) -> Fold:
    before.follow(parts_of(profile.strategy, logs_of(run, before.fold.attempt)), known)
    new = chunks_after(before)
    for part in of(before):
        part.add(events_of(new.get(part.log, [])))
    return finished(run, before, known, before.go_on(known, HELD))


def finished(run: int, now: Kept, known: Known, taken: int) -> Fold:
    if taken >= HELD:
        keep(run, now)
    now.go_on(known)
    return now.fold


def taken_whole(fresh: Kept, known: Known) -> int:
    """Take all chunks but the newest rows, a few at a time where their lines have numbers; return how many rows."""
    new = chunks_after(fresh)
    return fresh.go_on(known, HELD, lambda part: part.rows(events_of(new.get(part.log, []))))


def logs_of(run: int, attempt: int) -> list[Log]:
    """Return the logs of an attempt and of those after it."""
    found = LogStream.objects.filter(measurement=run, attempt__gte=attempt).order_by("attempt", "pk")
    return [Log(*row) for row in found.values_list("pk", "attempt", "worker", "numbered")]


def of(now: Kept) -> list[Part]:
    return [part for parts in now.parts.values() for part in parts]


def chunks_after(now: Kept) -> dict[int, list[Chunk]]:
    """Return by log what was stored since it was read, and remember that it is read."""
    parts = {part.log: part for part in of(now)}
    found: dict[int, list[Chunk]] = {}
    rows = sql.rows("log_chunks", logs=list(parts), after=[part.chunk for part in parts.values()])
    for log, number, first, packed in rows:
        found.setdefault(log, []).append((number, first, packed))
        parts[log].chunk = max(parts[log].chunk, number)
    return found


def events_of(chunks: Iterable[Chunk]) -> Iterable[Event]:
    """Yield the events of a log in the order of its lines."""
    return chain.from_iterable(unpacked(packed, first) for _, first, packed in chunks)


def load(run: int) -> Kept | None:
    found = LogFold.objects.filter(measurement=run, form=FORM).values_list("packed", flat=True).first()
    return None if found is None else msgspec.msgpack.decode(zlib.decompress(found), type=Kept)


def keep(run: int, now: Kept) -> None:
    sql.run("log_fold_keep", run=run, form=FORM, packed=zlib.compress(msgspec.msgpack.encode(now), 1))


def forget(run: int) -> None:
    LogFold.objects.filter(measurement=run).delete()
