"""The ways to a cluster: inside it, or by a kubeconfig with a token, a certificate or a plugin."""

from __future__ import annotations

import base64
import json
import ssl
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from astra.collect.kubernetes import access
from astra.collect.kubernetes.access import Wish, by_kubeconfig, find_access
from astra.collect.source import SourceError

TIMEOUT = httpx.Timeout(5)
EAST = Path(__file__).with_name("east.pem")


def kubeconfig(folder: Path, user: dict[str, Any], cluster: dict[str, Any] | None = None, name: str = "config") -> Path:
    said = {
        "current-context": "east",
        "contexts": [{"name": "east", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / name
    path.write_text(yaml.safe_dump(said))
    return path


def asked(way: access.Access, *statuses: int) -> list[str]:
    """Return the Authorization headers of requests that are answered with these statuses."""
    headers: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        headers.append(request.headers.get("Authorization", ""))
        return httpx.Response(statuses[len(headers) - 1])

    with httpx.Client(transport=httpx.MockTransport(answer), auth=way.auth) as client:
        client.get("https://127.0.0.1/")
    return headers


def test_a_token_of_a_kubeconfig(tmp_path: Path) -> None:
    way = by_kubeconfig([kubeconfig(tmp_path, {"token": "secret"})])
    assert (way.server, way.name) == ("https://127.0.0.1:6443", "east")
    assert asked(way, 200) == ["Bearer secret"]


def test_a_token_file_is_read_again_when_it_was_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old\n")
    way = by_kubeconfig([kubeconfig(tmp_path, {"tokenFile": "token"})])
    assert asked(way, 200) == ["Bearer old"]
    (tmp_path / "token").write_text("new\n")
    assert asked(way, 401, 200) == ["Bearer old", "Bearer new"]


def plugin(folder: Path, status: dict[str, Any], code: str = "") -> dict[str, Any]:
    """Return a credential plugin that gives another token each time."""
    program = folder / "plugin.py"
    program.write_text(
        f"import json, os, pathlib\n{code}\n"
        "asked = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        f"count = pathlib.Path({str(folder / 'count')!r})\n"
        "n = int(count.read_text()) + 1 if count.exists() else 1\ncount.write_text(str(n))\n"
        f"status = {status!r}\nstatus = {{k: v.replace('#', str(n)) for k, v in status.items()}}\n"
        "print(json.dumps({'apiVersion': asked['apiVersion'], 'kind': 'ExecCredential', 'status': status}))\n"
    )
    version = "client.authentication.k8s.io/v1"
    return {
        "exec": {
            "apiVersion": version,
            "command": sys.executable,
            "args": [str(program)],
            "env": [{"name": "A", "value": "b"}],
        }
    }


def test_a_plugin_gives_a_token_until_it_is_old_or_refused(tmp_path: Path) -> None:
    user = plugin(tmp_path, {"token": "t#", "expirationTimestamp": "2999-01-01T00:00:00Z"})
    way = by_kubeconfig([kubeconfig(tmp_path, user)])
    first = asked(way, 200)
    assert asked(way, 200) == first
    assert asked(way, 401, 200) != first * 2
    old = plugin(tmp_path, {"token": "t#", "expirationTimestamp": "2001-01-01T00:00:00Z"})
    assert isinstance(by_kubeconfig([kubeconfig(tmp_path, old)]).auth, access.FromProgram)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"command": "no-such-plugin"}, "'no-such-plugin' is not installed"),
        ({"apiVersion": "client.authentication.k8s.io/v9"}, "which is not known"),
    ],
)
def test_a_plugin_that_does_not_work(tmp_path: Path, change: dict[str, str], sentence: str) -> None:
    user = plugin(tmp_path, {"token": "t"})
    user["exec"] |= change
    with pytest.raises(SourceError, match=sentence):
        by_kubeconfig([kubeconfig(tmp_path, user)])


def test_a_plugin_that_fails_says_its_last_line(tmp_path: Path) -> None:
    user = plugin(tmp_path, {"token": "t"}, "raise SystemExit('please sign in again')")
    with pytest.raises(SourceError, match="failed: please sign in again"):
        by_kubeconfig([kubeconfig(tmp_path, user)])


def test_certificates_must_be_certificates(tmp_path: Path) -> None:
    no_pem = base64.b64encode(b"no certificate").decode()
    for user, sentence in (
        ({"client-certificate-data": no_pem, "client-key-data": no_pem}, "client certificate cannot be used"),
        ({"client-certificate-data": "%%"}, "is not base64"),
        ({"client-certificate": "a.crt", "client-key": "a.key"}, "client certificate cannot be used"),
    ):
        with pytest.raises(SourceError, match=sentence):
            by_kubeconfig([kubeconfig(tmp_path, user)])
    with pytest.raises(SourceError, match="certificate authority cannot be read"):
        by_kubeconfig([kubeconfig(tmp_path, {}, {"certificate-authority-data": no_pem})])


def test_contexts_and_several_files(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path, {"token": "one"}, name="first")
    second = tmp_path / "second"
    second.write_text(yaml.safe_dump({
        "contexts": [{"name": "west", "context": {"cluster": "w", "user": "u"}}],
        "clusters": [{"name": "w", "cluster": {"server": "https://west"}}],
    }))  # fmt: skip
    west = by_kubeconfig([first, second], "west")
    assert (west.server, asked(west, 200)) == ("https://west", ["Bearer one"])
    with pytest.raises(SourceError, match="has no context 'north'; it has: east, west"):
        by_kubeconfig([first, second], "north")
    with pytest.raises(SourceError, match="There is no kubeconfig at"):
        by_kubeconfig([tmp_path / "none"])


def test_where_it_looks(tmp_path: Path) -> None:
    account = tmp_path / "account"
    account.mkdir()
    for name, content in (("token", "in-cluster"), ("namespace", "goodput\n")):
        (account / name).write_text(content)
    inside = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443", "HOME": str(tmp_path)}
    with pytest.raises(SourceError, match="service account's files"):
        find_access(Wish(account=account), inside)
    one = kubeconfig(tmp_path, {"token": "one"}, name="one")
    assert asked(find_access(Wish(str(one), account=account), inside), 200) == ["Bearer one"]
    assert asked(find_access(Wish(account=account), {**inside, "KUBECONFIG": str(one)}), 200) == ["Bearer one"]
    with pytest.raises(SourceError, match="There is no way to a cluster"):
        find_access(Wish(), {"HOME": str(tmp_path)})
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube", {"token": "default"})
    assert asked(find_access(Wish(), {"HOME": str(tmp_path)}), 200) == ["Bearer default"]


def test_a_file_that_is_no_kubeconfig(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("{[")
    with pytest.raises(SourceError, match="cannot be read"):
        by_kubeconfig([path])
    path.write_text(json.dumps(["a"]))
    with pytest.raises(SourceError, match="has no current context"):
        by_kubeconfig([path])


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A server on 127.0.0.1 whose certificate is for api.east.example."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # which answers 501
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(EAST)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("name", "is_right"), [("api.east.example", True), ("", False), ("api.west.example", False)])
def test_the_name_that_a_certificate_must_be_for(tmp_path: Path, elsewhere: str, name: str, is_right: bool) -> None:
    cluster = {"server": elsewhere, "certificate-authority": str(EAST), "tls-server-name": name}
    way = by_kubeconfig([kubeconfig(tmp_path, {}, cluster)])
    with way.client(TIMEOUT) as client:
        if is_right:
            assert client.get("/api").status_code == 501
        else:
            with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                client.get("/api")


def test_a_name_cannot_be_asked_for_behind_a_proxy(tmp_path: Path) -> None:
    cluster = {"tls-server-name": "api.east.example", "proxy-url": "http://127.0.0.1:3128"}
    with pytest.raises(SourceError, match="only one of them"):
        by_kubeconfig([kubeconfig(tmp_path, {}, cluster)])
