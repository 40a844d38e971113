"""What a webhook gets, and what it cannot make this server do."""

import hashlib
import hmac
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from ledger.notify import http, webhook
from ledger.notify.message import Message, NotSent, Setup
from tests.alerts.servers import LOOPBACK, hook

MESSAGE = Message(
    "key-1", "firing", "Alert: goodput_drop", "text", "https://goodput.example/x", document={"alert": {"id": 7}}
)


def send(url: str, setup: Setup = LOOPBACK) -> None:
    webhook.send(url, "secret", MESSAGE, setup)


def test_it_is_json_signed_and_has_a_key() -> None:
    with hook() as one:
        send(one.url)
    (got,) = one.received
    assert json.loads(got.body) == {
        "event": "firing", "title": "Alert: goodput_drop", "link": "https://goodput.example/x", "alert": {"id": 7},
    }  # fmt: skip
    assert got.headers["Idempotency-Key"] == "key-1"
    at, _, digest = got.headers["X-Goodput-Signature"].removeprefix("t=").partition(",v1=")
    assert abs(time.time() - int(at)) < 60
    assert digest == hmac.new(b"secret", at.encode() + b"." + got.body, hashlib.sha256).hexdigest()


@pytest.mark.parametrize(("status", "for_good"), [(500, False), (503, False), (400, False), (404, True), (410, True)])
def test_another_answer_says_its_number_and_no_more(status: int, for_good: bool) -> None:
    with hook(status) as one, pytest.raises(NotSent, match=f"answered {status}") as why:
        send(one.url)
    assert why.value.for_good is for_good


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with hook() as inside:

        def redirect(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            handler.send_header("Location", inside.url)
            handler.end_headers()

        with hook(redirect) as one, pytest.raises(NotSent, match="redirect"):
            send(one.url)
    assert inside.received == []


def test_a_loopback_server_is_not_reached_unless_allowed() -> None:
    with hook() as one:
        for url in (one.url, one.url.replace("http:", "https:"), one.url.replace("127.0.0.1", "localhost")):
            with pytest.raises(NotSent, match="not a public one"):
                send(url, Setup())
    assert one.received == []


def test_a_name_is_resolved_once_and_that_address_is_spoken_to() -> None:
    """Rebinding: the name leads to a public address when it is judged, and to this machine afterwards."""
    asked: list[str] = []

    def rebinding(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) > 1 else ["127.0.0.1"]

    with hook() as one:
        http.post(f"http://rebound.example:{one.port}/hook", b"{}", {}, LOOPBACK, rebinding)
    assert asked == ["rebound.example"]
    (got,) = one.received
    assert got.headers["Host"] == f"rebound.example:{one.port}"


def test_rebinding_to_a_private_address_connects_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(socket, "create_connection", lambda where, *_: made.append(where))
    answers = iter((["93.184.216.34", "127.0.0.1"], ["127.0.0.1"], ["::ffff:10.0.0.1"]))
    for _ in range(3):
        with pytest.raises(NotSent):
            http.post("https://rebound.example/hook", b"{}", {}, Setup(), lambda *_: next(answers))
    assert made == []


def test_a_resolver_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the one that nobody gave: what waits for it is a thread of its own."""
    monkeypatch.setattr(http, "RESOLVE_SECONDS", 0.2)
    asked, never = [], threading.Event()

    def silent(*of: object, **_: object) -> list[str]:
        asked.append(of[0])
        never.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    try:
        for resolver in (silent, http.resolve):
            with pytest.raises(NotSent, match="cannot be resolved") as why:
                http.post("https://slow.example/hook", b"{}", {}, Setup(), resolver)
            assert not why.value.for_good
    finally:
        never.set()
    assert asked == ["slow.example"] * 2


def test_an_answer_that_never_ends_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TOTAL_SECONDS", 0.5)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n")
        try:
            for _ in range(5_000):
                handler.wfile.write(b"X-A: b\r\n")
                time.sleep(0.02)
        except OSError:
            pass

    began = time.monotonic()
    with hook(drip) as one, pytest.raises(NotSent, match="in time"):
        send(one.url)
    assert time.monotonic() - began < 60, "the answer would take longer"


def test_of_a_large_answer_little_is_read() -> None:
    def large(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(1_000):
                handler.wfile.write(b"x" * 65_536)
        except OSError:
            large_was_cut.append(True)

    large_was_cut: list[bool] = []
    with hook(large) as one:
        send(one.url)
    assert large_was_cut == [True]


def test_what_is_no_http_or_nobody() -> None:
    def nonsense(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\x00\x01 nonsense\r\n\r\n")

    with hook(nonsense) as one, pytest.raises(NotSent, match="not in HTTP"):
        send(one.url)
    with pytest.raises(NotSent, match="did not answer"):
        send(one.url)


def test_a_certificate_that_nobody_vouches_for_is_not_trusted() -> None:
    with hook() as one, pytest.raises(NotSent):
        send(one.url.replace("http:", "https:"))
    assert one.received == []
