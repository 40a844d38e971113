"""Hear the word of a source: the union of what its words cover, and whose time was counted as unobserved before."""

from ledger import sql
from ledger.batches import Batch
from ledger.clock import WORDS_SPACE, Clock
from ledger.core.facts import Range, union
from ledger.naming import SourceRow


def hear(clock: Clock, batch: Batch, source: SourceRow) -> dict[int, int]:
    """Store the batch's word and return {worker id: the instant from which its time changed}."""
    lower = batch.sent_at if batch.seen_from is None else min(batch.seen_from, batch.sent_at)
    upper = batch.sent_at + clock.thresholds.carry_max
    old = sql.rows("words_take", source=source.id, lower=lower, upper=upper)
    ((joined_lower, joined_upper),) = union([(lower, upper), *old])
    sql.run("words_put", source=source.id, lower=joined_lower, upper=joined_upper)
    sql.run("source_heard", source=source.id, at=batch.sent_at, now=clock.now)
    gaps = [gap for gap in _gaps((lower, upper), old) if gap[0] <= clock.now]
    if gaps:
        sql.rows("words_stop", space=WORDS_SPACE, cluster=clock.cluster)
    dirty: dict[int, int] = {}
    for begin, end in gaps:
        for (worker,) in sql.rows("words_watch", source=source.id, lower=begin, upper=min(end, clock.now + 1)):
            dirty[worker] = min(begin, dirty.get(worker, begin))
    return dirty


def _gaps(word: Range, old: list[tuple[int, int]]) -> list[Range]:
    """Return the parts of a word that no earlier word covered."""
    gaps = []
    at = word[0]
    for lower, upper in sorted(old):
        if lower > at:
            gaps.append((at, min(lower, word[1])))
        at = max(at, upper)
    if at < word[1]:
        gaps.append((at, word[1]))
    return gaps
