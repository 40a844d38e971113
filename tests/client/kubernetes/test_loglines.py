"""Lines of containers' logs: each once, however the reading of them was broken off."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from astra.collect.kubernetes.logged import Wanted, container_of, logs_of, profile_of
from astra.collect.kubernetes.loglines import LINE_BYTES_MAX, STAMP_BYTES, Budget, Known, Line, Place, Splitter, line_of
from astra.collect.kubernetes.places import Places
from astra.collect.kubernetes.pods import pod_of
from astra.collect.kubernetes.reading import standing_of
from tests.client.kubernetes.building import Told, job, node, owned, pod, wants

# Two streams of a container in one file: their instants are nearly in order, and two lines are the same but for that.
WRITTEN = [
    b"2026-10-01T12:00:00.999999999Z a",
    b"2026-10-01T12:00:01.000000002Z b",
    b"2026-10-01T12:00:01.000000001Z c",
    b"2026-10-01T12:00:01.000000003Z same",
    b"2026-10-01T12:00:01.000000004Z same",
    b"2026-10-01T14:00:01.5+02:00 zone",
    b"2026-10-01T12:00:09.1Z ",
]


def lines(texts: list[bytes]) -> list[Line]:
    found = [line_of(text) for text in texts]
    assert None not in found
    return [line for line in found if line is not None]


@pytest.mark.parametrize("cut", range(len(WRITTEN) + 1))
def test_a_log_that_is_read_on_gives_each_line_once(cut: int) -> None:
    """The server gives again all lines of the second of the last one that was taken, and what came after."""
    place = Place().after(lines(WRITTEN[:cut]))
    since = place.last // 1_000_000_000 * 1_000_000_000
    known = Known(place)
    again = [line for line in lines(WRITTEN) if line.ns >= since]
    assert [line.text for line in again if not known.has(line)] == WRITTEN[cut:]


def test_a_clock_that_is_set_back_loses_nothing() -> None:
    texts = [b"2026-10-01T12:00:05Z a", b"2026-10-01T12:00:06Z b", b"2026-10-01T11:00:00Z c", b"2026-10-01T11:00:01Z d"]
    known = Known(Place().after(lines(texts[:2])))
    assert [known.has(line) for line in lines(texts[1:])] == [True, True, True]
    behind = Place().after(lines(texts[:3]))
    assert behind.since == "2026-10-01T11:00:00Z"
    assert not Known(behind).has(lines(texts)[3])


def test_what_the_node_says_itself_is_no_line() -> None:
    assert line_of(b"unable to retrieve container logs for containerd://1f") is None
    assert line_of(b"2026-13-45T12:00:00Z no instant") is None


def test_of_a_long_line_its_beginning_is_kept_however_it_is_cut() -> None:
    text = b"2026-10-01T12:00:00Z " + b"x" * 50_000
    data = text + b"\nshort\n"
    for size in (11, 4_096, 100_000):
        splitter = Splitter()
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        found = list(itertools.chain.from_iterable(splitter.feed(piece) for piece in pieces))
        assert found == [text[: LINE_BYTES_MAX + STAMP_BYTES], b"short"]
        assert splitter.end() == []


def test_a_log_has_its_share_of_each_minute() -> None:
    budget = Budget(0.0, minute=60, burst=100)
    assert budget.takes(100, 0.0)
    assert not budget.takes(1, 0.5)
    assert budget.takes(10, 10.0)
    assert not budget.takes(101, 1_000.0), "never more than at once"
    assert budget.takes(100, 1_000.0)


def test_places_survive_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    places = Places(path)
    place = Place().after(lines(WRITTEN))
    places.put("uid/main/0", place)
    places.put("uid/main/1", Place(5, done=True))
    places.put("uid/main/1", Place(5, done=True))
    assert len(path.read_text().splitlines()) == 2
    places.close()
    with path.open("a") as file:
        file.write('["uid/main/0", 17')
    again = Places(path)
    assert again.of == {"uid/main/0": place, "uid/main/1": Place(5, done=True)}
    again.forget("uid/main/0")
    again.close()
    last = Places(path)
    last.close()
    assert last.of == {"uid/main/1": Place(5, done=True)}


OF = Wanted("run", "master-0", 1, "vision", "p", "uid-p", "main", 1)
ENDED = {"terminated": {"exitCode": 1}}
STANDING = [
    (0, {"running": {}}, {}, "waiting"),  # the status lags
    (1, {"waiting": {}}, {}, "waiting"),
    (1, {"running": {}}, {}, "running"),
    (1, ENDED, {}, "ended"),
    (1, {"waiting": {}}, ENDED, "ended"),  # CrashLoopBackOff
    (2, {"running": {}}, ENDED, "before"),
    (2, ENDED, ENDED, "before"),
    (2, {"waiting": {}}, ENDED, "gone"),  # what is left is of the second
    (3, {"running": {}}, ENDED, "gone"),
]


@pytest.mark.parametrize(("restarts", "state", "last", "standing"), STANDING)
def test_how_an_incarnation_stands(restarts: int, state: dict[str, Any], last: dict[str, Any], standing: str) -> None:
    said = {"name": "main", "restartCount": restarts, "state": state, "lastState": last}
    of = {"metadata": {"uid": "uid-p"}, "status": {"phase": "Running", "containerStatuses": [said]}}
    assert standing_of(of, OF).value == standing
    assert standing_of({**of, "metadata": {"uid": "another"}}, OF).value == "gone"


def test_which_logs_are_wanted_and_whose_they_are() -> None:
    told, of = Told(), job(master=1, worker=1)
    of["metadata"]["annotations"] = {"astralyx.io/log-profile": "megatron-training"}
    first = pod("p-0", owner=owned(of, "master")["owner"], labels=owned(of, "master")["labels"], runs="12:00:05")
    told.put("12:00:06", node(), of, first)
    (run,) = told.mapping.runs.values()
    assert profile_of(run) == told.runs[of["metadata"]["uid"]]["log_profile"] == "megatron-training"
    uid = of["metadata"]["uid"]
    main = Wanted(uid, "master-0", 1, "vision", "p-0", "uid-p-0", "main", 0)
    assert list(logs_of(run)) == [main], "the worker has no pod yet"
    again = pod(
        "p-0", owner=owned(of, "master")["owner"], labels=owned(of, "master")["labels"], runs="12:03:00", restarts=1
    )
    told.put("12:03:01", again)
    assert list(logs_of(run)) == [main, main._replace(attempt=2, restarts=1)]
    of["metadata"]["annotations"] = {"astralyx.io/log-profile": "no\nname"}
    told.put("12:04:00", of)
    assert profile_of(run) == ""


@pytest.mark.parametrize(
    ("own", "default", "named", "found"),
    [
        ("", "", "", "main"), ("", "", "side", "side"), ("", "side", "", "side"),
        ("main", "side", "side", "main"), ("nosuch", "", "nosuch", "main"),
    ],
)  # fmt: skip
def test_which_container(own: str, default: str, named: str, found: str) -> None:
    annotations = {"astralyx.io/log-container": own, "kubectl.kubernetes.io/default-container": default}
    of = pod("p", containers=[{"name": "side"}, wants()], annotations=annotations)
    container = container_of(pod_of(of), named)
    assert container is not None
    assert container.name == found
