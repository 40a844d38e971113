"""Who is slower than its gang now, a line a worker: which, where, by how much, and what that costs its gang."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from dashboards.numbers import gpus
from ledger import queries
from ledger.access import Scope
from ledger.queries import History, StragglingWorker

LIMIT = 100
LINES_MAX = 5


@dataclass(frozen=True)
class Line:
    """A straggler, and how often its machine was one's before."""

    worker: StragglingWorker
    history: History | None

    @property
    def key(self) -> str:
        """The same over refreshes, and fit to be an id."""
        said = f"{self.worker.workspace}\0{self.worker.uid}\0{self.worker.worker}"
        return sha256(said.encode()).hexdigest()[:12]

    @property
    def slower(self) -> str:
        """Say how slow it is or how far behind, whichever makes it a straggler."""
        return slower(self.worker.slower_milli, self.worker.behind)

    @property
    def steps(self) -> str:
        return beside(self.worker.step_ms, self.worker.gang_ms)

    @property
    def cost(self) -> str:
        """Say how many GPUs wait for it, to a tenth, of how many; "" when it is as good as none."""
        waiting = round(self.worker.cost_milli, -2)
        return f"{gpus(waiting)} of {gpus(self.worker.gang_milli)} wait for it" if waiting else ""

    @property
    def before(self) -> str:
        """Say how often its machine had a straggler, "" when this is the first time."""
        if self.history is None or self.history.straggled < 2:
            return ""
        return f"straggled in {self.history.straggled} of its last {self.history.runs} runs"


@dataclass(frozen=True)
class Straggling:
    """All stragglers now. `more`: there are yet more than could be listed."""

    lines: tuple[Line, ...]
    more: bool

    @property
    def shown(self) -> tuple[Line, ...]:
        return self.lines[:LINES_MAX]

    @property
    def rest(self) -> tuple[Line, ...]:
        return self.lines[LINES_MAX:]


def straggling(scope: Scope, run: int = 0) -> Straggling:
    """Return the stragglers of a scope, or of one run of it; two queries, one when there are none."""
    found = queries.stragglers_now(scope, limit=LIMIT, run=run)
    history = queries.straggle_history(scope, (worker.machine for worker in found))
    return Straggling(tuple(lines(found, history)), len(found) >= LIMIT)


def lines(found: Iterable[StragglingWorker], history: dict[str, History]) -> Iterable[Line]:
    for worker in found:
        yield Line(worker, history.get(worker.machine))


def slower(milli: int, behind: int) -> str:
    """Say by how much a worker is slower than its gang, in thousandths, and how many steps it is behind."""
    times = f"{milli / 1000:.2f}".rstrip("0").rstrip(".")
    steps = f"{behind:,} step{'' if behind == 1 else 's'} behind" if behind else ""
    return " and ".join(filter(None, [f"{times} × its gang" if milli > 1000 else "", steps]))


def beside(step_ms: int, gang_ms: int) -> str:
    return f"{seconds(step_ms)} a step beside {seconds(gang_ms)}"


def seconds(ms: int) -> str:
    """Say a step time: 850 ms, 1.25 s, 12.3 s, 340 s."""
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:.3g} s" if ms < 100_000 else f"{ms // 1000:,} s"
