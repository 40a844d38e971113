"""The published traces that the tests read, and what is known of them. GPU-hours as whole GPU-microseconds."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from ledger.replay import openb, philly
from ledger.replay.trace import Trace

FOLDER = Path(__file__).parents[2] / "../shared/data/traces"
PHILLY = FOLDER / "philly_attempts_even.json"
SCHEMA = FOLDER / "philly_schema_example.json"
OPENB = FOLDER / "alibaba_v2023_openb_pod_list_default.csv"
GPU_SECOND = 1_000_000  # GPU-microseconds
PHILLY_HELD = 1_426_201_928 * GPU_SECOND
PHILLY_BETWEEN = 9_124_732 * GPU_SECOND
PHILLY_FIRST_WAIT = 43_572_492 * GPU_SECOND
OPENB_HELD = {"Running": 167_183_673_170_000, "Succeeded": 14_741_248_000_000, "Failed": 3_369_505_800_000}
OPENB_WAITED = {
    "Running": 311_427_310_000,
    "Succeeded": 4_607_000_000,
    "Failed": 50_218_930_000,
    "Pending": 101_023_690_000,
}


@cache
def philly_trace() -> Trace:
    return philly.read(PHILLY.read_bytes())


@cache
def openb_trace() -> Trace:
    return openb.read(OPENB.read_bytes())


def jobs(*changed: dict[str, Any]) -> bytes:
    """Return a Philly file of one usual job for each set of changes."""
    usual = {
        "id": "job-1",
        "num_gpus": 8,
        "submitted_time": "2017-10-07 01:00:00",
        "attempts": [{"start_time": "2017-10-07 01:10:00", "end_time": "2017-10-07 02:00:00"}],
    }
    return json.dumps([usual | one for one in changed]).encode()
