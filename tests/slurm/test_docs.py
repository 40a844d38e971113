"""The page on Slurm shows the mapping's tables as they are, and every option of the command."""

import re
from pathlib import Path

from astra.collect.slurm.command import command
from tests.slurm.states import held_back, table

PAGE = (Path(__file__).parents[2] / "docs/sources/slurm.md").read_text()


def test_the_table_is_the_mappings() -> None:
    assert table() in PAGE
    assert held_back() in PAGE


def test_every_option_of_its_own_is_in_the_page() -> None:
    own = {"--interval", "--accounts-interval", "--look-back", "--programs", "--file", "--timezone", "--workspace-map"}
    assert own <= {option for param in command.params for option in param.opts}
    assert own <= set(re.findall(r"--[a-z-]+", PAGE))
