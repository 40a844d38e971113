"""The `astra` command."""

import click

from astra import __version__


@click.group()
@click.version_option(__version__, prog_name="astra")
def main() -> None:
    """Client of a Goodput ledger."""
