"""The measurements run on the tables as they are: a small one of each kind of ground."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAST = """
from bench.ground import ground
with ground():
    from bench import past
    print(past.make(4, 3).cells, "cells")
"""


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (["-m", "bench.minute", "--sizes", "200", "--minutes", "1", "--closes", "1"], "200 workers measured"),
        (["-c", PAST], " cells"),
    ],
    ids=["minute", "past"],
)
def test_a_small_measurement_runs(ask: list[str], told: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GOODPUT_STATE"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, *ask], cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
