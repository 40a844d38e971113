"""The pages on agents have every setting, metric and agent."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from astra.collect.commands import SOURCES, collect

DOCS = Path(__file__).parents[2] / "docs" / "sources"
PAGE = (DOCS / "agents.md").read_text()
METRICS = Path(__file__).parents[2] / "client" / "astra" / "collect" / "reporting.py"


def command(name: str) -> click.Command:
    found = collect.get_command(click.Context(collect), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", [name for name in sorted(SOURCES) if (DOCS / f"{name}.md").exists()])
def test_every_setting_of_an_agent_is_written(name: str) -> None:
    pages = PAGE + (DOCS / f"{name}.md").read_text()
    for option in command(name).params:
        assert isinstance(option, click.Option)
        for said in option.opts:
            assert f"`{said}`" in pages or f"`{said} " in pages, f"{said} of {name}"


def test_every_variable_is_written_beside_its_setting() -> None:
    pages = PAGE + (DOCS / "dcgm.md").read_text()
    options = [option for option in command("dcgm").params if isinstance(option, click.Option) and option.envvar]
    assert len(options) > 8
    for option in options:
        assert f"| `{option.opts[0]}` | `{option.envvar}` |" in pages


def test_every_agent_is_named() -> None:
    assert set(re.findall(r"`astra collect (\w+)`", PAGE)) >= set(SOURCES)


def test_every_metric_is_written() -> None:
    names = re.findall(r'\{PREFIX\}(\w+)"', METRICS.read_text())
    names += [f"{name}_total" for name in re.findall(r'^\s+\("(\w+)", "', METRICS.read_text(), re.MULTILINE)]
    assert len(names) > 8
    for name in names:
        assert f"`astra_collect_{name}`" in PAGE
