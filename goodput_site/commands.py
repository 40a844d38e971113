"""How manage.py finds its database: what DATABASE_URL names, else the embedded one while the command runs."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack
from types import FrameType

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from goodput_site.embedded import EmbeddedError, use
from goodput_site.places import places

WITHOUT_DATABASE = frozenset({"up", "help", "version", "check", "collectstatic", "findstatic", "diffsettings"})
HELP = frozenset({"-h", "--help", "--version"})


def run(argv: list[str]) -> None:
    """Run one management command; exits with its code."""
    if argv[1:2] == ["doctor"]:
        os.environ.setdefault("GOODPUT_DOCTOR", "1")
    refuse_foreign_state()
    refuse_broken_settings()
    with ExitStack() as stack:
        if needs_embedded(argv):
            signal.signal(signal.SIGTERM, leave)
            try:
                stack.enter_context(use(places()))
            except EmbeddedError as error:
                sys.exit(f"The embedded Postgres cannot run: {error}")
        execute_from_command_line(argv)


def needs_embedded(argv: list[str]) -> bool:
    """Whether the command wants a database and none is configured."""
    if os.environ.get("DATABASE_URL") or os.environ.get("GOODPUT_SUPERVISED") or len(argv) < 2:
        return False
    return argv[1] not in WITHOUT_DATABASE and not HELP.intersection(argv[1:])


def refuse_foreign_state() -> None:
    """One sentence instead of a traceback when another user, root perhaps, made the state folder."""
    state = places().state
    if not os.environ.get("DATABASE_URL") and state.exists() and not os.access(state, os.R_OK | os.W_OK | os.X_OK):
        sys.exit(f"{state} belongs to another user; set GOODPUT_STATE to a folder of your own.")


def refuse_broken_settings() -> None:
    """One sentence instead of a traceback when a setting is missing or cannot be read."""
    try:
        _ = settings.INSTALLED_APPS
    except (ImproperlyConfigured, ValueError) as error:
        sys.exit(str(error))


def leave(number: int, _frame: FrameType | None) -> None:
    """Turn SIGTERM into an exit that still stops what was started."""
    sys.exit(128 + number)
