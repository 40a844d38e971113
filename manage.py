#!/usr/bin/env python3
"""Django's commands; with nothing else configured, on the embedded Postgres."""

import os
import sys


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
    from goodput_site.commands import run

    run(sys.argv)


if __name__ == "__main__":
    main()
