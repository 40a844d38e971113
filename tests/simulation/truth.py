"""The truth added up: pieces of lives, cut where their samples turn them, and at each hour. No states, no fold."""

from collections import Counter
from itertools import pairwise

from tests.evidence import FOREVER
from tests.simulation.world import HOUR, RUNNING, Life, World

type_cell = tuple[int, str, str, str]
type_amounts = dict[type_cell, dict[str, int]]


class Truth:
    """What the ledger of a world must be once all has been observed; `ends`: when those who vanished were last seen."""

    def __init__(self, world: World, ends: dict[tuple[str, str], int]) -> None:
        self.world, self.ends = world, ends
        self.stalls = {life.name: list(self._stalls(life)) for life in world.lives}

    def amounts(self, until: int) -> type_amounts:
        """Return {(hour, run, machine, pool): {category: GPU-microseconds}} of the time before `until`."""
        cells: dict[type_cell, Counter[str]] = {}
        for life in self.world.lives:
            for piece in life.pieces:
                end = min(self._end(life, piece.end), until)
                for start, stop in pairwise(self._cuts(life, piece.start, end)):
                    category = piece.category if piece.category != RUNNING else self._running(life, start)
                    cell = (start // HOUR * HOUR, life.run, piece.machine, piece.pool)
                    cells.setdefault(cell, Counter())[category] += piece.gpus_milli * (stop - start)
        return {cell: dict(amounts) for cell, amounts in cells.items() if any(amounts.values())}

    def _end(self, life: Life, end: int) -> int:
        """A life that still goes on at the world's end goes on; one that vanished ended when it was last seen."""
        if life.name in self.ends:
            return min(end, self.ends[life.name])
        return end

    def _cuts(self, life: Life, start: int, end: int) -> list[int]:
        mates = [one for one in self.world.lives if one.run == life.run]
        edges = {start, end, *range((start // HOUR + 1) * HOUR, end, HOUR)}
        edges |= {sample.at for mate in mates for sample in mate.samples}
        edges |= {edge for mate in mates for stay in self._stays(mate) for edge in stay}
        edges |= {edge for mate in mates for stall in self.stalls[mate.name] for edge in stall}
        return sorted(edge for edge in edges if start <= edge <= end) if start < end else []

    def _running(self, life: Life, at: int) -> str:
        if self._hangs(life, at) or self._hangs_with_its_gang(life, at):
            return "stalled"
        told = [sample.busy for sample in life.samples if sample.at <= at and sample.busy not in (None, "N/A")]
        if told:
            return "productive" if told[-1] >= 5 else "idle"
        rules = [rule for rule in self.world.settings.rules if rule.since <= at]
        return rules[-1].unmeasured_as if rules else "productive"

    # --- hanging ---

    def _stalls(self, life: Life) -> list[tuple[int, int]]:
        """Return when its steps stood still within a stay for so long that a sample showed it."""
        told = [sample for sample in life.samples if sample.step is not None]
        steps = [(sample.at, sample.step) for sample in told]
        turns = [told[0].at] if told else []
        for before, sample in pairwise(told):
            excused = before.doing or sample.doing
            self.world.marks |= {"an evaluation between steps"} if excused else set()
            turns += [sample.at] if excused or sample.step != before.step else []
        found = []
        for progress, ahead in pairwise([*turns, FOREVER]):
            for begin, end in self._stays(life):
                over = min(ahead, end)
                if begin <= progress and any(at - progress > self._limit() for at, _ in steps if progress < at < over):
                    found.append((progress, over))
        return found

    def _stays(self, life: Life) -> list[tuple[int, int]]:
        return [(begin, self._end(life, end)) for begin, end in life.stays if begin < self._end(life, end)]

    def _limit(self) -> int:
        return max(self.world.settings.stall_after, int(5_000 * (self.world.step_seconds or 0)))

    def _hangs(self, life: Life, at: int) -> bool:
        return any(begin <= at < end for begin, end in self.stalls[life.name])

    def _hangs_with_its_gang(self, life: Life, at: int) -> bool:
        if self._has_told(life, at):
            return False
        mates = [one for one in self.world.lives if one.run == life.run and self._has_told(one, at)]
        hangs = bool(mates) and all(self._hangs(mate, at) for mate in mates)
        self.world.marks |= {"a gang hangs with its master"} if hangs else set()
        return hangs

    def _has_told(self, life: Life, at: int) -> bool:
        """Whether it runs and has told a step since it does; one soon before and after its begin tell throughout."""
        steps = [sample.at for sample in life.samples if sample.step is not None]
        for begin, end in self._stays(life):
            if begin <= at < end:
                carry = self.world.settings.carry_max
                over = any(a < begin <= b and b - a <= carry for a, b in pairwise(steps))
                return over or any(begin <= step <= at for step in steps)
        return False
