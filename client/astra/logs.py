"""`astra astraeus logs ship` and `astra astraeus profiles test`."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import click

from astra import trials
from astra.asking import Asking, Trouble, checked_address, checked_token
from astra.astraeus import AS_JSON, named_so, write
from astra.shipping import Api, ApiError, File, Pipe, Place, Shipment, alive
from astra.tables import show

PATIENCE_SECONDS = 7 * 86_400.0
TOKEN = "A token with the scope ingest."  # noqa: S105


@click.group(no_args_is_help=False)
def logs() -> None:
    """What runs print."""


@logs.command()
@click.argument("file", metavar="FILE|-")
@click.option("--run", required=True, type=named_so, help="Whose log it is: a run's name (the newest) or uid.")
@click.option("--profile", default="", help="Which log profile reads it, where the run names none.")
@click.option("--worker", default="", help="Which worker of the run printed it; its first one when nothing is said.")
@click.option("--attempt", type=click.IntRange(1, 1_000_000), help="Which attempt; the worker's newest, else 1.")
@click.option("--follow/--no-follow", default=True, help="Go on with what is written later; a pipe is read to its end.")
@click.option(
    "--stamp/--no-stamp", default=True, help="Put the instant before each line that is read as it is written."
)
@click.option("--pid", type=int, help="The process that writes FILE: while it lives, a stall of it can be proven.")
@click.option("--state", type=click.Path(path_type=Path), help="Where to keep how far FILE was shipped.")
@click.option("--token", envvar="ASTRALYX_TOKEN", default="", help=TOKEN)
@click.option("--api", envvar="ASTRALYX_API", default="", help="The server's address, with or without /v1.")
def ship(
    file: str, run: str, profile: str, worker: str, attempt: int | None, follow: bool, stamp: bool, pid: int | None,
    state: Path | None, token: str, api: str,
) -> None:  # fmt: skip
    """Ship a log to the measurement of its run.

    Follows FILE through truncation and rotation and goes on where it was; - reads a pipe. Shipping again is harmless.
    """
    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for kind in (signal.SIGTERM, signal.SIGINT):
            signal.signal(kind, lambda *_: stop.set())
    number = attempt or newest_attempt(run, worker, api, token)
    source: File | Pipe
    kept = None
    if file == "-":
        source = Pipe(sys.stdin.buffer, stop)
    else:
        path = Path(file).absolute()
        if not path.exists() and not follow:
            raise click.UsageError(f"There is no file {file}.")
        kept = state or place_of(api, run, number, worker, str(path))
        source = File(path, Place.load(kept), follow, stop)
    seen = (lambda: alive(pid)) if pid else (lambda: file == "-")

    def pause(seconds: float) -> None:
        if stop.wait(seconds):
            raise ApiError("stopped before all had arrived; it goes on from there when it is started again")

    with Api(checked_address(api), checked_token(token), patience=PATIENCE_SECONDS, sleep=pause) as server:
        shipment = Shipment(server, run, number, worker, profile, kept, stamp and follow, seen)
        try:
            whole = shipment.ship(source)
        except ApiError as error:
            raise Trouble(sentence(error)) from None
    over = "" if whole else "; the run is over, and its measurement takes nothing more"
    click.echo(f"{shipment.read:,} lines shipped, {shipment.again:,} were known{over}.", err=True)


def newest_attempt(run: str, worker: str, api: str, token: str) -> int:
    """Return the attempt that the ledger knows; 1 where it knows none or does not tell."""
    try:
        with Asking(api, token) as asking:
            workers = asking.document(f"runs/{run.replace('/', '%2F')}", {})["workers"]
    except Trouble as trouble:
        if trouble.code == 2:
            raise
        return 1
    return max((int(one["attempt"]) for one in workers if not worker or one["worker"] == worker), default=1)


def place_of(*parts: Any) -> Path:
    """Return where to keep how far a log was shipped."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]
    return Path(home) / "astra" / "logs" / f"{name}.json"


def sentence(error: ApiError) -> str:
    """Return what the server said."""
    text = str(error)
    try:
        return str(json.loads(text[text.index("{") :])["detail"])
    except (ValueError, LookupError, TypeError):
        return text


@click.group(no_args_is_help=False)
def profiles() -> None:
    """How logs are read."""


@profiles.command("test")
@click.argument("profile")
@click.argument("file", metavar="FILE|-", type=click.File("rb"))
@click.option("--last", is_flag=True, help=f"The last {trials.LINES_MAX:,} lines of FILE, not the first.")
@click.option("--token", envvar="ASTRALYX_TOKEN", default="", help="A token with the scope read.")
@click.option("--api", envvar="ASTRALYX_API", default="", help="The server's address, with or without /v1.")
@AS_JSON
def try_profile(profile: str, file: Any, last: bool, token: str, api: str, form: str | None) -> None:
    """Try PROFILE, a name or a file in YAML or JSON, on the lines of FILE."""
    lines, cut = trials.lines_of(file, last)
    body = {"lines": lines, **trials.profile_of(profile)}
    with Api(checked_address(api), checked_token(token), patience=0) as server:
        try:
            found = server.send("POST", "log-profiles/test", body)
        except ApiError as error:
            said = f"There is no log profile {profile}, nor a file." if error.status == 404 else sentence(error)
            raise Trouble(said) from None
    if form:
        write(json.dumps(found, ensure_ascii=False).encode() + b"\n")
    else:
        show(trials.shown(found, cut))
