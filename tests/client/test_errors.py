"""When there is no answer: one sentence on standard error that says what to do, and the exit code."""

from __future__ import annotations

import socket

import pytest

from tests.client.conftest import Astra
from tests.client.scripted import LEDGERS, Scripted, envelope, ledger

ASK = ("astraeus", "goodput")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_no_server_is_named(astra: Astra) -> None:
    done = astra(*ASK, "--token", "t")
    assert done == (
        2, "", "astra: Which server? Set ASTRALYX_API (or --api) to its address, like https://goodput.example.com\n"
    )  # fmt: skip


def test_no_token_is_named(astra: Astra) -> None:
    done = astra(*ASK, "--api", "http://127.0.0.1:1")
    said = "astra: Who asks? Set ASTRALYX_TOKEN (or --token) to a token with the scope read.\n"
    assert done == (2, "", said)


@pytest.mark.parametrize(
    "address",
    ["goodput.example.com", "ftp://a", "http://", "http://a:b", "http://a:99999", "http://me:it@a", "http://a/?b"],
)
def test_the_address_is_none(astra: Astra, address: str) -> None:
    done = astra(*ASK, "--api", address, "--token", "t")
    said = "astra: ASTRALYX_API (or --api) must be the address of a server, like https://goodput.example.com\n"
    assert done == (2, "", said)


@pytest.mark.parametrize("token", ["a b", "a\nb", "tökén", "a\x1b"])
def test_the_token_cannot_be_one(astra: Astra, token: str) -> None:
    done = astra(*ASK, "--api", "http://127.0.0.1:1", "--token", token)
    said = "astra: ASTRALYX_TOKEN (or --token) has characters that no token has: copy it again.\n"
    assert done == (2, "", said)


def test_nothing_answers(astra: Astra) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    done = astra(*ASK, "--api", address, "--token", "t")
    asks = "is the address right (ASTRALYX_API or --api), and does the server run?"
    assert done == (1, "", f"astra: No answer from {address}/v1/ (Connection refused): {asks}\n")


def test_no_such_host(astra: Astra) -> None:
    done = astra(*ASK, "--api", "http://no-such-host.invalid/v1/", "--token", "t")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("astra: No answer from http://no-such-host.invalid/v1/ (")
    assert done.err.count("\n") == 1


def test_the_server_hangs_up(astra: Astra) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        silent.listen()
        from threading import Thread

        def hang_up() -> None:
            connection, _ = silent.accept()
            connection.close()

        thread = Thread(target=hang_up)
        thread.start()
        done = astra(*ASK, "--api", address, "--token", "t")
        thread.join()
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"astra: No answer from {address}/v1/ (")


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (400, {}, "A sentence of the server."),
        (401, {}, "{base} does not know this token, or it has ended: set ASTRALYX_TOKEN (or --token) to another."),
        (403, {}, "A sentence of the server."),
        (302, {"Location": "/login"}, "{base} has moved to {origin}: set ASTRALYX_API (or --api) to that."),
        (404, {}, "A sentence of the server."),
        (
            301,
            {"Location": "https://a/v1/goodput?by=run"},
            "{base} has moved to https://a: set ASTRALYX_API (or --api) to that.",
        ),
        (503, {"Retry-After": "5"}, "{base} is busy or has no database now (503): try again in 5 seconds."),
        (429, {}, "{base} is busy or has no database now (429): try again in a moment."),
        (500, {}, "{base} made a mistake (500): its log says which."),
    ],
)
def test_the_server_says_no(astra: Astra, server: Scripted, status: int, headers: dict[str, str], said: str) -> None:
    server.refuses(LEDGERS, status, "A sentence of the server.", **headers)
    assert astra(*ASK) == (1, "", f"astra: {said.format(base=f'{server.address}/v1/', origin=server.address)}\n")


@pytest.mark.parametrize("body", [b"<html>Welcome!</html>", b"", b"[]", b'"ledger"', b"\xff"])
def test_what_answers_is_something_else(astra: Astra, server: Scripted, body: bytes) -> None:
    server.says(LEDGERS, body)
    said = (
        f"What answers at {server.address}/v1/ is no Goodput server: set ASTRALYX_API (or --api) to the address of one."
    )
    assert astra(*ASK) == (1, "", f"astra: {said}\n")


def test_a_page_that_is_not_found_by_something_else(astra: Astra, server: Scripted) -> None:
    server.says(LEDGERS, lambda _: (404, {"Content-Type": "text/html"}, b"<html>Not found</html>"))
    assert "is no Goodput server" in astra(*ASK).err


@pytest.mark.parametrize("lacks", ["rows", "total", "counted_until", "by"])
def test_an_answer_that_lacks_something(astra: Astra, server: Scripted, lacks: str) -> None:
    answer = envelope([], ledger())
    del answer[lacks]
    server.says(LEDGERS, answer)
    said = "astra: This astra (0.1.0) does not understand the server's answer: are both of one age?\n"
    assert astra(*ASK) == (1, "", said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--start", "yesterday"], "Invalid value for '--start': 'yesterday' is neither a date like 2026-09-24 nor"),
        (["--start", "2026-02-30"], "Invalid value for '--start': '2026-02-30' is neither"),
        (["--start", "2026-09-24T13:00"], "Invalid value for '--start': '2026-09-24T13:00' is neither"),
        (["--start", "0001-01-01T00:00+14:00"], "Invalid value for '--start': '0001-01-01T00:00+14:00' is neither"),
        (["--end", "2026-09-24"], "--end needs --start."),
        (["--start", "2026-09-24", "--end", "2026-09-23"], "--end (2026-09-23T00:00:00.000Z) must not lie before"),
        (["--days", "7", "--weeks", "2"], "Say either --days, or --weeks, or --start and --end."),
        (["--days", "7", "--start", "2026-09-24"], "Say either --days, or --weeks, or --start and --end."),
        (["--days", "0"], "Invalid value for '--days': 0 is not in the range"),
        (["--days", "401"], "Invalid value for '--days': 401 is not in the range"),
        (["--weeks", "58"], "Invalid value for '--weeks': 58 is not in the range"),
        (["--by", "cluster"], "Invalid value for '--by': 'cluster' is not one of"),
        (["--sort", "size"], "Invalid value for '--sort': 'size' is not one of"),
        (["--unit", "gpu_us"], "--unit belongs to --json or --csv."),
        (["--run", ""], "Invalid value for '--run': a name must not be empty."),
        (["--nope"], "No such option"),
        (["what"], "Got unexpected extra argument (what)"),
    ],
)
def test_what_is_not_understood_is_not_asked(astra: Astra, server: Scripted, arguments: list[str], said: str) -> None:
    done = astra(*ASK, *arguments)
    assert (done.code, done.out, server.requests) == (2, "", [])
    assert done.err.startswith(f"astra: {said}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [[], ["astraeus"], ["nope"], ["astraeus", "nope"], ["completion"], ["completion", "c"]]
)
def test_a_command_that_there_is_not(astra: Astra, arguments: list[str]) -> None:
    done = astra(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("astra: ")
    assert done.err.count("\n") == 1
    assert " --help\n" in done.err


@pytest.mark.parametrize("address", ["{}", "{}/", "{}/v1", "{}/v1/"])
def test_v1_is_added_when_it_is_missing(astra: Astra, server: Scripted, address: str) -> None:
    server.says(LEDGERS, envelope([], ledger()))
    assert astra(*ASK, "--api", address.format(server.address)).code == 0
    assert [path for path, _, _ in server.requests] == [LEDGERS]


def test_options_win_over_the_environment(astra: Astra, server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    server.says(LEDGERS, envelope([], ledger()))
    monkeypatch.setenv("ASTRALYX_API", "http://127.0.0.1:1")
    assert astra(*ASK, "--api", server.address, "--token", "another").code == 0
    assert server.requests[0][2]["Authorization"] == "Bearer another"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(astra: Astra, shell: str) -> None:
    done = astra("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert "_ASTRA_COMPLETE" in done.out
    assert f"{shell}_complete" in done.out


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["astraeus", "--help"], ["astraeus", "goodput", "-h"]])
def test_help(astra: Astra, arguments: list[str]) -> None:
    done = astra(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: astra ")
