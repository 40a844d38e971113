"""What agents write of a world, and when: events as they see them, and in order words, readings and complete lists."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.simulation.world import MINUTE, SECOND, Life, World
from tests.worlds import iso

type_batch = dict[str, Any]
type_written = tuple[int, type_batch]
AFTERWARDS = 15 * MINUTE


@dataclass
class Agent:
    """One source. `ordered` is sent one after the other, `loose` in any order; both as (written at, batch)."""

    world: World
    source: str
    rng: Random
    ordered: list[type_written] = field(default_factory=list)
    loose: list[type_written] = field(default_factory=list)
    lists: list[tuple[int, set[tuple[str, str]]]] = field(default_factory=list)

    @property
    def lives(self) -> list[Life]:
        return [life for life in self.world.lives if life.source == self.source]

    def write(self) -> None:
        """Write all that it will ever send."""
        beats = self._beats()
        self._list(beats)
        for life in self.lives:
            self._settle(life)
        self._events()
        listed = dict(self.lists)
        before = self.world.start - 1
        for at in beats:
            readings = [
                self._reading(life, one) for life in self.lives for one in life.samples if before < one.at <= at
            ]
            readings.sort(key=lambda item: item["at"])
            batch = self._batch(at, readings=readings)
            if at in listed:
                batch |= {"complete": True, "workers": [self._last(life, at) for life in self._listed(listed[at])]}
            self.ordered.append((at, batch))
            before = at

    def _beats(self) -> list[int]:
        """A word now and then, often later than words carry; none while the source is away."""
        beats, at = [], self.world.start
        while at < self.world.end + AFTERWARDS:
            for begin, end in self.world.outages[self.source]:
                at = end if begin <= at < end else at
            beats.append(at)
            at += self.rng.choice((2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 9 * MINUTE)) + self.rng.randint(0, 3) * SECOND
        return [*beats, at, at + MINUTE]

    def _list(self, beats: list[int]) -> None:
        if self.rng.random() < 0.3:
            return
        for at in beats[:: self.rng.choice((2, 3))] + beats[-2:]:
            present = {life.name for life in self.lives if self._lives(life, at)}
            if not any(at == told for told, _ in self.lists):
                self.lists.append((at, present))
        empty = self.rng.randint(1, max(1, len(self.lists) - 3))
        if (
            all(life.vanished is None for life in self.lives)
            and len(self.lists) > empty + 2
            and self.rng.random() < 0.5
        ):
            self.lists[empty] = (self.lists[empty][0], set())
            self.world.marks.add("a list comes back empty")

    def _lives(self, life: Life, at: int) -> bool:
        told = [facts for moment, facts in life.states if moment <= at]
        gone = life.vanished is not None and life.vanished <= at
        return bool(told) and not gone and not any(facts.get("phase") == "ended" for facts in told)

    def _listed(self, present: set[tuple[str, str]]) -> list[Life]:
        return [life for life in self.lives if life.name in present]

    def _settle(self, life: Life) -> None:
        """Who vanished without ever having been listed would never be missed: it says that it ends."""
        if life.vanished is not None and not any(life.name in present for _, present in self.lists):
            life.states.append((life.vanished, {"phase": "ended"}))
            life.vanished = None

    def last_seen(self, life: Life) -> int:
        """Return when one that vanished was last proven to be there."""
        proofs = [at for at, present in self.lists if life.name in present]
        return max(proofs[-1], life.states[-1][0])

    def _events(self) -> None:
        """Each change of a worker, soon after it happened or when the source is back; sometimes several in a batch."""
        waiting: list[tuple[Life, int, dict[str, Any]]] = []
        events = sorted(
            (at, life.run, life.worker, number) for life in self.lives for number, (at, _) in enumerate(life.states)
        )
        by_name = {life.name: life for life in self.lives}
        for at, run, worker, number in events:
            waiting.append((by_name[run, worker], at, by_name[run, worker].states[number][1]))
            if self.rng.random() < 0.6 or at == events[-1][0]:
                written = at + self.rng.choice((0, 1, 20 * SECOND))
                for begin, end in self.world.outages[self.source]:
                    written = end + 1 if begin <= written < end else written
                items = [self._item(life, moment, facts) for life, moment, facts in waiting]
                self.rng.shuffle(items)
                self.loose.append((written, self._batch(written, workers=items)))
                waiting = []

    def _batch(self, at: int, **lists: Any) -> type_batch:
        envelope = {"source": self.source, "sent_at": iso(at), "machines": self.world.machines, "runs": self.world.runs}
        return envelope | lists

    def _item(self, life: Life, at: int, facts: dict[str, Any]) -> dict[str, Any]:
        return {"run": life.run, "worker": life.worker, "at": iso(at), **facts}

    def _last(self, life: Life, at: int) -> dict[str, Any]:
        """A list tells the last phase again."""
        moment, facts = [one for one in life.states if one[0] <= at and "phase" in one[1]][-1]
        return self._item(life, moment, facts)

    def _reading(self, life: Life, sample: Any) -> dict[str, Any]:
        said = {"gpu_busy": sample.busy, "step": sample.step}
        if sample.step is not None:
            said |= {"step_seconds": self.world.step_seconds, "doing": sample.doing or None}
        return self._item(life, sample.at, {key: value for key, value in said.items() if value is not None})
