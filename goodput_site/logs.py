"""Logging as JSON lines: one event a line, whatever stands in a name, a path or a header."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """Formats a record as one line of ASCII JSON: control characters and line separators come out escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """`{"at", "level", "logger", "message"}` and `"error"` with the traceback, if there is one."""
        event = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            event["error"] = self.formatException(record.exc_info)
        return json.dumps(event)


def configuration(level: str) -> dict[str, Any]:
    """The LOGGING setting: everything to standard error as JSON lines."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "goodput_site.logs.JsonLines"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "pgmq": {"level": "WARNING"},
            "django": {"handlers": ["stderr"], "level": level, "propagate": False},
        },
    }
