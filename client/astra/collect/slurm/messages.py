"""What a memory has to say: what is new in it, and all that lives."""

from __future__ import annotations

from collections.abc import Mapping

from astra.collect.items import Item, Items
from astra.collect.slurm import telling
from astra.collect.slurm.corrections import corrections
from astra.collect.slurm.mapping import State, Told
from astra.collect.slurm.memory import Memory, Remembered


class Messages:
    """Makes Items of what changed since the last time; `workspaces`: accounts that have another name there."""

    def __init__(self, memory: Memory, workspaces: Mapping[str, str]) -> None:
        self.memory, self.workspaces = memory, workspaces
        self.machines: tuple[Item, ...] = ()

    def news(self, at: int) -> Items | None:
        """Return what is new at the instant `at` (ms), None when nothing is."""
        runs: list[Item] = []
        workers: list[Item] = []
        readings: list[Item] = []

        def take(remembered: Remembered, told: Told) -> None:
            if not told.states:
                return
            item, uid = telling.run_item(told, self.workspaces), told.run.uid
            stale = [state for state in remembered.sent if isinstance(state, State)]
            states = [state for state in told.states if state not in remembered.sent]
            states += [state for state in corrections(stale, told.states) if state not in remembered.sent]
            samples = [sample for sample in told.samples if sample not in remembered.sent]
            remembered.latest = _latest(uid, item, told.states)
            if not states and not samples and tuple(item.items()) == remembered.item:
                return
            remembered.item = tuple(item.items())
            remembered.sent.update(states, samples)
            runs.append(item)
            workers.extend(telling.worker_item(uid, state) for state in states)
            readings.extend(telling.reading_item(uid, sample) for sample in samples)

        self.memory.news(take)
        machines = tuple(telling.machine_items(list(self.memory.nodes.values())))
        fresh = tuple(item for item in machines if item not in self.machines)
        self.machines = machines
        if not (runs or fresh):
            return None
        return Items(telling.moment(at), fresh, tuple(runs), tuple(workers), tuple(readings))

    def whole(self, at: int, *, complete: bool = True) -> Items:
        """Return the list of all that lives at the instant `at` (ms), each with its latest state.

        Not `complete` when a job could not be read: then a worker that it lacks may live all the same.
        """
        found = [each.latest for each in self.memory.alive() if each.latest is not None]
        workers = tuple(state for _, states in found for state in states)
        runs = tuple(item for item, _ in found)
        return Items(telling.moment(at), self.machines, runs, workers, complete=complete)


def _latest(uid: str, item: Item, states: list[State]) -> tuple[Item, list[Item]] | None:
    """Return a run's item with the latest state of each worker that lives, None when none does."""
    last = {state.worker: state for state in states}
    alive = [telling.worker_item(uid, state) for state in last.values() if state.phase != "ended"]
    return (item, alive) if alive else None
