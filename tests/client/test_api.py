"""The client that delivers observations: once is enough, again is harmless, and it gives up in the end."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from astra.api import PAUSE_SECONDS_MAX, Api, ApiError, base_of

BATCH = {"source": "test/east", "sent_at": "2026-10-01T12:00:00Z", "workers": []}
ACCEPTED = {"accepted": 3, "duplicate": 1, "late": 2, "refused": [{"list": "workers", "index": 0, "error": "no"}]}


class Server:
    """Answers with what it was given, one after the other, and keeps what it was sent."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def api(self, patience: float = 600.0) -> Api:
        return Api(
            "http://ledger.example", "tok", patience=patience,
            transport=httpx.MockTransport(self), sleep=self.pauses.append,
        )  # fmt: skip


def refused(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"title": "no"}, headers=headers)


def accepted() -> httpx.Response:
    return httpx.Response(202, json=ACCEPTED)


def test_a_batch_is_posted_with_the_token() -> None:
    server = Server(accepted())
    with server.api() as api:
        answer = api.post_observations("east", BATCH)
    (request,) = server.requests
    assert (request.method, str(request.url)) == ("POST", "http://ledger.example/v1/clusters/east/observations")
    assert request.headers["Authorization"] == "Bearer tok"
    assert json.loads(request.content) == BATCH
    assert (answer.accepted, answer.duplicate, answer.late) == (3, 1, 2)
    assert answer.refused == ACCEPTED["refused"]
    assert server.pauses == []


@pytest.mark.parametrize(
    "trouble",
    [
        lambda: httpx.ConnectError("refused"),
        lambda: httpx.ReadTimeout("slow"),
        lambda: refused(503),
        lambda: refused(500),
        lambda: refused(429),
    ],
)
def test_trouble_that_passes_is_waited_out(trouble: Callable[[], httpx.Response | Exception]) -> None:
    server = Server(trouble(), trouble(), trouble(), accepted())
    with server.api() as api:
        assert api.post_observations("east", BATCH).accepted == 3
    assert len({request.content for request in server.requests}) == 1
    assert len(server.requests) == 4
    assert len(server.pauses) == 3
    for place, most in enumerate((0.5, 1.0, 2.0)):
        assert most / 2 <= server.pauses[place] <= most


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 415])
def test_a_refusal_is_not_repeated(status: int) -> None:
    server = Server(refused(status))
    with server.api() as api, pytest.raises(ApiError, match=str(status)) as raised:
        api.post_observations("east", BATCH)
    assert raised.value.status == status
    assert len(server.requests) == 1


def test_patience_ends() -> None:
    server = Server(httpx.ConnectError("refused"))
    with (
        server.api(patience=120) as api,
        pytest.raises(ApiError, match=r"no answer within 120 s.*ConnectError: refused"),
    ):
        api.post_observations("east", BATCH)
    assert 120 - PAUSE_SECONDS_MAX <= sum(server.pauses) <= 120
    assert max(server.pauses) <= PAUSE_SECONDS_MAX


def test_the_server_may_say_when_to_come_again() -> None:
    server = Server(refused(429, **{"Retry-After": "7"}), refused(503, **{"Retry-After": "9999"}), accepted())
    with server.api() as api:
        api.post_observations("east", BATCH)
    assert server.pauses == [7.0, PAUSE_SECONDS_MAX]


@pytest.mark.parametrize("address", ["http://a", "http://a/", "http://a/v1", "http://a/v1/"])
def test_v1_is_added_when_it_is_missing(address: str) -> None:
    assert base_of(address) == "http://a/v1/"
