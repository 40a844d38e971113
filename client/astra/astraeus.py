"""`astra astraeus …`: where GPU time went, and which workers stand still now."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, datetime, timezone
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from astra import answers, names, tables
from astra.asking import Asking, Trouble
from astra.questions import DAYS_MAX, FILTERS, GROUPINGS, SORTS, WEEKS_MAX, Asked

COMPLETION_SECONDS = 3.0
AS_JSON = click.option("--json", "form", flag_value="json", help="Print the server's JSON as it is.")
Command = TypeVar("Command", bound=Callable[..., Any])


def instant(text: str) -> str:
    """Return a date (its midnight in UTC), or an instant with its zone, as RFC 3339 in UTC."""
    try:
        return f"{date.fromisoformat(text)}T00:00:00.000Z"
    except ValueError:
        moment = zoned(text)
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is neither a date like 2026-09-24 nor an instant with its zone like 2026-09-24T13:00Z."
        )
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def named_so(text: str) -> str:
    """Return a name; an empty one, as of a script's variable that is not set, would pick everything."""
    if not text:
        raise click.BadParameter("a name must not be empty.")
    return text


def zoned(text: str) -> datetime | None:
    """Return an instant in UTC; None for what is none or has no zone."""
    try:
        moment = datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
        return None if moment.tzinfo is None else moment.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a name by asking the server; without an answer there is nothing to offer."""
    try:
        with Asking(ctx.params.get("api") or "", ctx.params.get("token") or "", COMPLETION_SECONDS) as asking:
            found = names.names(param.name or "", asking, incomplete)
    except Trouble:
        return []
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def connected(command: Command) -> Command:
    """Give a command the options that say which server, and as whom."""
    for option in (
        click.option("--token", envvar="ASTRALYX_TOKEN", default="", help="A token with the scope read."),
        click.option("--api", envvar="ASTRALYX_API", default="", help="The server's address, with or without /v1."),
        AS_JSON,
    ):
        command = option(command)
    return command


@click.group(no_args_is_help=False)
def astraeus() -> None:
    """Where GPU time went; who stands still now."""


def windowed(command: Command) -> Command:
    """Give a command the options that say of which hours."""
    for option in (
        click.option("--end", type=instant, help="Up to this date or instant."),
        click.option("--start", type=instant, help="From this date or instant on; whole hours are counted."),
        click.option("--weeks", type=click.IntRange(1, WEEKS_MAX), help="A table for each of the last N ISO weeks."),
        click.option("--days", type=click.IntRange(1, DAYS_MAX), help="The last N days; 7 when nothing is said."),
    ):
        command = option(command)
    return command


def named(command: Command) -> Command:
    """Give a command the options that pick rows by name."""
    of_run = "Only this run (a name or a uid), since it was submitted unless other hours are said."
    for kind in reversed(FILTERS):
        said = of_run if kind == "run" else f"Only what is of this {kind}."
        command = click.option(f"--{kind}", metavar="NAME", type=named_so, shell_complete=completed, help=said)(command)
    return command


@astraeus.command()
@click.option("--by", type=click.Choice(GROUPINGS), help="What a row stands for; workspace when nothing is said.")
@windowed
@named
@click.option(
    "--sort",
    type=click.Choice([way + field for field in SORTS for way in ("", "-")]),
    metavar="[-]FIELD",
    help=f"With - the largest first: {', '.join(SORTS)}.",
)
@click.option("--all", "everything", is_flag=True, help="All rows, not only the first page.")
@click.option("--unit", type=click.Choice(["gpu_hours", "gpu_us"]), help="Of --json and --csv; gpu_us is exact.")
@click.option("--csv", "form", flag_value="csv", help="Print the server's CSV as it is.")
@connected
def goodput(api: str, token: str, form: str | None, unit: str | None, **said: Any) -> None:
    """Where the GPU time went: held, used, and each way it was lost, in GPU-hours."""
    if unit and not form:
        raise click.UsageError("--unit belongs to --json or --csv.")
    asked = Asked(**{name: value for name, value in said.items() if value}).checked()
    exact = {"unit": unit} if unit else {}
    with Asking(api, token) as asking:
        try:
            if form:
                write(answers.as_json(asked, asking, exact) if form == "json" else answers.as_csv(asked, asking, exact))
            else:
                tables.show(answers.table(asked, asking))
        except Trouble as trouble:
            if trouble.status == 404 and asked.run:
                raise Trouble(names.no_such("run", asked.run, asking)) from None
            raise


@astraeus.command()
@click.option("--stalled", is_flag=True, help="Those that hold GPUs and make no progress, the longest first.")
@click.option("--stragglers", is_flag=True, help="Those that are slower than their gang, the slowest first.")
@click.option("--all", "everything", is_flag=True, help="All of them, not only the first page.")
@connected
def workers(api: str, token: str, form: str | None, stalled: bool, stragglers: bool, everything: bool) -> None:
    """Which workers stand still now, or are slower than their gang."""
    if stalled == stragglers:
        raise click.UsageError("Which workers? Say --stalled or --stragglers.")
    with Asking(api, token) as asking:
        told = answers.workers(asking, everything, form, "stalled" if stalled else "straggler")
    if isinstance(told, bytes):
        write(told)
    else:
        tables.show(told)


@astraeus.command()
@click.option("--firing", is_flag=True, help="Those that are firing, not those that are over.")
@click.option("--all", "everything", is_flag=True, help="All of them, not only the first page.")
@connected
def alerts(api: str, token: str, form: str | None, firing: bool, everything: bool) -> None:
    """Which alerts are firing, and which are over."""
    with Asking(api, token) as asking:
        told = answers.alerts(asking, firing, everything, form)
    if isinstance(told, bytes):
        write(told)
    else:
        tables.show(told)


def write(body: bytes) -> None:
    """Print what came, byte for byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
