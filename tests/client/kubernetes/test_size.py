"""A large cluster costs the agent little, and bounded, memory and time."""

from __future__ import annotations

import pytest

from bench.kubernetes import measure


def test_a_small_cluster_is_measured() -> None:
    figures = measure(pods=40, machines=8, rate=20, seconds=1.0)
    assert figures.changes >= 15
    assert figures.states >= figures.changes // 2
    assert 20 < figures.resident_mib < 200


@pytest.mark.soak
def test_five_thousand_pods_on_a_thousand_machines() -> None:
    figures = measure(pods=5_000, machines=1_000, rate=50, seconds=60.0)
    assert figures.changes == 3_000
    assert figures.resident_mib < 256
    assert figures.first_cpu < 30
    assert figures.cpu_percent < 50
