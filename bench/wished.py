"""How long a past a measurement is made on, as its command line wishes it."""

import argparse

SMALL, FULL = 150, 2_100  # machines


def wished(name: str, about: str | None, times: int, what: str, kept: str = "Postgres") -> argparse.Namespace:
    """Return the wishes: `machines`, `days`, `times` (how often something is done; `what` says it), `keep`."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about)
    parser.add_argument(
        "--full", action="store_const", dest="machines", const=FULL,
        help="20 million cells of 2,100 machines: takes long, and 8 GB of disk",
    )  # fmt: skip
    parser.add_argument("--machines", type=int, default=SMALL, help="a multiple of 4; five workers on each")
    parser.add_argument("--days", type=int, default=400)
    parser.add_argument("--times", type=int, default=times, help=what)
    parser.add_argument("--keep", help=f"folder for {kept} that is kept, and used again")
    return parser.parse_args()
