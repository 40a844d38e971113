"""The length of the queue, as the broker of the embedded Postgres tells it."""

import pytest

from goodput_site.celery import app
from goodput_site.metrics import queue_length
from goodput_site.places import places


def test_the_queue_of_the_embedded_broker(db: None) -> None:
    queue = app.conf.task_default_queue
    with app.connection_for_write() as connection:
        connection.default_channel.queue_declare(queue=queue)
        connection.default_channel.queue_purge(queue)
    assert queue_length() == 0
    for _ in range(3):
        app.send_task("ledger.tasks.categorize")
    assert queue_length() == 3
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge(queue)
    assert queue_length() == 0
    assert places().sockets.exists()


def test_a_broker_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(**_: object) -> None:
        raise ConnectionError("nobody there")

    monkeypatch.setattr(app, "connection_for_read", fail)
    assert queue_length() is None
    assert "nobody there" in caplog.text
