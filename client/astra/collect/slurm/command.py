"""`astra collect slurm`: a Slurm cluster, or a file of its accounting."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from astra.collect.agent import Agent, folder_of
from astra.collect.commands import agent_options
from astra.collect.slurm.files import FileSource
from astra.collect.slurm.notebook import Notebook
from astra.collect.slurm.programs import Programs
from astra.collect.slurm.watching import Pace, SlurmSource

NOTES = "slurm-seen.json"


def zone_of(ctx: click.Context, param: click.Parameter, name: str | None) -> ZoneInfo | None:  # noqa: ARG001
    """Return the zone of a name such as Europe/Paris."""
    try:
        return None if name is None else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise click.BadParameter(f"there is no time zone {name!r}; one is named as in Europe/Paris, or UTC") from None


@click.command("slurm")
@agent_options
@click.option(
    "--interval",
    type=click.FloatRange(0.1),
    default=2.0,
    show_default=True,
    envvar="ASTRALYX_SLURM_INTERVAL",
    help="Ask squeue every so many seconds.",
)
@click.option(
    "--accounts-interval",
    type=click.FloatRange(1),
    default=60.0,
    show_default=True,
    help="Ask sacct every so many seconds.",
)
@click.option(
    "--look-back",
    type=click.FloatRange(0),
    default=24.0,
    show_default=True,
    help="At the start ask sacct for so many hours back.",
)
@click.option(
    "--programs", default="", envvar="ASTRALYX_SLURM_PROGRAMS", help="The folder of squeue, sacct and scontrol."
)
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Read this output of sacct (--json or -P) instead of asking.",
)
@click.option("--timezone", "zone", callback=zone_of, help="The zone of the times in a text of --file.")
def command(
    agent: Agent, interval: float, accounts_interval: float, look_back: float, programs: str, file: Path | None,
    zone: ZoneInfo | None,
) -> None:  # fmt: skip
    """Tell what squeue, sacct and scontrol say of a Slurm cluster.

    Runs where these programs run, as a user who may see all jobs. An account is a workspace, a partition a pool.
    """
    names = agent.workspaces.names
    if file is not None:
        _tell_file(agent, FileSource(agent.cluster, file, zone, names))
        return
    pace = Pace(queue=interval, nodes=max(interval, 2.0), accounts=accounts_interval, back=timedelta(hours=look_back))
    book = None if agent.once or agent.dry_run else Notebook(folder_of(agent.spool, f"slurm/{agent.cluster}") / NOTES)
    agent.work(SlurmSource(agent.cluster, Programs(programs), names, pace, notebook=book))


def _tell_file(agent: Agent, source: FileSource) -> None:
    """Tell a file once, and what of it was left out on standard error."""
    replace(agent, once=True).work(source)
    for note, count in sorted(source.notes.items()):
        click.echo(f"{count:,} × {note}", err=True)
    click.echo(f"held by its records: {source.held} GPU-us", err=True)
