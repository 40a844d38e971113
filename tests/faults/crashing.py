"""Processes that run one step of the ledger and die by SIGKILL at the k-th failpoint."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from django.db import connection

SECONDS_MAX = 60
# Forked from a process without threads and without connections, in which Django is set up once.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.steps"])


class Crash(NamedTuple):
    """How a step ended: the failpoint at which it died, "" when it was done before the k-th."""

    point: str
    killed: bool


def crash(step: str, arguments: tuple[Any, ...], at: int) -> Crash:
    """Run `step` of `tests.faults.steps` in a process of its own that dies at its `at`-th failpoint."""
    process, told = start(step, arguments, at)
    return end(process, told)


def start(step: str, arguments: tuple[Any, ...], at: int) -> tuple[Any, Connection]:
    told, teller = FORKS.Pipe(duplex=False)
    settings = connection.settings_dict
    process = FORKS.Process(target=run, args=(teller, settings["NAME"], str(settings["HOST"]), step, arguments, at))
    process.start()
    teller.close()
    return process, told


def end(process: Any, told: Connection) -> Crash:
    process.join(SECONDS_MAX)
    assert process.exitcode in (0, -signal.SIGKILL), f"the step raised: exit code {process.exitcode}"
    point = ""
    while told.poll():
        try:
            point = told.recv()
        except EOFError:
            break
    told.close()
    killed = process.exitcode != 0
    process.close()
    return Crash(point if killed else "", killed)


def run(teller: Connection, database: str, host: str, step: str, arguments: tuple[Any, ...], at: int) -> None:
    """The process: connect to the test's database, run the step, die on the way."""
    from tests.faults import steps
    from tests.faults.failpoints import failpoints

    connection.settings_dict.update(NAME=database, HOST=host)

    def reached(crossed: int, name: str) -> None:
        if crossed == at:
            teller.send(name)
            os.kill(os.getpid(), signal.SIGKILL)

    with failpoints(reached):
        getattr(steps, step)(*arguments)
    connection.close()
