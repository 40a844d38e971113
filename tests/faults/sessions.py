"""Sessions of tests: at the same time, a thread and a connection each, or with another server."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Barrier, Thread

from django.db import connection

from goodput_site.embedded import DATABASE, Server

SECONDS_MAX = 300


def together(jobs: Iterable[Callable[[], object]]) -> None:
    """Run all jobs at once, begun at one instant; raises the first error that any of them raised."""
    tasks = list(jobs)
    barrier = Barrier(len(tasks))
    errors: list[BaseException] = []

    def run(job: Callable[[], object]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(SECONDS_MAX)
            job()
        except BaseException as error:  # every one is raised again below
            barrier.abort()
            errors.append(error)
        finally:
            connection.close()

    threads = [Thread(target=run, args=(job,), daemon=True) for job in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS_MAX)
    assert not any(thread.is_alive() for thread in threads), "a session hangs"
    if errors:
        raise errors[0]


@contextmanager
def connected_to(server: Server) -> Iterator[None]:
    """Every connection of the block goes to the server's own database."""
    connection.close()
    before = dict(connection.settings_dict)
    connection.settings_dict.update(HOST=str(server.places.sockets), PORT="5432", NAME=DATABASE)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)
