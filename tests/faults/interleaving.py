"""Two sessions, one of which stands still at a named point while the other does all it can."""

from collections.abc import Callable
from threading import Event, Thread

from django.db import connection

from tests.faults.failpoints import failpoints

BLOCKED_SECONDS = 0.4
SECONDS_MAX = 60


def interleave(first: Callable[[], object], point: str, second: Callable[[], object]) -> bool:
    """Let `first` stand still when it first reaches `point`, run `second` until it is done or waits for a lock, then
    let both end. Return whether `second` waited; raises what either raised.
    """
    there, go_on, done = Event(), Event(), Event()
    errors: list[BaseException] = []

    def reached(_: int, name: str) -> None:
        if name == point and not there.is_set():
            there.set()
            assert go_on.wait(SECONDS_MAX)

    def run(work: Callable[[], object], at_last: Event) -> None:
        try:
            work()
        except BaseException as error:  # every one is raised again below
            errors.append(error)
        finally:
            connection.close()
            at_last.set()

    def with_points() -> None:
        with failpoints(reached):
            first()

    sessions = [Thread(target=run, args=(with_points, there)), Thread(target=run, args=(second, done))]
    sessions[0].start()
    assert there.wait(SECONDS_MAX)
    sessions[1].start()
    waited = not done.wait(BLOCKED_SECONDS)
    go_on.set()
    for session in sessions:
        session.join(SECONDS_MAX)
        assert not session.is_alive(), "a session hangs"
    if errors:
        raise errors[0]
    assert go_on.is_set()
    return waited
