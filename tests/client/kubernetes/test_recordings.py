"""Each recording of a real API server, through the agent and the ledger, gives the timeline that it must."""

from __future__ import annotations

import pytest

from ledger.access import scope_of_organization
from ledger.core.categories import Category
from ledger.core.windows import HOUR, Window, ceil_hour, floor_hour
from ledger.models import Cluster, Run
from ledger.queries import RunKey, run_goodput
from tests.client.kubernetes.playing import Lane, differences, lanes, ledger_of, played
from tests.client.kubernetes.recordings import NAMES, Recording, instant, recording

SEEN = {"node_lost": 20}  # ms: its release has no time of its own, and is when the agent saw it


def worker_of(expected: dict[str, object]) -> str:
    """Return our name of a worker: its replica type and index."""
    kind, index = str(expected["replica_type"]).lower(), expected["replica_index"]
    return {"node": f"node-0-{index}"}.get(kind, f"{kind}-{index}")


def wanted(of: Recording) -> dict[tuple[str, str], list[tuple[int, int, set[tuple[str, bool]]]]]:
    """Return (run uid, worker) → spans: from, to, and every (category, held) that counts as right in it."""
    found = {}
    for worker in of.expected["workers"]:
        if worker["gpus"]:
            found[worker["run_uid"], worker_of(worker)] = [
                (
                    instant(one["from"]),
                    instant(one["to"]) if one["to"] else of.ended,
                    {(category, one["held"]) for category in (one["category"], *one.get("also", ()))},
                )
                for one in worker["segments"]
            ]
    return found


def off(lane: Lane, spans: list[tuple[int, int, set[tuple[str, bool]]]]) -> int:
    """Return for how many ms a worker's lane is not as it must be."""
    edges = sorted({edge for one in (*lane, *spans) for edge in (one[0], one[1])})
    wrong = 0
    for start, end in zip(edges, edges[1:], strict=False):
        got = {(category, held) for since, to, category, held, *_ in lane if since <= start < to}
        right = next((right for since, to, right in spans if since <= start < to), set())
        wrong += 0 if (got and got <= right) or (not got and not right) else end - start
    return wrong


def cells_agree(cluster: Cluster, run: Run, ended: int, found: dict[tuple[str, str], Lane]) -> None:
    """The cells of a run hold what its workers' lanes hold, to the GPU-microsecond."""
    window = Window(floor_hour(ended) - 2 * HOUR, ceil_hour(ended))  # what still goes on goes on to its end
    total = run_goodput(scope_of_organization(cluster.organization), RunKey(run.pk, run.uid, cluster.pk), window).total
    for category in Category:
        amounts = (
            ((window.end if to == ended else to) - since) * milli
            for (uid, _), lane in found.items()
            if uid == run.uid
            for since, to, label, _, _, _, milli in lane
            if label == category.label
        )
        assert total.amounts[category] == sum(amounts), (run.name, category)


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_its_timeline(name: str) -> None:
    of = recording(name)
    with played(of) as agent:
        cluster = ledger_of(agent.said, of.ended)
    found, right = lanes(cluster, of.ended), wanted(of)
    assert {key for key, lane in found.items() if lane} == set(right)
    assert {key: ms for key in right if (ms := off(found[key], right[key])) > SEEN.get(name, 0)} == {}
    assert not differences(cluster, of.ended)
    for run in Run.objects.filter(cluster=cluster):
        cells_agree(cluster, run, of.ended, found)
