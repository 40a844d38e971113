"""A gang trains in four processes and reports to a real server: one is slow, one hangs, one is killed and restarted."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site import training_loop
from tests.site.running import Running, eventually, free_port, manage
from tests.site.training import NAMES, Gang, until
from tests.site.training_cells import Said, ms, parts

MINUTE_MS = 60_000


@pytest.fixture
def site(folder: Path) -> Iterator[Running]:
    with Running(folder / "state", free_port()) as running:
        eventually(running.is_well, 240)
        yield running


def hang(gang: Gang) -> None:
    """Begin, and wait until w2 hangs and is found stalled from its last step on."""
    gang.tell("running", *NAMES)
    for name in NAMES:
        gang.start(name)
    until(lambda: gang.has_reported(*NAMES), 120)
    until(lambda: list(gang.workers("stalled")) == ["w2"], 120 + gang.stall_after / 1000)
    reports = gang.steps("w2")
    last = next(one for one in reports if one["step"] == reports[-1]["step"])
    assert ms(gang.workers("stalled")["w2"]["since"]) == ms(last["at"])


def restart(gang: Gang) -> None:
    """Kill w3, and start it on another machine."""
    gang.end("w3", signal.SIGKILL)
    gang.tell("failed", "w3", reason="failure")
    gang.tell("starting", "w3", attempt=2, machine="spare")
    gang.tell("running", "w3", attempt=2)
    gang.start("w3")
    until(lambda: gang.has_reported("w3", after=gang.said["w3"][-1].at), 120)


def finish(gang: Gang) -> None:
    """End all, and compare what the ledger counted with what the workers wrote down."""
    gang.end("w2", signal.SIGKILL)
    for name in ("w0", "w1", "w3"):
        gang.end(name, signal.SIGTERM)
    gang.tell("ended", *NAMES)
    expected = gang.expected()
    assert gang.counted() == expected
    by_machine = {machine: {name for key, sums in expected.items() if key[1] == machine for name in sums}
                  for _, machine in expected}  # fmt: skip
    assert by_machine["gpu-w2"] == {"productive", "stalled"}
    assert by_machine["gpu-w3"] >= {"productive", "failure"}
    assert by_machine["spare"] >= {"restart", "productive"}
    pipelines = gang.pipelines()
    for name in ("w0", "w1"):
        told = [one.get("batches", 0) for one in gang.reports(name) if ms(one["at"]) <= ms(pipelines[name]["at"])]
        assert pipelines[name]["batches"] == sum(told) > 0
    assert "0 differences in 4 workers" in manage(gang.site.state, "check_ledger").stdout
    assert training_loop.error(gang.shared) < 0.5


def test_a_slow_a_hung_and_a_restarted_worker(site: Running, folder: Path) -> None:
    """The three minutes after which a slow worker is a straggler are not waited for: they are moved."""
    gang = Gang(site, folder, every=0.5, stall_after=8_000, hangs_after=20)

    def named() -> bool:
        assert manage(site.state, "categorize", "--once").returncode == 0
        gang.run(
            "UPDATE ledger_straggle SET since = since - interval '3 minutes' WHERE NOT confirmed AND until IS NULL "
            "AND since > now() - interval '3 minutes' AND worker_id = (SELECT id FROM ledger_worker WHERE name = 'w1')"
        )
        return "w1" in gang.workers("straggler")

    try:
        hang(gang)
        until(named, 240)
        found = gang.workers("straggler")["w1"]
        assert (found["machine"], found["run"], found["slower"] >= 1.3) == ("gpu-w1", "llm", True)
        restart(gang)
        finish(gang)
    finally:
        gang.kill_all()


@pytest.mark.soak
def test_the_same_in_real_time(site: Running, folder: Path) -> None:
    """Nothing is moved: beat looks each minute, and a straggler is one after three. It sleeps for some six minutes."""
    gang = Gang(site, folder, every=5, stall_after=MINUTE_MS, hangs_after=200)
    named: set[str] = set()

    def all_are_named() -> bool:
        now = time.time() * 1000
        found = gang.workers("straggler")
        named.update(found)
        assert all(now - ms(one["since"]) >= 3 * MINUTE_MS for one in found.values()), "it is one after three minutes"
        return found.keys() >= {"w1", "w2"}

    try:
        hang(gang)
        restart(gang)
        until(all_are_named, 480, often=5)
        found = gang.workers("straggler")
        assert (found["w1"]["machine"], found["w1"]["slower"] >= 1.3) == ("gpu-w1", True)
        assert found["w2"]["steps_behind"] > 100, "it hangs while the others go on"
        assert named == {"w1", "w2"}
        finish(gang)
    finally:
        gang.kill_all()


REPORTS = [
    {"at": f"2026-01-01T00:{minute:02}:00Z", "step": step, "step_seconds": 1}
    for minute, step in ((1, 1), (2, 2), (10, 2), (12, 2), (13, 2), (20, 3), (21, 3), (50, 3), (51, 4))
]


def test_what_is_expected_is_counted_right() -> None:
    """The count that the ledger is held against, by hand."""
    start = ms("2026-01-01T00:00:00Z")
    said = [Said(start + minute * MINUTE_MS, phase, "m") for minute, phase in
            ((0, "running"), (30, "failed"), (35, "starting"), (40, "running"), (60, "ended"))]  # fmt: skip
    found = [((one.since - start) // MINUTE_MS, (one.until - start) // MINUTE_MS, one.category)
             for one in parts(said, REPORTS, 10 * MINUTE_MS) if one.until > one.since]  # fmt: skip
    assert found == [
        (0, 2, "productive"), (2, 20, "stalled"), (20, 30, "productive"), (30, 35, "failure"), (35, 40, "restart"),
        (40, 60, "productive"),
    ]  # fmt: skip
