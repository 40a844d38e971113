"""`astra astraeus goodput`: what it asks of the server, and the tables that it makes of the answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.client.conftest import Astra
from tests.client.scripted import TOKEN, Answer, Scripted, document, envelope, ledger, problem, row

FOOTNOTE = "USED = productive (running, GPUs busy); GOODPUT = used / held; WAITING = asked for, not yet held"
COUNTED = "2026-09-24 13:00 to 2026-10-01 13:00 UTC, counted until 2026-10-01 12:34 UTC, not final yet"
LLM = ledger(
    productive=300.1, idle=8.2, stalled=4.7, starting=2.1, restart=3.3, failure=3.5, preemption=1.2,
    waits={"waiting": 12.4, "failure": 1.5}, blind=9.8,
)  # fmt: skip
SWEEP = ledger(productive=112.4, idle=30.05, starting=0.65, waits={"waiting": 40})
TOTAL = ledger(
    productive=412.5, idle=38.25, stalled=4.7, starting=2.75, restart=3.3, failure=3.5, preemption=1.2,
    waits={"waiting": 52.4, "failure": 1.5}, blind=9.8,
)  # fmt: skip
BY_RUN = envelope(
    [row("llm", LLM, uid="8c1f", workspace="vision"), row("sweep-7", SWEEP, uid="77aa", workspace="vision")], TOTAL
)
TABLE = (
    "GPU-hours\n"
    "RUN       HELD   USED  GOODPUT  IDLE  STALLED  START  RESTART  FAILURE  PREEMPT  WAITING\n"
    "llm      323.1  300.1      93%   8.2      4.7    2.1      3.3      5.0      1.2     13.9\n"
    "sweep-7  143.1  112.4      79%  30.0      0.0    0.6      0.0      0.0      0.0     40.0\n"
    "TOTAL    466.2  412.5      88%  38.2      4.7    2.8      3.3      5.0      1.2     53.9\n"
    f"{FOOTNOTE}\n"
    "Waits to be placed again stand in their cause's column and in WAITING.\n"
    "GOODPUT 88%, of it unobserved 2%\n"
    f"{COUNTED}\n"
)


def test_the_table(astra: Astra, server: Scripted) -> None:
    server.says("goodput", BY_RUN)
    done = astra("astraeus", "goodput", "--by", "run", "--days", "7")
    assert (done.code, done.err) == (0, "")
    assert done.out == TABLE
    ((path, query, headers),) = server.requests
    assert (path, query) == ("goodput", {"by": "run", "days": "7", "unit": "gpu_us"})
    assert headers["Authorization"] == f"Bearer {TOKEN}"


def test_an_empty_table(astra: Astra, server: Scripted) -> None:
    server.says("goodput", envelope([], ledger(), "workspace", complete=True, revised_at="2026-10-01T11:02:03Z"))
    done = astra("astraeus", "goodput")
    assert done.out.splitlines() == [
        "GPU-hours",
        "WORKSPACE  HELD  USED  GOODPUT  IDLE  STALLED  START  RESTART  FAILURE  PREEMPT  WAITING",
        "TOTAL       0.0   0.0        -   0.0      0.0    0.0      0.0      0.0      0.0      0.0",
        FOOTNOTE,
        COUNTED.replace("not final yet", "final, revised 2026-10-01 11:02 UTC"),
    ]
    assert server.asked("goodput") == [{"unit": "gpu_us"}]


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
def test_the_first_column_is_the_grouping(astra: Astra, server: Scripted, by: str) -> None:
    server.says("goodput", envelope([row("a name", SWEEP, uid="u", pool="p")], SWEEP, by))
    lines = astra("astraeus", "goodput", "--by", by).out.splitlines()
    assert lines[1].split() == [
        by.upper(), "HELD", "USED", "GOODPUT", "IDLE", "STALLED", "START", "RESTART", "FAILURE", "PREEMPT", "WAITING",
    ]  # fmt: skip
    assert lines[2].startswith("a name ")
    assert server.asked("goodput")[0]["by"] == by


def test_names_that_are_shared_are_told_apart(astra: Astra, server: Scripted) -> None:
    runs = [row("llm", LLM, uid="8c1f"), row("llm", SWEEP, uid="77aa"), row("other", SWEEP, uid="1")]
    server.says("goodput", envelope(runs, TOTAL))
    lines = astra("astraeus", "goodput", "--by", "run").out.splitlines()
    assert [line.split("  ")[0] for line in lines[2:6]] == ["llm (8c1f)", "llm (77aa)", "other", "TOTAL"]
    machines = [row("gpu-7", LLM, pool="h100"), row("gpu-7", SWEEP, pool="a100")]
    server.says("goodput", envelope(machines, TOTAL, "machine"))
    lines = astra("astraeus", "goodput", "--by", "machine").out.splitlines()
    assert [line.split("  ")[0] for line in lines[2:4]] == ["gpu-7 (h100)", "gpu-7 (a100)"]


def test_wide_letters_and_long_names_keep_the_columns(astra: Astra, server: Scripted) -> None:
    server.says("goodput", envelope([row("漢字", LLM), row("n" * 200, LLM), row("a\x1b[1mb", LLM)], TOTAL))
    lines = astra("astraeus", "goodput", "--by", "run").out.splitlines()
    assert {len(line) + line.count("漢") + line.count("字") for line in lines[1:6]} == {len(lines[1])}
    assert "a\\x1b[1mb " in lines[4]


def test_everything_that_can_be_asked(astra: Astra, server: Scripted) -> None:
    server.says("goodput", BY_RUN)
    done = astra(
        "astraeus", "goodput", "--by", "run", "--workspace", "vision", "--pool", "h 100", "--machine", "gpu-7",
        "--user", "ana", "--cluster", "west", "--sort", "-waiting",
        "--start", "2026-09-24", "--end", "2026-09-25T12:00+02:00",
    )  # fmt: skip
    assert done.code == 0
    assert server.asked("goodput") == [
        {
            "by": "run",
            "workspace": "vision",
            "pool": "h 100",
            "machine": "gpu-7",
            "user": "ana",
            "cluster": "west",
            "sort": "-waiting",
            "start": "2026-09-24T00:00:00.000Z",
            "end": "2026-09-25T10:00:00.000Z",
            "unit": "gpu_us",
        }
    ]


# --- pages ---


def paged(count: int, size: int) -> Any:
    """Answer with `count` runs, `size` a page, each page counted a second later."""

    def answer(query: dict[str, str]) -> Answer:
        offset, limit = int(query.get("offset", 0)), min(size, int(query.get("limit", 100)))
        rows = [row(f"run-{n}", SWEEP, uid=f"{n}") for n in range(offset, min(offset + limit, count))]
        more = offset + limit < count
        following = f"http://elsewhere.example/v1/goodput?by=run&limit={limit}&offset={offset + limit}&unit=gpu_us"
        until = f"2026-10-01T12:34:{offset // limit:02d}Z"
        return document(envelope(rows, TOTAL, next=following if more else None, counted_until=until))

    return answer


def test_one_page_says_that_there_are_more(astra: Astra, server: Scripted) -> None:
    server.says("goodput", paged(25, 10))
    done = astra("astraeus", "goodput", "--by", "run")
    assert done.out.count("run-") == 10
    assert "More rows are in the TOTAL than in the table: --all shows them.\n" in done.out
    assert len(server.requests) == 1


def test_all_pages_are_followed_and_the_token_goes_to_the_server_alone(astra: Astra, server: Scripted) -> None:
    server.says("goodput", paged(25, 10))
    done = astra("astraeus", "goodput", "--by", "run", "--all")
    assert (done.code, done.out.count("run-")) == (0, 25)
    assert "--all" not in done.out
    assert "Rows after the first 1,000 were counted a moment later than the TOTAL.\n" in done.out
    asked = server.asked("goodput")
    assert [query.get("offset") for query in asked] == [None, "10", "20"]
    assert asked[0]["limit"] == "1000"


def test_json_of_all_pages_is_one_document(astra: Astra, server: Scripted) -> None:
    server.says("goodput", paged(25, 10))
    answer = json.loads(astra("astraeus", "goodput", "--by", "run", "--all", "--json").out)
    assert [name["name"] for name in answer["rows"]] == [f"run-{n}" for n in range(25)]
    assert answer["next"] is None
    assert answer["total"] == TOTAL


def test_json_is_the_servers_own(astra: Astra, server: Scripted) -> None:
    body = b'{"rows": [{"name": "\xc3\xa4"}], "total": {"allocated_gpu_hours": 12.500000}, "next": null}'
    server.says("goodput", body)
    done = astra("astraeus", "goodput", "--by", "run", "--json", "--unit", "gpu_hours")
    assert (done.code, done.out) == (0, body.decode() + "\n")
    assert server.asked("goodput") == [{"by": "run", "unit": "gpu_hours"}]


def test_csv_is_the_servers_own(astra: Astra, server: Scripted) -> None:
    body = "name,start\r\n'=ä,2026\r\n".encode()
    server.says("goodput", lambda _: (200, {"Content-Type": "text/csv"}, body))
    done = astra("astraeus", "goodput", "--by", "run", "--csv", "--unit", "gpu_us")
    assert (done.code, done.out) == (0, body.decode())
    assert server.asked("goodput") == [{"by": "run", "unit": "gpu_us", "format": "csv"}]


def test_csv_of_all_pages_has_one_head(astra: Astra, server: Scripted) -> None:
    def answer(query: dict[str, str]) -> Answer:
        offset = int(query.get("offset", 0))
        following = f'<http://elsewhere.example/v1/goodput?q=a%2Cb&offset={offset + 1}&format=csv>; rel="next"'
        headers = {"Content-Type": "text/csv", **({"Link": following} if offset < 2 else {})}
        return 200, headers, f"name\r\nrun-{offset}\r\n".encode()

    server.says("goodput", answer)
    done = astra("astraeus", "goodput", "--by", "run", "--all", "--csv")
    assert (done.code, done.out) == (0, "name\r\nrun-0\r\nrun-1\r\nrun-2\r\n")
    assert server.asked("goodput")[1:] == [{"q": "a,b", "offset": f"{n}", "format": "csv"} for n in (1, 2)]
    assert astra("astraeus", "goodput", "--by", "run", "--csv").out == "name\r\nrun-0\r\n"


# --- one run ---


def test_a_run_is_asked_for_since_it_was_submitted(astra: Astra, server: Scripted) -> None:
    server.says("runs/llm/goodput", envelope([row("llm", LLM, uid="8c1f")], LLM, start="2026-08-01T00:00:00Z"))
    done = astra("astraeus", "goodput", "--run", "llm")
    assert done.out.splitlines()[2].split()[:3] == ["llm", "323.1", "300.1"]
    assert "2026-08-01 00:00 to 2026-10-01 13:00 UTC" in done.out
    assert server.requests[0][1] == {"unit": "gpu_us"}
    astra("astraeus", "goodput", "--run", "llm", "--by", "run", "--days", "2")
    assert server.asked("runs/llm/goodput")[1] == {"days": "2", "unit": "gpu_us"}


def test_a_run_by_machine_is_of_the_hours_since_it_was_submitted(astra: Astra, server: Scripted) -> None:
    server.says("runs/llm/goodput", envelope([row("llm", LLM, uid="8c1f")], LLM, start="2026-08-01T00:00:00Z"))
    server.says("goodput", envelope([row("gpu-7", LLM, pool="h100")], LLM, "machine"))
    assert astra("astraeus", "goodput", "--run", "llm", "--by", "machine").code == 0
    hours = {"start": "2026-08-01T00:00:00Z", "end": "2026-10-01T13:00:00Z"}
    assert server.asked("goodput") == [{"by": "machine", "run": "8c1f", "unit": "gpu_us", **hours}]
    astra("astraeus", "goodput", "--run", "llm", "--pool", "h100", "--days", "2")
    said = {"by": "run", "run": "8c1f", "pool": "h100", "days": "2", "unit": "gpu_us"}
    assert server.asked("goodput")[1] == said
    assert server.asked("runs/llm/goodput")[1] == {"days": "2", "unit": "gpu_us"}


def test_a_run_of_a_workspace_need_not_be_the_newest_of_its_name(astra: Astra, server: Scripted) -> None:
    server.says("goodput", envelope([row("llm", LLM, uid="8c1f")], LLM))
    assert astra("astraeus", "goodput", "--run", "llm", "--workspace", "speech").code == 0
    said = {"by": "run", "run": "llm", "workspace": "speech", "days": "400", "unit": "gpu_us"}
    assert [query for _, query, _ in server.requests] == [said]


def test_a_run_of_a_cluster_need_not_be_the_newest_of_its_name(astra: Astra, server: Scripted) -> None:
    server.says("goodput", envelope([row("llm", LLM, uid="8c1f")], LLM))
    assert astra("astraeus", "goodput", "--run", "llm", "--cluster", "west").code == 0
    said = {"by": "run", "run": "llm", "cluster": "west", "days": "400", "unit": "gpu_us"}
    assert [query for _, query, _ in server.requests] == [said]


@pytest.mark.parametrize("more", [[], ["--by", "pool"], ["--csv"]])
def test_a_run_of_which_nothing_was_counted_is_an_empty_answer(astra: Astra, server: Scripted, more: list[str]) -> None:
    def nothing(query: dict[str, str]) -> Answer:
        csv = 200, {"Content-Type": "text/csv"}, b"name,start\r\n"
        return csv if query.get("format") == "csv" else document(envelope([], ledger()))

    server.says("runs/cpu-only/goodput", nothing)
    server.says("goodput", nothing)
    done = astra("astraeus", "goodput", "--run", "cpu-only", *more)
    assert (done.code, done.err) == (0, "")


def test_a_name_in_an_address_stays_one_name(astra: Astra, server: Scripted) -> None:
    server.says("runs/a%2Fb%3F%20%25/goodput", BY_RUN)
    assert astra("astraeus", "goodput", "--run", "a/b? %").code == 0


# --- weeks ---


def week(start: str, end: str, *rows: dict[str, Any], total: dict[str, Any], partial: bool = False) -> dict[str, Any]:
    return {"start": start, "end": end, "partial": partial, "rows": list(rows), "total": total, "count": len(rows)}


def test_a_table_for_each_week(astra: Astra, server: Scripted) -> None:
    first = week("2025-12-29T00:00:00Z", "2026-01-05T00:00:00Z", row("h100", LLM), total=LLM)
    last = week("2026-01-05T00:00:00Z", "2026-01-08T13:00:00Z", row("h100", LLM), row("a100", SWEEP), total=TOTAL,
                partial=True)  # fmt: skip
    both = ledger(productive=712.6, idle=46.45, starting=4.85)
    answer = envelope([], both, "pool", start=first["start"], end=last["end"], weeks=[first, last])
    del answer["rows"], answer["next"]
    server.says("goodput/weekly", answer)
    done = astra("astraeus", "goodput", "--weeks", "2", "--by", "pool")
    head = "POOL    HELD   USED  GOODPUT  IDLE  STALLED  START  RESTART  FAILURE  PREEMPT  WAITING"
    assert done.out.splitlines() == [
        "GPU-hours",
        "2026-W01, from Monday 2025-12-29",
        head,
        "h100   323.1  300.1      93%   8.2      4.7    2.1      3.3      5.0      1.2     13.9",
        "TOTAL  323.1  300.1      93%   8.2      4.7    2.1      3.3      5.0      1.2     13.9",
        "",
        "2026-W02, from Monday 2026-01-05, still running",
        head,
        "h100   323.1  300.1      93%   8.2      4.7    2.1      3.3      5.0      1.2     13.9",
        "a100   143.1  112.4      79%  30.0      0.0    0.6      0.0      0.0      0.0     40.0",
        "TOTAL  466.2  412.5      88%  38.2      4.7    2.8      3.3      5.0      1.2     53.9",
        "",
        "All 2 weeks",
        head,
        "TOTAL  763.9  712.6      93%  46.4      0.0    4.8      0.0      0.0      0.0      0.0",
        "",
        FOOTNOTE,
        "2025-12-29 00:00 to 2026-01-08 13:00 UTC, counted until 2026-10-01 12:34 UTC, not final yet",
    ]
    assert server.asked("goodput/weekly") == [{"weeks": "2", "by": "pool", "unit": "gpu_us"}]


def test_weeks_with_more_rows_than_a_page_say_so(astra: Astra, server: Scripted) -> None:
    only = week("2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z", row("llm", LLM), total=TOTAL) | {"count": 2}
    server.says("goodput/weekly", envelope([], TOTAL, weeks=[only]))
    assert "--all shows them" in astra("astraeus", "goodput", "--weeks", "1", "--by", "run").out
    astra("astraeus", "goodput", "--weeks", "1", "--by", "run", "--all")
    assert server.asked("goodput/weekly")[1]["limit"] == "1000"


# --- names that there are not ---


def known_names(server: Scripted, *names: str) -> None:
    """A server that has ledgers under these names alone."""

    def answer(query: dict[str, str]) -> Answer:
        if query.get("format") == "csv":
            return 200, {"Content-Type": "text/csv"}, b"name,start\r\n"
        by = query.get("by", "workspace")
        here = [name for name in names if query.get(by, name) == name]
        return document(envelope([row(name, SWEEP, uid="u", pool="p") for name in here], SWEEP, by))

    server.says("goodput", answer)


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_a_wrong_name_is_answered_with_the_nearest(astra: Astra, server: Scripted, form: list[str]) -> None:
    known_names(server, "h100-large", "H100", "a100", "v100", "cpu")
    done = astra("astraeus", "goodput", "--by", "pool", "--pool", "h10", *form)
    assert (done.code, done.out) == (1, "")
    assert done.err == "astra: There is no pool h10 that you may see; the nearest names are H100, h100-large, v100.\n"


def test_a_wrong_name_that_is_like_no_other(astra: Astra, server: Scripted) -> None:
    known_names(server, "ana")
    done = astra("astraeus", "goodput", "--by", "user", "--user", "zzzzzz")
    assert done.code == 1
    assert done.err == (
        "astra: There is no user zzzzzz that you may see, nor one with a name like it: "
        "`astra astraeus goodput --by user --days 400` lists what there is.\n"
    )


def test_clusters_are_known_by_their_pools(astra: Astra, server: Scripted) -> None:
    def answer(query: dict[str, str]) -> Answer:
        clusters = [name for name in ("west", "", "east", "west") if query.get("cluster", name) == name]
        rows = [row("h100", SWEEP, cluster=name) for name in clusters]
        return document(envelope(rows, ledger(), query.get("by", "workspace")))

    server.says("goodput", answer)
    assert astra("astraeus", "goodput", "--cluster", "west").code == 0
    done = astra("astraeus", "goodput", "--cluster", "wes")
    assert done == (1, "", "astra: There is no cluster wes that you may see; the nearest names are west, east.\n")
    assert {query["by"] for query in server.asked("goodput") if "by" in query} == {"pool"}
    lists = "`astra astraeus goodput --by pool --days 400 --csv` lists what there is."
    assert astra("astraeus", "goodput", "--cluster", "zzzzzz").err.endswith(f"nor one with a name like it: {lists}\n")


def test_a_right_name_without_time_in_these_hours_is_an_empty_table(astra: Astra, server: Scripted) -> None:
    def answer(query: dict[str, str]) -> Answer:
        rows = [row("ana", SWEEP)] if query.get("days") == "400" else []
        return document(envelope(rows, ledger(), "user"))

    server.says("goodput", answer)
    done = astra("astraeus", "goodput", "--by", "user", "--user", "ana")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[2].startswith("TOTAL")


def test_a_wrong_run_is_answered_with_the_nearest(astra: Astra, server: Scripted) -> None:
    known_names(server, "llm", "llm-2", "sweep")
    server.says("runs/lm/goodput", lambda _: problem(404, "There is nothing at this address that you may see."))
    done = astra("astraeus", "goodput", "--run", "lm")
    assert (done.code, done.out) == (1, "")
    assert done.err == "astra: There is no run lm that you may see; the nearest names are llm, llm-2.\n"


def test_names_are_completed_by_asking_the_server(server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.shell_completion import ShellComplete

    from astra.cli import main

    known_names(server, "llm", "llm-2", "sweep")
    complete = ShellComplete(main, {}, "astra", "_ASTRA_COMPLETE")
    found = complete.get_completions(["astraeus", "goodput", "--run"], "ll")
    assert [item.value for item in found] == ["llm", "llm-2"]
    assert server.asked("goodput")[0]["q"] == "ll"
    assert [item.value for item in complete.get_completions(["astraeus", "goodput"], "--st")] == ["--start"]
    monkeypatch.setenv("ASTRALYX_API", "http://127.0.0.1:1")
    assert complete.get_completions(["astraeus", "goodput", "--run"], "ll") == []
