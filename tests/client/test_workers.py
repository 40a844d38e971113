"""`astra astraeus workers`: who stands still now."""

from __future__ import annotations

import json
from typing import Any

from tests.client.conftest import Astra
from tests.client.scripted import Answer, Scripted, document


def worker(run: str, uid: str = "8c1f", **more: Any) -> dict[str, Any]:
    return {
        "workspace": "vision", "run": run, "uid": uid, "worker": "worker-3", "machine": "gpu-7", "pool": "h100",
        "since": "2026-10-01T11:20:59.5Z", "step": 1200, "gpus": 8, **more,
    }  # fmt: skip


def now(*workers: dict[str, Any], following: str | None = None) -> dict[str, Any]:
    return {"workers": list(workers), "at": "2026-10-01T12:34:56.789Z", "next": following}


def test_the_table(astra: Astra, server: Scripted) -> None:
    server.says("workers", now(worker("llm"), worker("sweep\x1b", "1", step=None, gpus=0.142, worker="w")))
    done = astra("astraeus", "workers", "--stalled")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Stalled workers",
        "RUN        WORKER    WORKSPACE  MACHINE  POOL  SINCE              GPUS  STEP",
        "llm        worker-3  vision     gpu-7    h100  2026-10-01 11:20      8  1200",
        "sweep\\x1b  w         vision     gpu-7    h100  2026-10-01 11:20  0.142     -",
        "SINCE = the last progress, in UTC; STEP = the last step that was told",
        "Looked at 2026-10-01 12:34 UTC.",
    ]
    assert server.asked("workers") == [{"state": "stalled"}]


def test_runs_of_one_name_are_told_apart(astra: Astra, server: Scripted) -> None:
    server.says("workers", now(worker("llm"), worker("llm", "77aa"), worker("sweep", "1"), worker("sweep", "1")))
    lines = astra("astraeus", "workers", "--stalled").out.splitlines()[2:6]
    assert [line.split("  ")[0] for line in lines] == ["llm (8c1f)", "llm (77aa)", "sweep", "sweep"]


def test_nobody_is_stalled(astra: Astra, server: Scripted) -> None:
    server.says("workers", now())
    done = astra("astraeus", "workers", "--stalled")
    assert (done.code, done.out) == (0, "No worker is stalled.\nLooked at 2026-10-01 12:34 UTC.\n")


def paged(query: dict[str, str]) -> Answer:
    offset = int(query.get("offset", 0))
    more = f"http://elsewhere.example/v1/workers?state=stalled&offset={offset + 1}" if offset < 2 else None
    return document(now(worker(f"run-{offset}"), following=more))


def test_pages(astra: Astra, server: Scripted) -> None:
    server.says("workers", paged)
    done = astra("astraeus", "workers", "--stalled")
    assert "More workers are stalled than are in the table: --all shows them.\n" in done.out
    assert done.out.count("run-") == 1
    done = astra("astraeus", "workers", "--stalled", "--all")
    assert "--all" not in done.out
    assert done.out.count("run-") == 3
    assert server.asked("workers")[1:] == [
        {"state": "stalled", "limit": "1000"},
        {"state": "stalled", "offset": "1"},
        {"state": "stalled", "offset": "2"},
    ]


def test_json(astra: Astra, server: Scripted) -> None:
    server.says("workers", b'{"workers": [], "at": "2026-10-01T12:34:56Z",  "next": null}')
    done = astra("astraeus", "workers", "--stalled", "--json")
    assert (done.code, done.out) == (0, '{"workers": [], "at": "2026-10-01T12:34:56Z",  "next": null}\n')
    server.says("workers", paged)
    answer = json.loads(astra("astraeus", "workers", "--stalled", "--all", "--json").out)
    assert [one["run"] for one in answer["workers"]] == ["run-0", "run-1", "run-2"]
    assert answer["next"] is None


def test_which_workers_must_be_said(astra: Astra, server: Scripted) -> None:
    done = astra("astraeus", "workers")
    assert done == (2, "", "astra: Which workers? Say --stalled or --stragglers. See: astra astraeus workers --help\n")


def test_the_server_says_no(astra: Astra, server: Scripted) -> None:
    server.refuses("workers", 403, "This needs a token with the scope read.")
    assert astra("astraeus", "workers", "--stalled") == (1, "", "astra: This needs a token with the scope read.\n")
    server.says("workers", {"workers": [{}], "at": "", "next": None})
    done = astra("astraeus", "workers", "--stalled")
    assert (done.code, done.out) == (1, "")
    assert "does not understand the server's answer" in done.err


def straggler(run: str, **more: Any) -> dict[str, Any]:
    slow = {"step_seconds": 2.5, "gang_step_seconds": 1.25, "slower": 2.0, "steps_behind": 0}
    return {**worker(run), **slow, "gang_gpus": 32, "gpus_waiting": 16, **more}


def test_the_table_of_stragglers(astra: Astra, server: Scripted) -> None:
    other = {"steps_behind": 7, "slower": 1.305, "step_seconds": 12.345, "gpus_waiting": 13.333}
    server.says("workers", now(straggler("llm"), straggler("sweep", **other)))
    done = astra("astraeus", "workers", "--stragglers")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Stragglers",
        "RUN    WORKER    WORKSPACE  MACHINE  POOL  SINCE             SLOWER  STEP S  BEHIND  GPUS WAIT",
        "llm    worker-3  vision     gpu-7    h100  2026-10-01 11:20   2.00x     2.5       0         16",
        "sweep  worker-3  vision     gpu-7    h100  2026-10-01 11:20   1.30x    12.3       7       13.3",
        "SLOWER = its step time / its gang's; BEHIND = steps; GPUS WAIT = in its gang, if that waits",
        "Looked at 2026-10-01 12:34 UTC.",
    ]
    assert server.asked("workers") == [{"state": "straggler"}]


def test_nobody_straggles(astra: Astra, server: Scripted) -> None:
    server.says("workers", now())
    done = astra("astraeus", "workers", "--stragglers")
    assert (done.code, done.out) == (0, "No worker is a straggler.\nLooked at 2026-10-01 12:34 UTC.\n")


def test_both_kinds_at_once_are_none(astra: Astra, server: Scripted) -> None:
    done = astra("astraeus", "workers", "--stalled", "--stragglers")
    assert (done.code, "Say --stalled or --stragglers." in done.err) == (2, True)
