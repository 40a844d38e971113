"""Take a complete list: whom it names, whom it lacks, and who has been lacking long enough to be gone."""

from typing import NamedTuple

from ledger import sql
from ledger.batches import Batch
from ledger.naming import Names, SourceRow

GONE_AFTER = 30_000
MASS_OF = 10
HOLD = 900_000


class Listed(NamedTuple):
    """A worker as a source's lists have it so far; instants in ms."""

    missing_since: int | None
    proof: int | None
    stored: bool
    lives: bool


def take_list(batch: Batch, names: Names) -> dict[int, int]:
    """Count a complete list, in order, and return {worker id: the instant from which its time changed}."""
    source = names.source
    if batch.sent_at <= max(source.list_at or -1, source.held_since or -1):
        return {}
    known = {row[0]: Listed(*row[1:]) for row in sql.rows("list_read", source=source.id)}
    named = {names.workers[names.runs[run], worker].id for run, worker in batch.named if run in names.runs}
    lacking = {worker: listed for worker, listed in known.items() if worker not in named}
    if _put_aside(known, lacking, source, batch.sent_at):
        held = source.held_since or batch.sent_at
        _advance(source, source.list_at, held)
        return {}
    back = {w for w in named if w not in known or known[w].missing_since is not None}
    if back:
        sql.run("list_named", source=source.id, workers=sorted(back))
    gone = _missing(lacking, source, batch.sent_at)
    _advance(source, batch.sent_at, None)
    return gone


def _advance(source: SourceRow, list_at: int | None, held_since: int | None) -> None:
    confirmed = source.confirmed and held_since is not None
    sql.run("source_listed", source=source.id, list_at=list_at, held_since=held_since, confirmed=confirmed)


def _put_aside(known: dict[int, Listed], lacking: dict[int, Listed], source: SourceRow, at: int) -> bool:
    """A list that lacks more than half of ten or more live workers counts only after it was agreed to for long."""
    live = sum(1 for listed in known.values() if listed.lives and listed.missing_since is None)
    lost = sum(1 for listed in lacking.values() if listed.lives and listed.missing_since is None)
    if live < MASS_OF or 2 * lost <= live:
        return False
    agreed = source.held_since is not None and at - source.held_since >= HOLD
    return not (agreed or source.confirmed)


def _missing(lacking: dict[int, Listed], source: SourceRow, at: int) -> dict[int, int]:
    """Begin or go on with the rows of lists that lack a worker, and store the fact once in each row."""
    new = sorted(worker for worker, listed in lacking.items() if listed.missing_since is None)
    since = source.held_since or at
    proof = source.list_at
    assert proof is not None or not lacking, "a list that named a worker was counted"
    if new:
        sql.run("list_missing", source=source.id, workers=new, at=since, proof=proof)
    rows = dict.fromkeys(new, (since, proof))
    rows |= {w: (x.missing_since, x.proof) for w, x in lacking.items() if x.missing_since and not x.stored}
    gone = {w: row for w, row in rows.items() if row[0] is not None and at - row[0] >= GONE_AFTER}
    if not gone:
        return {}
    workers = sorted(gone)
    missing, proofs = [gone[w][0] for w in workers], [gone[w][1] for w in workers]
    sql.run("gone_insert", source=source.id, workers=workers, at=at, missing=missing, proofs=proofs)
    sql.run("list_stored", source=source.id, workers=workers)
    return {worker: int(row[1] or 0) for worker, row in gone.items()}
