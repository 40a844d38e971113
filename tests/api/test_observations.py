"""Observations through the endpoint: what becomes of items, and what a body may be."""

import io
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError

from ledger.decode import BODY_BYTES_MAX
from ledger.decode.values import instant as instant_of
from ledger.decode.values import iso
from ledger.models import Refused, Run, State
from tests.api.conftest import Api, instant

RUN = {"uid": "8c1f", "workspace": "vision", "name": "llm"}


def state(seconds_ago: float, **values: Any) -> dict[str, Any]:
    return {"run": "8c1f", "worker": "worker-0", "at": instant(seconds_ago), **values}


def batch(**values: Any) -> dict[str, Any]:
    return {"source": "kubernetes/east", "sent_at": instant(0), **values}


def counts(response: Any) -> tuple[int, int, int, int]:
    assert response.status_code == 202, response.content
    answer = response.json()
    assert list(answer) == ["accepted", "duplicate", "late", "refused"]
    return answer["accepted"], answer["duplicate"], answer["late"], len(answer["refused"])


def problem(response: Any, status: int) -> str:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert response["Cache-Control"] == "no-store"
    said = response.json()
    assert list(said) == ["type", "title", "status", "detail"]
    assert said["status"] == status
    return str(said["detail"])


def test_new_again_and_late(api: Api) -> None:
    token = api.token("ingest")
    first = batch(
        machines=[{"name": "gpu-7", "pool": "h100", "gpus": 8}],
        runs=[RUN],
        workers=[state(600, phase="running", gpus=8, machine="gpu-7")],
        readings=[state(300, gpu_busy=90, step=7)],
    )
    assert counts(api.post(first, token)) == (4, 0, 0, 0)
    assert counts(api.post(first, token))[1:] == (2, 0, 0)
    assert counts(api.post(batch(readings=[state(400, gpu_busy=90)]), token)) == (0, 0, 1, 0)
    assert counts(api.post(batch(readings=[state(200, gpu_busy="N/A")]), token)) == (1, 0, 0, 0)
    assert counts(api.post(batch(), token)) == (0, 0, 0, 0)
    assert State.objects.count() == 1


def test_lines(api: Api) -> None:
    lines = [batch(), {"list": "runs", **RUN}, {"list": "workers", **state(60, phase="running", gpus=1)}]
    body = "\n".join(json.dumps(line) for line in lines).encode()
    token = api.token("ingest")
    assert counts(api.post(body, token, content_type="application/x-ndjson")) == (2, 0, 0, 0)


def test_items_are_refused_one_by_one_kept_and_listed(api: Api) -> None:
    token = api.token("ingest")
    huge = 10**30
    items = [state(60, phase="running", gpus=8), state(60, gpus=huge), state(-3600), {**state(60), "run": "nobody"}]
    answer = api.post(batch(runs=[RUN], workers=items), token)
    assert counts(answer) == (2, 0, 0, 3)
    said = {refusal["index"]: (refusal["list"], refusal["field"]) for refusal in answer.json()["refused"]}
    assert said == {1: ("workers", "gpus"), 2: ("workers", "at"), 3: ("workers", "run")}

    listed = api.get("clusters/east/refused", api.token("admin"))
    assert listed.status_code == 200
    found = {item["index"]: item for item in listed.json()["refused"]}
    assert found[1]["item"] == items[1]
    assert (found[1]["source"], found[1]["list"], found[1]["field"]) == ("kubernetes/east", "workers", "gpus")
    assert found[2]["error"] == "future"
    assert found[3]["error"] == "unknown_run"
    for index in (2, 3):
        assert found[index]["item"] == {**items[index], "at": iso(instant_of(items[index]["at"]))}

    out = StringIO()
    call_command("refused", "--organization", "acme", "--cluster", "east", stdout=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert any('acme/east "kubernetes/east" workers[1] "gpus": must be' in line and str(huge) in line for line in lines)
    for option in (("--organization", "globex"), ("--source", "other"), ("--limit", "0")):
        out = StringIO()
        call_command("refused", *option, stdout=out)
        assert out.getvalue() == ""


def test_refused_items_come_in_pages_the_newest_first(api: Api) -> None:
    token = api.token("ingest")
    for index in range(5):
        api.post(batch(machines=[{"name": "gpu-7", "gpus": -1 - index}]), token)
    seen: list[int] = []
    following: str | None = "http://testserver/v1/clusters/east/refused?limit=2"
    while following:
        answer = api.client.get(following, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
        seen += [item["item"]["gpus"] for item in answer.json()["refused"]]
        following = answer.json()["next"]
    assert seen == [-5, -4, -3, -2, -1]


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"offset": -1}, {"page": 2}])
def test_pages_of_refused_items_that_there_are_not(api: Api, query: dict[str, Any]) -> None:
    assert problem(api.get("clusters/east/refused", api.token("admin"), **query), 400)


def test_a_body_that_is_no_batch_takes_nothing(api: Api) -> None:
    token = api.token("ingest")
    for body in (b" ", b"{", b"[]", b'{"source": "k"}', b"\xff", b"[" * 100_000, b'{"source": NaN}'):
        problem(api.post(body, token), 400)
    twice = json.dumps(batch(runs=[RUN]))[:-3] + ', "uid": "other"}]}'
    assert "twice" in problem(api.post(twice.encode(), token), 400)
    ahead = {"source": "k", "sent_at": instant(-600), "runs": [RUN]}
    assert "clock" in problem(api.post(ahead, token), 400)
    assert not Run.objects.exists()
    assert not Refused.objects.exists()


def test_content_types_and_encodings(api: Api) -> None:
    token = api.token("ingest")
    body = json.dumps(batch()).encode()
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/json; charset=latin-1"):
        problem(api.post(body, token, content_type=kind), 415)
    for encoding in ("gzip", "deflate", "br", "identity", "x"):
        problem(api.post(body, token, **{"Content-Encoding": encoding}), 415)
    assert api.post(body, token, content_type="application/json; charset=utf-8").status_code == 202


def test_bytes_at_the_limit_and_one_more(api: Api) -> None:
    token = api.token("ingest")
    body = json.dumps(batch()).encode().ljust(BODY_BYTES_MAX)
    assert counts(api.post(body, token)) == (0, 0, 0, 0)
    problem(api.post(body + b" ", token), 413)


def test_a_body_whose_length_was_not_told_is_read_to_the_limit_and_no_further(api: Api) -> None:
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1) -> bytes:
            self.given += size
            return b" " * size

    class Short(Endless):
        text = json.dumps(batch()).encode()

        def read(self, size: int = -1) -> bytes:
            piece, self.text = self.text[:7], self.text[7:]
            return piece[:size]

    def sent(source: Endless) -> Any:
        return api.client.generic(
            "POST",
            "/v1/clusters/east/observations",
            headers={"Authorization": f"Bearer {api.token('ingest')}"},
            **{"wsgi.input": source, "wsgi.input_terminated": True, "CONTENT_TYPE": "application/json"},
        )

    class Broken(Endless):
        def read(self, size: int = -1) -> bytes:
            raise OSError("the peer is gone")

    assert "ended" in problem(sent(Broken()), 400)
    endless = Endless()
    problem(sent(endless), 413)
    assert endless.given <= BODY_BYTES_MAX + 1
    assert counts(sent(Short())) == (0, 0, 0, 0)


def test_a_database_that_does_not_answer(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("secret detail")

    monkeypatch.setattr("ledger.api.observations.ingest", fail)
    answer = api.post(batch(), api.token("ingest"))
    assert "secret" not in problem(answer, 503)
    assert answer["Retry-After"]


def test_a_mistake_of_ours_is_a_problem_as_well(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise LookupError("secret detail")

    monkeypatch.setattr("ledger.api.observations.ingest", fail)
    api.client.raise_request_exception = False
    assert "secret" not in problem(api.post(batch(), api.token("ingest")), 500)
    assert "secret detail" in caplog.text


def test_other_methods(api: Api) -> None:
    token = api.token("ingest", "read")
    problem(api.get("clusters/east/observations", token), 405)
    for method in (api.client.put, api.client.delete, api.client.options, api.client.post):
        answer = method("/v1/goodput", headers={"Authorization": f"Bearer {token}"})
        problem(answer, 405)
