"""How to reach a cluster's API server: from inside the cluster, or by a kubeconfig."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from astra.collect.kubernetes import raw
from astra.collect.source import SourceError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_SECONDS = 60.0
EXEC_SECONDS = 60.0
EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclass
class Access:
    """A server's address, how it is verified, and who asks; `namespace` is the asker's own, "" outside a cluster.

    `server_name`: what the server's certificate must be for, "" = the host of its address.
    """

    server: str
    verify: ssl.SSLContext | bool = True
    auth: httpx.Auth | None = None
    namespace: str = ""
    proxy: str | None = None
    name: str = ""
    server_name: str = ""

    def client(self, timeout: httpx.Timeout) -> httpx.Client:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8)
        return httpx.Client(
            base_url=self.server, verify=self.verify, auth=self.auth, timeout=timeout, limits=limits, proxy=self.proxy,
            headers={"Accept": "application/json", "User-Agent": "astra-collect-kubernetes"}, trust_env=False,
            event_hooks={"request": [self._name_server]},
        )  # fmt: skip

    def _name_server(self, request: httpx.Request) -> None:
        if self.server_name:
            request.extensions["sni_hostname"] = self.server_name


class Token(httpx.Auth, ABC):
    """A bearer token, asked for anew when it is old or was refused."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.token, self.until = "", 0.0

    @abstractmethod
    def fetch(self) -> tuple[str, float]:
        """Return the token and for how many seconds it may be used. Raises SourceError."""

    def current(self, refused: str = "") -> str:
        with self.lock:
            if not self.token or time.monotonic() >= self.until or self.token == refused:
                self.token, seconds = self.fetch()
                self.until = time.monotonic() + seconds
            return self.token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        token = self.current()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == httpx.codes.UNAUTHORIZED and (again := self.current(refused=token)) != token:
            request.headers["Authorization"] = f"Bearer {again}"
            yield request


class Fixed(Token):
    """A token that does not change."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self.fixed = token

    def fetch(self) -> tuple[str, float]:
        return self.fixed, float("inf")


class FromFile(Token):
    """A token in a file that is renewed by somebody else."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def fetch(self) -> tuple[str, float]:
        try:
            return self.path.read_text(encoding="utf-8").strip(), TOKEN_SECONDS
        except OSError as error:
            raise SourceError(f"The token file {self.path} cannot be read: {error.strerror}.") from None


class FromProgram(Token):
    """A token from a credential plugin of a kubeconfig."""

    def __init__(self, plugin: Mapping[str, Any], folder: Path) -> None:
        super().__init__()
        self.plugin, self.folder = plugin, folder
        self.certificate: tuple[str, str] | None = None

    def fetch(self) -> tuple[str, float]:
        status = self.ask()
        token = raw.text(status, "token")
        if not token:
            raise SourceError(f"{self.program} gave no token.")
        until = raw.instant(status, "expirationTimestamp")
        return token, TOKEN_SECONDS if until is None else max(until / 1000 - time.time() - 10, 1.0)

    @property
    def program(self) -> str:
        return f"The credential plugin {raw.text(self.plugin, 'command')!r}"

    def ask(self) -> raw.Raw:
        """Run the plugin and return the status of its answer. Raises SourceError."""
        version = raw.text(self.plugin, "apiVersion")
        if version not in EXEC_VERSIONS:
            raise SourceError(f"{self.program} has the version {version!r}, which is not known.")
        said = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
        environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(said)}
        environment |= {raw.text(one, "name"): raw.text(one, "value") for one in raw.items(self.plugin, "env")}
        command = raw.text(self.plugin, "command")
        if "/" in command:
            command = str(self.folder / command)
        arguments = [str(one) for one in self.plugin.get("args") or ()]
        try:
            done = subprocess.run(
                [command, *arguments], capture_output=True, timeout=EXEC_SECONDS, check=True, env=environment
            )
            return raw.mapping(json.loads(done.stdout), "status")
        except FileNotFoundError:
            raise SourceError(f"{self.program} is not installed.") from None
        except subprocess.TimeoutExpired:
            raise SourceError(f"{self.program} did not answer within {EXEC_SECONDS:.0f} s.") from None
        except subprocess.CalledProcessError as error:
            why = error.stderr.decode(errors="replace").strip().splitlines()
            raise SourceError(f"{self.program} failed: {why[-1] if why else f'exit {error.returncode}'}.") from None
        except (OSError, ValueError) as error:
            raise SourceError(f"{self.program} cannot be used: {error}.") from None


@dataclass(frozen=True)
class Wish:
    """What the flags say: a kubeconfig file and a context in it, each "" when not said."""

    kubeconfig: str = ""
    context: str = ""
    account: Path = field(default=ACCOUNT)


def find_access(wish: Wish, environment: Mapping[str, str]) -> Access:
    """Return the access by --kubeconfig, KUBECONFIG, the cluster around us, or the default file. Raises SourceError."""
    named = wish.kubeconfig or environment.get("KUBECONFIG", "")
    if named:
        return by_kubeconfig([Path(one).expanduser() for one in named.split(os.pathsep) if one], wish.context)
    if environment.get("KUBERNETES_SERVICE_HOST") and not wish.context:
        return in_cluster(environment, wish.account)
    default = Path(environment.get("HOME", "~")).expanduser() / ".kube" / "config"
    if not default.exists():
        raise SourceError(
            f"There is no way to a cluster: this is not inside one, and there is no {default}. Say --kubeconfig FILE."
        )
    return by_kubeconfig([default], wish.context)


def in_cluster(environment: Mapping[str, str], account: Path = ACCOUNT) -> Access:
    """Return the access of the service account that this pod runs as."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    host = f"[{host}]" if ":" in host else host
    token = FromFile(account / "token")
    token.current()
    try:
        verify = ssl.create_default_context(cafile=str(account / "ca.crt"))
        namespace = (account / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SourceError(f"The service account's files in {account} cannot be read: {error.strerror}.") from None
    return Access(f"https://{host}:{port}", verify, token, namespace, name="in-cluster")


def by_kubeconfig(paths: list[Path], context: str = "") -> Access:
    """Return the access that kubeconfig files describe; what two of them say the first decides. Raises SourceError."""
    read = [(path, _read(path)) for path in paths if path.exists()]
    if not read:
        raise SourceError(f"There is no kubeconfig at {', '.join(map(str, paths))}.")
    name = context or next(
        (raw.text(one, "current-context") for _, one in read if raw.text(one, "current-context")), ""
    )
    if not name:
        raise SourceError(f"{read[0][0]} has no current context: say --context NAME.")
    _, chosen = _named(read, "contexts", "context", name)
    folder, cluster = _named(read, "clusters", "cluster", raw.text(chosen, "cluster"))
    server = raw.text(cluster, "server")
    if not server:
        raise SourceError(f"The cluster {raw.text(chosen, 'cluster')!r} has no server.")
    user_folder, user = _named(read, "users", "user", raw.text(chosen, "user")) if chosen.get("user") else (folder, {})
    auth = _auth(user, user_folder)
    verify = _verify(cluster, folder)
    _certificate(verify, user, user_folder, auth)
    usable = None if isinstance(auth, FromProgram) and auth.certificate else auth
    proxy, server_name = raw.text(cluster, "proxy-url"), raw.text(cluster, "tls-server-name")
    if server_name and proxy.startswith("http"):
        raise SourceError(
            "The kubeconfig has both tls-server-name and an HTTP proxy-url: only one of them can be used."
        )
    return Access(server.rstrip("/"), verify, usable, proxy=proxy or None, name=name, server_name=server_name)


def _read(path: Path) -> raw.Raw:
    try:
        import yaml
    except ImportError:
        raise SourceError(
            "Reading a kubeconfig needs PyYAML: install this package with its extra [kubernetes]."
        ) from None
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise SourceError(f"The kubeconfig {path} cannot be read: {' '.join(str(error).split())}.") from None
    return said if isinstance(said, dict) else {}


def _named(read: list[tuple[Path, raw.Raw]], listed: str, kind: str, name: str) -> tuple[Path, raw.Raw]:
    """Return an entry of a kubeconfig, and the folder that its paths are relative to. Raises SourceError."""
    for path, one in read:
        for entry in raw.items(one, listed):
            if entry.get("name") == name:
                return path.parent, raw.mapping(entry, kind)
    known = ", ".join(raw.text(entry, "name") for _, one in read for entry in raw.items(one, listed)) or "none"
    raise SourceError(f"The kubeconfig has no {kind} {name!r}; it has: {known}.")


def _auth(user: raw.Raw, folder: Path) -> httpx.Auth | None:
    if token := raw.text(user, "token"):
        return Fixed(token)
    if path := raw.text(user, "tokenFile"):
        return FromFile(folder / path)
    if plugin := raw.mapping(user, "exec"):
        return FromProgram(plugin, folder)
    if name := raw.text(user, "username"):
        return httpx.BasicAuth(name, raw.text(user, "password"))
    if "auth-provider" in user:
        raise SourceError("The kubeconfig uses an auth-provider, which no longer exists: use its exec plugin.")
    return None


def _verify(cluster: raw.Raw, folder: Path) -> ssl.SSLContext:
    data, path = raw.text(cluster, "certificate-authority-data"), raw.text(cluster, "certificate-authority")
    try:
        if data:
            context = ssl.create_default_context(cadata=base64.b64decode(data).decode())
        else:
            context = ssl.create_default_context(cafile=str(folder / path) if path else None)
    except (OSError, ValueError) as error:
        raise SourceError(f"The cluster's certificate authority cannot be read: {error}.") from None
    if cluster.get("insecure-skip-tls-verify") is True:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _certificate(context: ssl.SSLContext, user: raw.Raw, folder: Path, auth: httpx.Auth | None) -> None:
    """Give the connection the user's certificate: from the kubeconfig, or from its plugin."""
    certificate, key = (_pem(user, f"client-{name}-data") for name in ("certificate", "key"))
    paths = [raw.text(user, f"client-{name}") for name in ("certificate", "key")]
    if isinstance(auth, FromProgram):
        status = auth.ask()
        certificate = raw.text(status, "clientCertificateData").encode() or certificate
        key = raw.text(status, "clientKeyData").encode() or key
        if certificate and key and not raw.text(status, "token"):
            auth.certificate = (certificate.decode(), key.decode())
    try:
        if certificate and key:
            with _files(certificate, key) as (one, two):
                context.load_cert_chain(one, two)
        elif all(paths):
            context.load_cert_chain(folder / paths[0], folder / paths[1])
    except (OSError, ssl.SSLError) as error:
        raise SourceError(f"The client certificate cannot be used: {error}.") from None


def _pem(user: raw.Raw, key: str) -> bytes:
    try:
        return base64.b64decode(raw.text(user, key), validate=True)
    except ValueError:
        raise SourceError(f"The kubeconfig's {key} is not base64.") from None


@contextmanager
def _files(certificate: bytes, key: bytes) -> Generator[tuple[str, str], None, None]:
    """The ssl module reads certificates from files alone: they live as long as that takes, for this user alone."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, content in (("certificate", certificate), ("key", key)):
            path = Path(folder) / name
            path.touch(0o600)
            path.write_bytes(content)
            names.append(str(path))
        yield names[0], names[1]
