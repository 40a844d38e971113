"""The `astra` command: its groups, and how it ends."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import get_completion_class

from astra import __version__
from astra.asking import Trouble
from astra.astraeus import astraeus
from astra.collect.commands import collect
from astra.figures import plain
from astra.logs import logs, profiles

SHELLS = ("bash", "zsh", "fish")
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(__version__, prog_name="astra")
def main() -> None:
    """Client of a Goodput ledger.

    The server and the token come from ASTRALYX_API and ASTRALYX_TOKEN, or from --api and --token.
    """


main.add_command(astraeus)
astraeus.add_command(logs)
astraeus.add_command(profiles)
main.add_command(collect)


@main.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a shell's completion of this command.

    To have it, put into ~/.bashrc: eval "$(astra completion bash)"
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    click.echo(kind(main, {}, "astra", "_ASTRA_COMPLETE").source())


def run(arguments: Sequence[str]) -> int:
    """Run the command; return 0, 1 when the server said no or nothing, 2 when the command was not understood."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name must not fail for the terminal's alphabet
    try:
        main.main(list(arguments), prog_name="astra", standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # click makes an exit of the first, whatever mode it is in
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing more is written at the end
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as error:
        place = error.ctx.command_path if error.ctx else "astra"
        said = " ".join(error.format_message().split())
        return failed(f"{said}{'' if said.endswith('.') else '.'} See: {place} --help", error.exit_code)
    except click.ClickException as error:
        return failed(error.format_message(), error.exit_code)
    except Trouble as error:
        return failed(str(error), error.code)
    return 0


def failed(sentence: str, code: int) -> int:
    """Print why, in one line."""
    click.echo(f"astra: {plain(sentence)}", err=True)
    return code
