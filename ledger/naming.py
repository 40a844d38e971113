"""Resolve the names of a batch to rows, making what is named for the first time; locks as it goes, in one order."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ledger import sql
from ledger.batches import Batch, Condition, MachineItem, Refusal, RunItem
from ledger.clock import Clock
from ledger.core.streams import Stream
from ledger.core.windows import floor_hour
from ledger.decode.again import as_sent, condition
from ledger.measuring.begin import name_profiles

NO_POOL_NAME = "none"


class WorkerRow(NamedTuple):
    """A worker with its open stay and its streams; instants in ms."""

    id: int
    run: int
    stay_since: int | None
    stream: Stream


class SourceRow(NamedTuple):
    """A source, locked: its newest word, its last list that counted, and since when lists are put aside; ms."""

    id: int
    name: str
    word_at: int | None
    list_at: int | None
    held_since: int | None
    confirmed: bool


@dataclass(slots=True)
class Names:
    """What the names of a batch mean."""

    source: SourceRow
    runs: dict[str, int] = field(default_factory=dict)
    machines: dict[str, int] = field(default_factory=dict)
    pools: dict[str, int] = field(default_factory=dict)
    workers: dict[tuple[int, str], WorkerRow] = field(default_factory=dict)


def resolve(clock: Clock, batch: Batch, only_workspace: int | None, refused: list[Refusal]) -> Names:
    """Resolve all names of the batch, items refused for a name are added to `refused` and taken out of the batch."""
    source = _source(clock.cluster, batch.source)
    runs = _runs(clock, batch, only_workspace, refused)
    pools = _pools(clock.cluster, batch)
    machines = _machines(clock, batch, pools)
    workers = _workers(clock.cluster, batch, runs)
    return Names(source, runs, machines, pools, workers)


def _runs(clock: Clock, batch: Batch, only: int | None, refused: list[Refusal]) -> dict[str, int]:
    said = {i.run for i in batch.workers} | {i.run for i in batch.readings}
    listed = {run for run, _ in batch.named} if batch.complete else set()
    uids = sorted({item.uid for item in batch.runs} | said | listed)
    if not uids:
        return {}
    found = _lock_runs(clock.cluster, uids)
    new = {item.uid: item for item in batch.runs if item.uid not in found}
    if new:
        _make_runs(clock, new, only, batch, refused)
        found = _lock_runs(clock.cluster, uids)
    runs = {uid: run for uid, (run, workspace) in found.items() if only is None or workspace == only}
    _refuse_unknown(batch, runs, refused)
    _label_runs(batch.runs, runs)
    return runs


def _lock_runs(cluster: int, uids: list[str]) -> dict[str, tuple[int, int]]:
    rows = sql.rows("runs_lock", cluster=cluster, uids=uids)
    return {uid: (run, workspace) for run, uid, workspace, _ in rows}


def _make_runs(clock: Clock, new: dict[str, RunItem], only: int | None, batch: Batch, refused: list[Refusal]) -> None:
    names = sorted({item.workspace for item in new.values() if item.workspace})
    if clock.auto_workspaces and only is None:
        sql.run("workspaces_make", organization=clock.organization, names=names)
    known = dict(sql.rows("workspaces_find", organization=clock.organization, names=names))
    placed: dict[str, int] = {}
    for uid, item in new.items():
        workspace = known.get(item.workspace) if item.workspace else only
        if workspace is None or (only is not None and workspace != only):
            error = "unknown_workspace" if item.workspace else "a run that is new must name its workspace"
            refused.append(Refusal("runs", item.index, "workspace", error, as_sent(item)))
        else:
            placed[uid] = workspace
    batch.runs = [item for item in batch.runs if item.uid in placed or item.uid not in new]
    sql.run("runs_make", cluster=clock.cluster, uids=list(placed), workspaces=list(placed.values()))


def _refuse_unknown(batch: Batch, runs: dict[str, int], refused: list[Refusal]) -> None:
    """What names a run that is not known, or not the token's to write to, is refused alike."""
    for item in batch.runs:
        if item.uid not in runs:
            refused.append(Refusal("runs", item.index, "uid", "unknown_run", as_sent(item)))
    for listed in ("workers", "readings"):
        for item in getattr(batch, listed):
            if item.run not in runs:
                refused.append(Refusal(listed, item.index, "run", "unknown_run", as_sent(item)))
    batch.runs = [item for item in batch.runs if item.uid in runs]
    batch.workers = [item for item in batch.workers if item.run in runs]
    batch.readings = [item for item in batch.readings if item.run in runs]


def _label_runs(items: Iterable[RunItem], runs: dict[str, int]) -> None:
    last = {item.uid: item for item in items}
    if last:
        sql.run(
            "runs_label",
            runs=[runs[uid] for uid in last],
            names=[item.name for item in last.values()],
            kinds=[item.kind for item in last.values()],
            users=[item.user for item in last.values()],
            submitted=[item.submitted_at for item in last.values()],
            ended=[item.ended_at for item in last.values()],
            outcomes=[item.outcome for item in last.values()],
            minima=[item.min_goodput_milli for item in last.values()],
            conditions=[_document(item.conditions) for item in last.values()],
        )
        name_profiles({runs[uid]: item.log_profile for uid, item in last.items() if item.log_profile})


def _document(conditions: tuple[Condition, ...] | None) -> str | None:
    return None if conditions is None else json.dumps([condition(one) for one in conditions])


def _pools(cluster: int, batch: Batch) -> dict[str, int]:
    """Who names the pool "none" names none."""
    named = {i.pool for i in batch.machines if i.pool} | {i.pool for i in batch.workers if i.pool}
    return {"": 0, NO_POOL_NAME: 0, **_find_or_make("pools", cluster, sorted(named - {NO_POOL_NAME}))}


def _machines(clock: Clock, batch: Batch, pools: dict[str, int]) -> dict[str, int]:
    named = {item.name for item in batch.machines} | {item.machine for item in batch.workers if item.machine}
    machines = _find_or_make("machines", clock.cluster, sorted(named))
    if batch.machines:
        _label_machines(clock, batch, machines, pools)
    return machines


def _label_machines(clock: Clock, batch: Batch, machines: dict[str, int], pools: dict[str, int]) -> None:
    """The label takes what was said last, the hour's capacity the largest that was said in it."""
    last: dict[int, MachineItem] = {machines[item.name]: item for item in batch.machines}
    order = sorted(last)
    sql.run(
        "machines_label",
        machines=order,
        pools=[None if last[m].pool is None else pools[last[m].pool or ""] for m in order],
        gpus=[last[m].gpus_milli for m in order],
        ready=[last[m].ready for m in order],
    )
    at = min(batch.sent_at, clock.now)
    sized = [m for m in order if last[m].gpus_milli is not None]
    sql.run("capacity_note", machines=sized, gpus=[last[m].gpus_milli for m in sized], hour=floor_hour(at))
    told = [m for m in order if last[m].ready is not None]
    sql.run("readiness_note", machines=told, ready=[last[m].ready for m in told], at=at)


def _find_or_make(what: str, cluster: int, names: list[str]) -> dict[str, int]:
    if not names:
        return {}
    found = dict(sql.rows(f"{what}_find", cluster=cluster, names=names))
    if len(found) < len(names):
        sql.run(f"{what}_make", cluster=cluster, names=[name for name in names if name not in found])
        found = dict(sql.rows(f"{what}_find", cluster=cluster, names=names))
    return found


def _source(cluster: int, name: str) -> SourceRow:
    found = sql.rows("source_lock", cluster=cluster, name=name)
    if not found:
        sql.run("source_make", cluster=cluster, name=name)
        found = sql.rows("source_lock", cluster=cluster, name=name)
    source, word_at, list_at, held_since, confirmed = found[0]
    return SourceRow(source, name, word_at, list_at, held_since, confirmed)


def _workers(cluster: int, batch: Batch, runs: dict[str, int]) -> dict[tuple[int, str], WorkerRow]:
    keys = {(runs[i.run], i.worker) for i in batch.workers} | {(runs[i.run], i.worker) for i in batch.readings}
    if batch.complete:
        keys |= {(runs[run], worker) for run, worker in batch.named if run in runs}
    wanted = sorted(keys)
    if not wanted:
        return {}
    found = _find_workers(wanted)
    missing = [key for key in wanted if key not in found]
    if missing:
        names = {"runs": [run for run, _ in missing], "names": [name for _, name in missing]}
        sql.run("workers_make", cluster=cluster, **names)
        found |= _find_workers(missing)
    return found


def _find_workers(keys: list[tuple[int, str]]) -> dict[tuple[int, str], WorkerRow]:
    rows = sql.rows("workers_find", runs=[run for run, _ in keys], names=[name for _, name in keys])
    return {(row[0], row[1]): WorkerRow(row[2], row[0], row[3], Stream(*row[4:])) for row in rows}
