"""`astra collect …`: the agents. Each source adds its command from a file of its own."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from astra.collect.agent import Agent
from astra.collect.spool import BOUND_BYTES
from astra.collect.workspaces import WorkspaceMap, read_map

# the command's name, and the module that has it as `command`: one line a source
SOURCES: dict[str, str] = {
    "dcgm": "astra.collect.dcgm.command",
    "kubernetes": "astra.collect.kubernetes.command",
    "slurm": "astra.collect.slurm.command",
}
MEBI = 1024 * 1024


class Sources(click.Group):
    """The commands of the sources, each imported when it is called: one needs no package of another."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(SOURCES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in SOURCES:
            return None
        command = importlib.import_module(SOURCES[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Sources, no_args_is_help=False)
def collect() -> None:
    """Agents that run beside the GPUs and tell a ledger what they see."""


def workspace_map(ctx: click.Context, param: click.Parameter, file: Path | None) -> WorkspaceMap:  # noqa: ARG001
    """Read the file of --workspace-map."""
    if file is None:
        return WorkspaceMap()
    try:
        return read_map(file)
    except (OSError, ValueError) as error:
        raise click.BadParameter(str(error)) from None


def agent_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the settings of every agent; it is called with `agent` and what it has of its own."""

    @wraps(command)
    def run(**said: Any) -> None:
        names = ("cluster", "api", "token", "spool", "workspaces", "once", "dry_run", "metrics_port")
        settings = {name: said.pop(name) for name in names}
        bound = said.pop("spool_mib") * MEBI
        begin_log()
        command(agent=Agent(**settings, spool_bound=bound), **said)

    made: Callable[..., None] = run
    for option in reversed(
        (
            click.option("--cluster", envvar="ASTRALYX_CLUSTER", required=True, help="The cluster in the ledger."),
            click.option("--api", envvar="ASTRALYX_API", default="", help="The server's address."),
            click.option("--token", envvar="ASTRALYX_TOKEN", default="", help="A token with the scope ingest."),
            click.option(
                "--spool", envvar="ASTRALYX_SPOOL", type=click.Path(path_type=Path, file_okay=False),
                help="A folder for what is not delivered yet; else one in the user's state folder.",
            ),
            click.option(
                "--spool-mib", envvar="ASTRALYX_SPOOL_MIB", type=click.IntRange(1), default=BOUND_BYTES // MEBI,
                show_default=True, help="How many MiB may wait there before the oldest readings go.",
            ),
            click.option(
                "--workspace-map", "workspaces", envvar="ASTRALYX_WORKSPACE_MAP", callback=workspace_map,
                type=click.Path(path_type=Path, exists=True, dir_okay=False),
                help="Lines `name = workspace`: which workspace a namespace or account is.",
            ),
            click.option("--once", is_flag=True, help="One full list, delivered, and the end."),
            click.option("--dry-run", is_flag=True, help="Print what would be sent, as NDJSON; send nothing."),
            click.option(
                "--metrics-port", envvar="ASTRALYX_METRICS_PORT", type=click.IntRange(1, 65535),
                help="Serve the agent's own metrics on this port of the loopback.",
            ),
        )
    ):  # fmt: skip
        made = option(made)
    return made


def begin_log() -> None:
    """Write the log to standard error, a line each; other packages are heard only when something is wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    own = logging.getLogger("astra.collect")
    own.handlers, own.propagate = [handler], False
    own.setLevel(logging.INFO)
