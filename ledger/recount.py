"""Count workers again from the instant their facts changed: facts → spans → cells, within the caller's transaction.

The caller holds the cluster's clock; the runs of the workers are locked here, where they are not yet.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ledger import evidence, sql
from ledger.clock import WORDS_SPACE, Clock
from ledger.core.facts import FOREVER, covers, opened
from ledger.core.postings import LINES, Postings
from ledger.core.spans import Span, Watch, remake, spans_of, until
from ledger.core.stalls import gang_of
from ledger.core.timeline import Folded, Stretch, fold
from ledger.core.windows import DAY, floor_day, rolled_to
from ledger.evidence import Known


def recount(clock: Clock, dirty: Mapping[int, int], *, cells: bool = True) -> int:
    """Count again each worker of `dirty` (id → since when, ms), with its gang where that matters; return how many.

    Without `cells` only the spans are remade, for a caller that makes the cells from them.
    """
    if not dirty:
        return 0
    sql.rows("runs_lock_of", workers=sorted(dirty))
    sql.rows("words_share", space=WORDS_SPACE, cluster=clock.cluster)
    sinces, gangs = _reach(clock, dirty)
    known = evidence.load(sinces)
    folds = {worker: fold(each.base, each.states, each.gones) for worker, each in known.items()}
    words = evidence.words(clock.cluster, min(sinces.values()), clock.now)
    watch = Watch(words, evidence.rules(clock.cluster, clock.now))
    members: dict[int, list[Known]] = defaultdict(list)
    for each in known.values():
        members[each.run].append(each)
    gang = {run: gang_of([(folds[each.worker][0], each.left) for each in members[run]]) for run in gangs}
    postings = Postings(clock.open_hour)
    changes = _Changes()
    for worker, each in known.items():
        stretches, afters = folds[worker]
        left = replace(each.left, covered=opened(each.left.covered, clock.now))
        spans = spans_of(stretches, left, watch._replace(gang=gang.get(each.run, ())), each.since)
        begun, due = until(spans, clock.now)
        removed, added = remake(each.spans, begun, each.since)
        postings.post(each.run, -1, removed, each.since)
        postings.post(each.run, 1, added, each.since)
        changes.note(
            each, removed, added, afters, _current(stretches, clock.now), due, covers(left.covered[-1:], clock.now)
        )
    changes.write(clock.cluster)
    if cells:
        post(clock, postings.net())
    return len(known)


def _reach(clock: Clock, dirty: Mapping[int, int]) -> tuple[dict[int, int], set[int]]:
    """Return how far back each worker has to be counted, gangs included, and the runs of those gangs.

    Never over the edge: what lies before it is as it was when the edge was moved.
    """
    workers = sorted(dirty)
    sinces: dict[int, int] = {}
    gangs: dict[int, int] = {}
    rows = sql.rows(
        "recount_reach", workers=workers, sinces=[dirty[worker] for worker in workers], checked=clock.checked_to
    )
    for worker, run, has_stalls, reach in rows:
        since = sinces[worker] = max(reach, clock.kept_from)
        if has_stalls:
            gangs[run] = min(since, gangs.get(run, since))
    if gangs:
        for run, worker in sql.rows("recount_gangs", runs=sorted(gangs)):
            sinces[worker] = gangs[run]
    return sinces, set(gangs)


def _current(stretches: Sequence[Stretch], now: int) -> Folded:
    return next((s.folded for s in stretches if s.since <= now < s.to), stretches[0].folded)


class _Changes:
    """The rows that a count changes, collected so that each table is written once."""

    def __init__(self) -> None:
        self.states: list[tuple[object, ...]] = []
        self.workers: list[tuple[object, ...]] = []
        self.deleted: list[tuple[int, int]] = []
        self.updated: list[tuple[object, ...]] = []
        self.inserted: list[tuple[object, ...]] = []

    def note(
        self,
        each: Known,
        removed: Iterable[Span],
        added: Iterable[Span],
        afters: Sequence[Folded],
        current: Folded,
        due: int,
        covered: bool,
    ) -> None:
        old = {span.since for span in removed}
        new = {span.since for span in added}
        self.deleted += [(each.worker, since) for since in sorted(old - new)]
        for span in added:
            (self.updated if span.since in old else self.inserted).append((each.worker, *_columns(span)))
        for state, stored, after in zip(each.states, each.folded, afters, strict=True):
            if stored != list(after):
                key = (each.worker, state.at, state.attempt or 0, int(state.phase), state.content)
                self.states.append((*key, json.dumps(after)))
        watched = covered and current.stay_since is not None
        counted = (int(current.phase), current.stay_since, None if due == FOREVER else due, watched)
        if counted != each.counted:
            self.workers.append((each.worker, *counted))

    def write(self, cluster: int) -> None:
        names = "workers sinces untils categories unobserved gpus machines pools attempts sources"
        _store("states_fold", self.states, "workers ats attempts phases contents folded")
        _store("workers_fold", self.workers, "workers phases stays due watched")
        _store("spans_delete", self.deleted, "workers sinces")
        _store("spans_update", self.updated, names)
        _store("spans_insert", self.inserted, names, cluster=cluster)


def _columns(span: Span) -> tuple[object, ...]:
    end = None if span.to == FOREVER else span.to
    return (span.since, end, int(span.category), *span[3:])


def _store(statement: str, rows: Sequence[tuple[object, ...]], names: str, **rest: object) -> None:
    if rows:
        columns = {name: list(column) for name, column in zip(names.split(), zip(*rows, strict=True), strict=True)}
        sql.run(statement, **columns, **rest)


def post(clock: Clock, postings: Postings) -> None:
    """Add net postings to the open cells and the closed hours, and mark what roll-ups and finality they touch."""
    _post_open(clock.cluster, postings)
    _post_closed(clock, postings)


def _post_open(cluster: int, postings: Postings) -> None:
    if not postings.rates:
        return
    cells = list(postings.rates)
    keys = _keys(cells)
    sql.run("cell_make", cluster=cluster, **keys)
    amounts = {f"g_{line}": [postings.rates[c][i] for c in cells] for i, line in enumerate(LINES)}
    amounts |= {f"a_{line}": [postings.offsets[c][i] for c in cells] for i, line in enumerate(LINES)}
    touched = sql.run("cell_post", cluster=cluster, **keys, **amounts)
    assert touched == len(cells), "each posting finds its open cell"


def _keys(cells: Iterable[tuple[int, int, int]]) -> dict[str, list[int]]:
    runs, machines, pools = zip(*cells, strict=True)
    return {"runs": list(runs), "machines": list(machines), "pools": list(pools)}


def _post_closed(clock: Clock, postings: Postings) -> None:
    if not postings.closed:
        return
    hours = [hour for hour, _ in postings.closed]
    where = {
        "cluster": clock.cluster,
        "hours": hours,
        "first": hours[0],
        "last": hours[-1],
        **_keys(cell for _, cell in postings.closed),
    }
    sql.run(
        "hour_post",
        **where,
        **{line: [a[i] for a in postings.closed.values()] for i, line in enumerate(LINES)},
    )
    sql.run("hour_sweep", **where)
    touched = sorted(set(hours))
    days = {floor_day(hour): None for hour in touched if hour < rolled_to(clock.open_hour)}
    if days:
        sql.run("day_dirty", cluster=clock.cluster, days=list(days))
    if today := [hour for hour in touched if floor_day(hour) + DAY > clock.open_hour]:
        sql.run("hour_dirty", cluster=clock.cluster, hours=today)
    revised = [hour for hour in touched if clock.first_hour <= hour < clock.final_to]
    if revised:
        sql.run("hour_revise", cluster=clock.cluster, hours=revised, now=clock.now)
