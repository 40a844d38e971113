"""Work that may never answer, like that of a resolver: waited for so long, and then left to itself."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what the work does, done by a thread of its own. Raises TimeoutError, and what the work raises.

    A thread cannot be ended from outside: one that is late ends when its work does, and keeps no process from ending.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # it is raised where it is waited for
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done.result(seconds)
