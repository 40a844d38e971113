"""An agent of a scripted world, as a process: what happened by when stands in a file, as a scheduler would know it."""

from __future__ import annotations

import json
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from astra.asking import Trouble
from astra.collect.agent import Agent
from astra.collect.commands import begin_log
from astra.collect.items import Items, instant_text, now
from astra.collect.source import Put

LOOK_BACK = timedelta(minutes=2)


class World:
    """Lists all workers each half second, tells what changed in between, and reads the samples of the last seconds."""

    def __init__(self, file: Path, name: str = "test/east") -> None:
        self.name = name
        told = json.loads(file.read_text())
        self.runs: list[dict[str, Any]] = told["runs"]
        self.states: list[dict[str, Any]] = told["workers"]
        self.samples: list[dict[str, Any]] = told["readings"]
        self.ends = max(map(parsed, (*self.states, *self.samples)))

    def look(self) -> Items:
        """Return the newest state of each worker that lives, and of each that ended."""
        at = now()
        newest = {(state["run"], state["worker"]): state for state in self.states if parsed(state) <= at}
        return Items(at, runs=tuple(self.runs), workers=tuple(newest.values()), complete=True)

    def changes(self, since: datetime, at: datetime) -> Items:
        states = tuple(state for state in self.states if since < parsed(state) <= at)
        return Items(at, runs=tuple(self.runs), workers=states)

    def read(self, since: datetime, at: datetime) -> Items:
        samples = tuple(sample for sample in self.samples if since < parsed(sample) <= at)
        return Items(at, runs=tuple(self.runs), readings=samples)

    def run(self, put: Put, stop: threading.Event) -> None:
        seen = read = now() - LOOK_BACK
        turn, is_over = 0, False
        while not stop.wait(0.03):
            at = now()
            put(self.changes(seen, at))
            seen = at
            if turn % 3 == 0:
                put(self.read(read, at))
                read = at
            if turn % 15 == 0:
                put(self.look())
            turn += 1
            if not is_over and min(seen, read) >= self.ends:
                is_over = True
                print("over", flush=True)


def parsed(item: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(str(item["at"]))


def main() -> int:
    file, api, token, spool = sys.argv[1:5]
    begin_log()
    print("ready", instant_text(now()), flush=True)
    try:
        Agent("east", api, token, Path(spool)).work(World(Path(file)))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
