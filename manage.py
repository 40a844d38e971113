#!/usr/bin/env python3
"""Django's commands; with nothing else configured, on the embedded Postgres."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

INSTALLED = Path(__file__).parent / ".venv/bin/python"


def main() -> None:
    """Run the command that the arguments name, in the environment that `make` made where this Python lacks Django."""
    if find_spec("django") is None and INSTALLED.exists() and Path(sys.prefix) != INSTALLED.parents[1]:
        os.execv(INSTALLED, [str(INSTALLED), *sys.argv])  # noqa: S606
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
    from goodput_site.commands import run

    run(sys.argv)


if __name__ == "__main__":
    main()
