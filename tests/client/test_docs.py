"""The page on the command has every command and option, and shows the table as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from astra.cli import main
from tests.client.test_goodput import TABLE

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def test_every_command_has_its_part() -> None:
    assert re.findall(r"^## `(.+)`$", PAGE, re.MULTILINE) == [path for path, _ in commands(main, "astra")]


def test_every_option_is_written_and_none_that_is_not_there() -> None:
    there = {
        option
        for _, command in commands(main, "astra")
        for param in command.params
        for option in (*param.opts, *param.secondary_opts)
    }
    options = {option for option in there if option.startswith("--")} | {"--version", "--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", PAGE)) == options


def test_the_table_of_the_page_is_the_commands() -> None:
    assert f"```\n{TABLE}```\n" in PAGE
