"""The `astra` command, also as `python -m astra`."""

from __future__ import annotations

import sys

EXTRA = frozenset({"click", "httpx", "prometheus_client", "rich"})


def main() -> int:
    """Run the command and return its exit code; without its packages, say in a sentence which one is missing."""
    try:
        from astra.cli import run
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        extra = "collect" if error.name == "prometheus_client" else "cli"
        sys.stderr.write(f"astra: The command needs {error.name}: install this package with its extra [{extra}].\n")
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
