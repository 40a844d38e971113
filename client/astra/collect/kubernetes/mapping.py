"""From a cluster's objects to observations. Pure but for what it remembers: no clock, no network.

Objects are taken one by one or as whole lists (`put`, `drop`, `replace`); `changes` says what is new since it was last
asked, `everything` the state of all that lives. Facts carry the objects' own times; where an object has none, the
instant at which it was seen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from astra.collect.items import Item
from astra.collect.kubernetes import gpus, raw
from astra.collect.kubernetes.context import Context, Queue, queue_of
from astra.collect.kubernetes.jobs import Job, job_of
from astra.collect.kubernetes.logged import profile_of
from astra.collect.kubernetes.memory import Memory
from astra.collect.kubernetes.nodes import POOL_LABELS, Fleet, Node, node_of
from astra.collect.kubernetes.owners import READ, Top, attempts_before, position, top_of_job, top_of_pod
from astra.collect.kubernetes.pods import Pod, pod_of
from astra.collect.kubernetes.raw import BadObject, Raw
from astra.collect.kubernetes.runs import Run
from astra.collect.kubernetes.wording import machine_item, run_item, state_item

log = logging.getLogger("astra.collect")

POD, NODE, WORKLOAD, CLAIM = "Pod", "Node", "Workload", "ResourceClaim"
BAD_SAID_MAX = 1_000
KEPT_MS = 3_600_000


class Said(NamedTuple):
    """Items to send; every run that a state mentions stands in `runs`."""

    machines: tuple[Item, ...]
    runs: tuple[Item, ...]
    workers: tuple[Item, ...]


class Mapping:
    """A cluster as it was last seen. `workspace` names a namespace's workspace."""

    def __init__(
        self,
        *,
        pool_labels: Iterable[str] = POOL_LABELS,
        resources: Iterable[str] = (),
        user_labels: Iterable[str] = (),
        workspace: Callable[[str], str] = str,
        memory: Memory | None = None,
    ) -> None:
        self.more = frozenset(resources)
        self.user_labels = tuple(user_labels)
        self.workspace = workspace
        self.memory = memory or Memory()
        self.fleet = Fleet(pool_labels)
        self.jobs: dict[str, Job] = {}
        self.trainjobs: dict[tuple[str, str], str] = {}
        self.parts: dict[str, dict[str, Job]] = {}
        self.queues: dict[str, Queue] = {}
        self.claims: dict[tuple[str, str], int] = {}
        self.objects: dict[str, dict[str, tuple[str, str]]] = {}
        self.runs: dict[str, Run] = {}
        self.run_of: dict[str, str] = {}
        self.on_node: dict[str, set[str]] = {}
        self.node_of: dict[str, str] = {}
        self.synced: set[str] = set()
        self.dirty: set[str] = set()
        self.machines: dict[str, Item] = {}
        self.new_machines: dict[str, Item] = {}
        self.bad: set[str] = set()
        self.bad_count = 0
        self.leaving: dict[str, int] = {}
        self.started = False

    def replace(self, kind: str, objects: Iterable[Raw], at: int, last_sight: int | None = None) -> None:
        """Take a complete list of a kind; what is known and not in it was deleted unseen since `last_sight`."""
        self.replace_in(kind, "", objects, at, last_sight)
        self.synced.add(kind)

    def replace_in(
        self, kind: str, namespace: str, objects: Iterable[Raw], at: int, last_sight: int | None = None
    ) -> None:
        """Take a complete list of one namespace ("" = all)."""
        listed: set[str] = set()
        for of in sorted(objects, key=lambda one: raw.text(one, "metadata", "creationTimestamp")):
            listed.add(raw.text(of, "metadata", "uid"))
            self.put(kind, of, at)
        for uid, (space, _) in list(self.objects.get(kind, {}).items()):
            if uid not in listed and namespace in ("", space):
                self._gone(kind, uid, at if last_sight is None else last_sight)

    def unread(self, kind: str) -> None:
        """The kind cannot be listed (any more): what is not there says nothing."""
        self.synced.discard(kind)

    def put(self, kind: str, of: Raw, at: int) -> None:
        """Take an object as it is now. One that is not as it should be is said once and left out."""
        try:
            self._put(kind, of, at)
        except (BadObject, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            self.bad_count += 1
            said = f"{kind} {raw.text(of, 'metadata', 'namespace')}/{raw.text(of, 'metadata', 'name')}: {error}"
            if said not in self.bad and len(self.bad) < BAD_SAID_MAX:
                self.bad.add(said)
                log.warning("An object cannot be read and is left out: %s", said)

    def drop(self, kind: str, of: Raw, at: int) -> None:
        """Take an object's last state; its deletion was seen at this instant."""
        self.put(kind, of, at)
        self._gone(kind, raw.text(of, "metadata", "uid"), at)

    def _put(self, kind: str, of: Raw, at: int) -> None:
        if kind == POD:
            self._put_pod(pod_of(of, self.more), at)
        elif kind == NODE:
            self._put_node(node_of(of, self.fleet.pool_labels, self.more))
        elif kind == WORKLOAD:
            self._put_queue(queue_of(of))
        elif kind == CLAIM:
            self._put_claim(of)
        else:
            self._put_job(job_of(kind, of, self.more), at)
        meta = raw.mapping(of, "metadata")
        self.objects.setdefault(kind, {})[raw.text(meta, "uid")] = (raw.text(meta, "namespace"), raw.text(meta, "name"))

    def _put_pod(self, pod: Pod, at: int) -> None:
        if pod.claims:
            devices = sum(self.claims.get((pod.meta.namespace, name), 0) for name in pod.claims)
            pod = _with_claims(pod, devices)
        uid = self.run_of.get(pod.meta.uid)
        run = self.runs.get(uid) if uid else None
        if run is None:
            run = self._run(top_of_pod(pod, self.jobs.get, self._trainjob))
            self.run_of[pod.meta.uid] = run.top.uid
        if pod.node and self.node_of.get(pod.meta.uid) != pod.node:
            self.node_of[pod.meta.uid] = pod.node
            self.on_node.setdefault(pod.node, set()).add(pod.meta.uid)
        run.take(pod, position(pod, run.top), attempts_before(pod), at)
        self.dirty.add(run.top.uid)

    def _put_job(self, job: Job, at: int) -> None:
        self.jobs[job.meta.uid] = job
        if job.kind == "TrainJob":
            self.trainjobs[job.meta.namespace, job.meta.name] = job.meta.uid
        top = top_of_job(job, self.jobs.get, self._trainjob)
        run = self._run(top)
        if top.uid != job.meta.uid:
            self.parts.setdefault(top.uid, {})[job.meta.uid] = job
            if (alone := self.runs.pop(job.meta.uid, None)) and alone.tracks:
                run.adopt(alone)
                self.run_of.update({pod: top.uid for pod, of in self.run_of.items() if of == job.meta.uid})
        run.see(at)
        self.dirty.add(top.uid)

    def _run(self, top: Top) -> Run:
        run = self.runs.get(top.uid)
        if run is None:
            run = self.runs[top.uid] = Run(top, self.memory.of(top.uid))
        elif top.job is not None or run.top.job is None:
            run.top = top if top.created is not None else top._replace(created=run.top.created)
        return run

    def _trainjob(self, namespace: str, name: str) -> Job | None:
        return self.jobs.get(self.trainjobs.get((namespace, name), ""))

    def _put_queue(self, queue: Queue) -> None:
        if queue.meta.owner is not None:
            self.queues[queue.meta.owner.uid] = queue
            self._touch_job(queue.meta.owner.uid)

    def _touch_job(self, uid: str) -> None:
        job = self.jobs.get(uid)
        top = top_of_job(job, self.jobs.get, self._trainjob).uid if job else uid
        if top in self.runs:
            self.dirty.add(top)

    def _put_claim(self, of: Raw) -> None:
        key = (raw.text(of, "metadata", "namespace"), raw.text(of, "metadata", "name"))
        self.claims[key] = gpus.claimed(of)[1]

    def _put_node(self, node: Node) -> None:
        before = self.fleet.put(node)
        name = node.meta.name
        if before is None or (before.ready, before.since, before.tainted) != (node.ready, node.since, node.tainted):
            self._touch_node(name)
        if node.milli is not None or any(gpus.is_gpu(r, self.more) for r in node.resources):
            self._tell_machine(name, machine_item(node))

    def _touch_node(self, name: str) -> None:
        self.dirty |= {run for pod in self.on_node.get(name, ()) if (run := self.run_of.get(pod)) in self.runs and run}

    def _tell_machine(self, name: str, item: Item) -> None:
        if self.machines.get(name) != item:
            self.machines[name] = self.new_machines[name] = item

    def _gone(self, kind: str, uid: str, at: int) -> None:
        namespace, name = self.objects.get(kind, {}).pop(uid, ("", ""))
        if kind == POD:
            self._pod_gone(uid, at)
        elif kind == NODE and name:
            self.fleet.drop(name, at)
            self._touch_node(name)
            if self.machines.pop(name, None):
                self.new_machines[name] = {"name": name, "gpus": 0, "ready": False}
        elif kind == WORKLOAD:
            for owner in [owner for owner, queue in self.queues.items() if queue.meta.uid == uid]:
                del self.queues[owner]
                self._touch_job(owner)
        elif kind == CLAIM:
            self.claims.pop((namespace, name), None)
        else:
            self._job_gone(uid, at)

    def _pod_gone(self, uid: str, at: int) -> None:
        run = self.runs.get(self.run_of.pop(uid, ""))
        node = self.node_of.pop(uid, "")
        on_node = self.on_node.get(node, set())
        on_node.discard(uid)
        if node and not on_node:
            self.on_node.pop(node, None)
            self.fleet.gone.pop(node, None)
        if run is not None:
            run.lose(uid, at)
            self.dirty.add(run.top.uid)

    def _job_gone(self, uid: str, at: int) -> None:
        job = self.jobs.pop(uid, None)
        if job is None:
            return
        if self.trainjobs.get((job.meta.namespace, job.meta.name)) == uid and job.kind == "TrainJob":
            del self.trainjobs[job.meta.namespace, job.meta.name]
        for top, parts in self.parts.items():
            if parts.pop(uid, None) and top in self.runs:
                self.runs[top].parts_gone.add(uid)
                self.dirty.add(top)
        if uid in self.runs:
            self.runs[uid].gone = at
            self.dirty.add(uid)

    def context(self, run: Run) -> Context:
        """Return what a run's job says now."""
        parts = tuple(self.parts.get(run.top.uid, {}).values())
        queue = self.queues.get(run.top.uid)
        if queue is None:
            queue = next((self.queues[part.meta.uid] for part in parts if part.meta.uid in self.queues), None)
        is_read = run.top.kind in self.synced or run.gone is not None
        return Context(run.top, parts, queue, run.gone, is_read, frozenset(run.parts_gone))

    def changes(self, now: int) -> Said:
        """Return what became true since the last call: states, the labels of their runs, machines."""
        runs: list[Item] = []
        workers: list[Item] = []
        for uid in sorted(self.dirty):
            run = self.runs.get(uid)
            if run is None:
                continue
            context = self.context(run)
            new = run.count(context, self.fleet, now)
            self.memory.put(run.memos())
            item = self._run_item(run, context)
            if new or (run.is_counted and item != run.told):
                runs.append(item)
                run.told = item
            workers += [state_item(uid, name, state) for name, state in new]
            self._let_go(run, context, now)
        self.dirty.clear()
        self._forget(now)
        machines = tuple(self.new_machines.values())
        self.new_machines = {}
        return Said(machines, tuple(runs), tuple(workers))

    def everything(self) -> Said:
        """Return all machines, and of each live worker the state that it is in: a complete list."""
        runs: list[Item] = []
        workers: list[Item] = []
        for uid, run in self.runs.items():
            live = run.live()
            if live:
                runs.append(self._run_item(run, self.context(run)))
                workers += [state_item(uid, name, state) for name, state in live]
        return Said(tuple(self.machines.values()), tuple(runs), tuple(workers))

    def retold(self) -> Said:
        """Return all that was said of what is still followed: for who begins to speak where another spoke."""
        runs = [run for run in self.runs.values() if run.is_counted]
        told = tuple(self._run_item(run, self.context(run)) for run in runs)
        states = (
            state_item(run.top.uid, name, state)
            for run in runs
            for name, track in run.tracks.items()
            for state in track.said
        )
        return Said(tuple(self.machines.values()), told, tuple(states))

    def _run_item(self, run: Run, context: Context) -> Item:
        return run_item(context, self.workspace(run.top.namespace), run.user(self.user_labels), profile_of(run))

    def _let_go(self, run: Run, context: Context, now: int) -> None:
        """Leave a run that is over and has no object any more; who owns it unread may yet make a pod again."""
        uid = run.top.uid
        self.leaving.pop(uid, None)
        if context.asks() or run.pods_left or any(track.is_live for track in run.tracks.values()):
            return
        if uid not in self.jobs and not self.parts.get(uid):
            self.leaving[uid] = now if run.top.kind in READ or run.top.kind == POD else now + KEPT_MS

    def _forget(self, now: int) -> None:
        """Forget what was left long enough ago, and at first what was remembered of runs that are no more."""
        if not self.started:
            self.started = True
            self.leaving |= {uid: now + KEPT_MS for uid in self.memory.memos if uid not in self.runs}
        for uid in [uid for uid, until in self.leaving.items() if until <= now]:
            del self.leaving[uid]
            self.runs.pop(uid, None)
            self.parts.pop(uid, None)
            self.memory.forget(uid)


def _with_claims(pod: Pod, devices: int) -> Pod:

    return replace(pod, demand=(*pod.demand, (gpus.CLAIMED, devices)) if devices else pod.demand)
