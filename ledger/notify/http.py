"""A POST to an address that somebody typed in: resolved once, judged, and spoken to at exactly that address.

HTTPS alone, no redirects, five seconds for the resolver, five a read and ten for all that is said, 64 KiB of an answer
at most, of which nobody is shown anything. Within a network that the operator allowed, plain HTTP and any port will do.
"""

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Timer
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from ledger.core.addresses import Address, address_of, is_allowed, is_public, networks_of
from ledger.notify.message import NotSent, Setup
from ledger.notify.patience import within

RESOLVE_SECONDS = 5.0
READ_SECONDS = 5.0
TOTAL_SECONDS = 10.0
ANSWER_BYTES = 64 * 1024
URL_CHARACTERS_MAX = 2_000
PUBLIC = address_of("1.1.1.1")  # stands for one that is not known yet
Resolver = Callable[[str, int], list[str]]


class Target(NamedTuple):
    """Where to connect, and what to call it there."""

    address: Address
    host: str
    port: int
    is_plain: bool
    path: str


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name, or of an address in whatever form. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def split(url: str) -> SplitResult:
    """Return the parts of an address. Raises NotSent for one that is none, or has what it must not have."""
    if len(url) > URL_CHARACTERS_MAX or any(ord(char) <= 32 or ord(char) == 127 for char in url) or "\\" in url:
        raise NotSent(
            "the address is too long, or has a blank, a control character or a backslash in it", for_good=True
        )
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise NotSent("the address cannot be read", for_good=True) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotSent("the address must begin with https:// and name a host", for_good=True)
    if not (parts.path + parts.query).isascii():
        raise NotSent("the address must say characters that are not ASCII as %XX, but for the host's", for_good=True)
    if parts.username is not None or parts.password is not None:
        raise NotSent("the address must not have a user or a password in it", for_good=True)
    return parts


def target_of(url: str, setup: Setup, resolver: Resolver = resolve) -> Target:
    """Resolve an address once and judge what it resolves to. Raises NotSent."""
    parts = split(url)
    host, port, is_plain = str(parts.hostname), port_of(parts), parts.scheme == "http"
    try:
        found = [address_of(text) for text in within(RESOLVE_SECONDS, lambda: resolver(host, port))]
    except (OSError, UnicodeError, ValueError):
        raise NotSent("the host's name cannot be resolved") from None
    if not found:
        raise NotSent("the host's name cannot be resolved")
    judge(parts, found, setup)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(found[0], host, port, is_plain, path)


def port_of(parts: SplitResult) -> int:
    if parts.port is not None:
        return parts.port
    return 80 if parts.scheme == "http" else 443


def judge(parts: SplitResult, found: Sequence[Address], setup: Setup) -> None:
    """Judge an address by what its host is. Raises NotSent where it may not be spoken to."""
    networks = networks_of(setup.networks)
    if all(is_allowed(address, networks) for address in found):
        return
    if not all(is_public(address) or is_allowed(address, networks) for address in found):
        raise NotSent("the address is not a public one; the operator can allow its network", for_good=True)
    if parts.scheme == "http":
        raise NotSent("the address must begin with https://", for_good=True)
    if port_of(parts) not in setup.ports:
        ports = ", ".join(map(str, setup.ports))
        raise NotSent(f"the port must be one of {ports}", for_good=True)


def check(url: str, setup: Setup) -> None:
    """Judge an address as `target_of` does, but ask nobody for its name. Raises NotSent where it can never be.

    A name may be in a network that the operator allowed; where there is none, it is judged as a public one.
    """
    parts = split(url)
    host = str(parts.hostname)
    found = literal(host, port_of(parts))
    if found or not setup.networks:
        judge(parts, found or [PUBLIC], setup)


def literal(host: str, port: int) -> list[Address]:
    """Return the addresses that a host is by itself, in whatever form it is written; none where it is a name."""
    if host.rstrip(".").lower().rpartition(".")[2] == "localhost":
        return [address_of("127.0.0.1")]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return []
    return [address_of(str(entry[4][0])) for entry in found]


class _Pinned(http.client.HTTPConnection):
    """A connection to the address that was judged; the name is for TLS and for the header Host alone."""

    def __init__(self, target: Target, context: ssl.SSLContext) -> None:
        super().__init__(target.host, target.port, timeout=READ_SECONDS)
        self.target, self.context, self.was_cut = target, context, False
        self.default_port = 80 if target.is_plain else 443

    def connect(self) -> None:
        plain = socket.create_connection((str(self.target.address), self.target.port), READ_SECONDS)
        self.sock = plain
        if not self.target.is_plain:
            self.sock = self.context.wrap_socket(plain, server_hostname=self.target.host)


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    setup: Setup,
    resolver: Resolver = resolve,
    context: ssl.SSLContext | None = None,
) -> None:
    """Send a body, and return when the other side took it. Raises NotSent."""
    target = target_of(url, setup, resolver)
    link = _Pinned(target, context or ssl.create_default_context())
    watch = Timer(TOTAL_SECONDS, _cut, (link,))
    watch.daemon = True
    watch.start()
    try:
        link.request("POST", target.path, body, dict(headers))
        answer = link.getresponse()
        answer.read(ANSWER_BYTES)
        status = answer.status
    except ssl.SSLError:
        raise NotSent("the other side's certificate is not to be trusted") from None
    except (OSError, http.client.HTTPException, UnicodeError):
        raise NotSent("the other side did not answer in time, or not in HTTP") from None
    finally:
        watch.cancel()
        link.close()
    if link.was_cut:
        raise NotSent("the other side did not answer in time, or not in HTTP")
    if 300 <= status < 400:
        raise NotSent("the other side answered with a redirect, which is not followed", for_good=True)
    if not 200 <= status < 300:
        raise NotSent(f"the other side answered {status}", for_good=status in (404, 410))


def _cut(link: _Pinned) -> None:
    """End a conversation that lasts too long, wherever it stands."""
    link.was_cut = True
    with suppress(OSError, AttributeError):
        link.sock.shutdown(socket.SHUT_RDWR)
