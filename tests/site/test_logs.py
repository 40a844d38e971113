"""One event, one line, whatever a stranger writes into it."""

from __future__ import annotations

import json
import logging
import logging.config
import sys

import pytest

from goodput_site.logs import JsonLines, configuration


def line_of(message: str, *arguments: object, error: bool = False) -> str:
    record = logging.LogRecord("a.b", logging.WARNING, __file__, 1, message, arguments, None)
    if error:
        try:
            raise ValueError("bad\nthing")
        except ValueError:
            record.exc_info = sys.exc_info()
    return JsonLines().format(record)


@pytest.mark.parametrize("nasty", ["a\nb", "a\rb", "\x1b[31mred", "a\u2028b", "a\x00b", "ü", '{"level": "x"}\n'])
def test_control_characters_come_out_escaped(nasty: str) -> None:
    line = line_of("run %s failed", nasty)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["message"] == f"run {nasty} failed"


def test_what_an_event_says() -> None:
    event = json.loads(line_of("hello"))
    assert event.pop("at").endswith("+00:00")
    assert event == {"level": "warning", "logger": "a.b", "message": "hello"}


def test_a_traceback_stays_in_its_line() -> None:
    line = line_of("broken", error=True)
    assert line.isprintable()
    assert "ValueError: bad\nthing" in json.loads(line)["error"]


def test_the_configuration_is_one_that_logging_takes() -> None:
    chosen = configuration("WARNING")
    assert chosen["root"]["level"] == chosen["loggers"]["django"]["level"] == "WARNING"
    logging.config.dictConfig({**chosen, "incremental": False, "loggers": {}, "root": {"handlers": []}})
