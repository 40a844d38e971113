"""The page of this agent says what the agent does: its tables are made from those that the mapping decides by."""

from __future__ import annotations

from pathlib import Path

import click

from astra.collect.kubernetes import rules
from astra.collect.kubernetes.command import command
from astra.collect.kubernetes.nodes import POOL_LABELS
from astra.collect.kubernetes.resources import RESOURCES

PAGE = (Path(__file__).parents[3] / "docs" / "sources" / "kubernetes.md").read_text()


def test_what_each_thing_becomes_is_the_mappings_own_table() -> None:
    assert rules.table() in PAGE


def test_all_that_is_read_is_said() -> None:
    assert all(f"`{resource.name}`" in PAGE for resource in RESOURCES)
    assert ", ".join(f"`{label}`" for label in POOL_LABELS) in PAGE


def test_every_flag_and_setting_is_said() -> None:
    for option in command.params:
        assert isinstance(option, click.Option)
        assert any(f"`{name}" in PAGE or f" {name}" in PAGE for name in option.opts) or option.name in COMMON, (
            option.name
        )
        for variable in [option.envvar] if isinstance(option.envvar, str) else []:
            assert variable in PAGE or option.name in COMMON, variable


COMMON = {"spool_mib", "metrics_port", "cluster", "api", "token", "spool", "workspaces", "once", "dry_run"}
