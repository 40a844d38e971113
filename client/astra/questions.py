"""What is asked of the ledgers: a question of the command as an address and its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from astra.asking import Asking, Trouble

ROWS_MAX = 1_000
DAYS_MAX, WEEKS_MAX = 400, 57
GROUPINGS = ("workspace", "run", "machine", "pool", "user")
FILTERS = (*GROUPINGS, "cluster")
SORTS = (
    "name", "held", "productive", "goodput", "lost", "waiting",
    "idle", "stalled", "starting", "restart", "failure", "preemption",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """One `goodput` command; "" and 0 stand for what was not said. Instants are RFC 3339 in UTC."""

    by: str = ""
    days: int = 0
    weeks: int = 0
    start: str = ""
    end: str = ""
    run: str = ""
    workspace: str = ""
    pool: str = ""
    machine: str = ""
    user: str = ""
    cluster: str = ""
    sort: str = ""
    everything: bool = False

    def checked(self) -> Asked:
        """Return the question when its window is said in one way. Raises Trouble."""
        if sum(map(bool, (self.days, self.weeks, self.start or self.end))) > 1:
            raise Trouble("Say either --days, or --weeks, or --start and --end.", code=2)
        if self.end and not self.start:
            raise Trouble("--end needs --start.", code=2)
        if self.end and self.end < self.start:
            raise Trouble(f"--end ({self.end}) must not lie before --start ({self.start}).", code=2)
        return self

    def window(self) -> dict[str, str]:
        """Return the parameters that say which hours; none for what the server takes by itself."""
        said = {"days": self.days and str(self.days), "weeks": self.weeks and str(self.weeks)}
        return {name: text for name, text in {**said, "start": self.start, "end": self.end}.items() if text}

    def filters(self) -> dict[str, str]:
        """Return the exact names that rows must have, by kind."""
        said = {kind: str(getattr(self, kind)) for kind in FILTERS}
        return {kind: name for kind, name in said.items() if name}

    def finds_run(self) -> bool:
        """Whether the newest run of that name is meant: a workspace, a user or a cluster may have an older one."""
        return bool(self.run) and not (self.workspace or self.user or self.cluster)

    def of_one_run(self) -> bool:
        """Whether a run's own ledger is the whole answer."""
        return self.by in ("", "run") and not self.weeks and set(self.filters()) == {"run"}


def question(asked: Asked, asking: Asking) -> tuple[str, dict[str, str]]:
    """Return the address and the parameters. A run's hours are those since it was submitted, unless others are said."""
    if asked.of_one_run():
        return run_path(asked.run), asked.window()
    window, filters, by = asked.window(), asked.filters(), asked.by
    if asked.finds_run():
        own = asking.document(run_path(asked.run), {**window, "unit": "gpu_us"})
        filters["run"] = own["rows"][0]["uid"] if own["rows"] else asked.run
        window = window or {"start": own["start"], "end": own["end"]}
    if asked.run:
        by, window = by or "run", window or {"days": str(DAYS_MAX)}
    limit = str(ROWS_MAX) if asked.everything else ""
    parameters = {"by": by, "sort": asked.sort, "limit": limit, **filters, **window}
    path = "goodput/weekly" if asked.weeks else "goodput"
    return path, {name: text for name, text in parameters.items() if text}


def run_path(run: str) -> str:
    """Return the address of a run's ledger."""
    return f"runs/{quote(run, safe='')}/goodput"
