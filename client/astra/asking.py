"""Asks the interface once and answers at once; whatever goes wrong becomes one sentence that says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx

from astra import __version__
from astra.api import base_of

TIMEOUT_SECONDS = 60.0
CONNECT_SECONDS = 10.0
Parameters = Mapping[str, str]


class Trouble(Exception):
    """Why there is no answer. `status`: that of HTTP, where the server said no; `code`: the command's exit code."""

    def __init__(self, message: str, *, status: int = 0, code: int = 1) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Asking:
    """One server and one token, to read from; `timeout` in seconds. Raises Trouble."""

    def __init__(self, address: str, token: str, timeout: float = TIMEOUT_SECONDS) -> None:
        self.base = base_of(checked_address(address))
        self.http = httpx.Client(
            base_url=self.base,
            headers={"Authorization": f"Bearer {checked_token(token)}", "User-Agent": f"astra/{__version__}"},
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
        )

    def __enter__(self) -> Asking:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    def body(self, path: str, parameters: Parameters) -> bytes:
        """Return the answer to a GET as it came."""
        return self.response(path, parameters).content

    def document(self, path: str, parameters: Parameters) -> dict[str, Any]:
        """Return the answer to a GET, read as a JSON object."""
        return self.read(self.body(path, parameters))

    def read(self, body: bytes) -> dict[str, Any]:
        """Return the JSON object that an answer is."""
        try:
            document = json.loads(body)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise Trouble(self.elsewhere())
        return document

    def following(self, path: str, document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the pages after this one. Of `next` only the query is taken: the token goes to nobody else."""
        while document["next"]:
            document = self.document(path, parameters_of(document["next"]))
            yield dict(document)

    def csv(self, path: str, parameters: Parameters, everything: bool) -> Iterator[bytes]:
        """Yield the first page as CSV, and with `everything` those after it, of which a header says the address."""
        response = self.response(path, {**parameters, "format": "csv"})
        yield response.content
        while everything and "next" in response.links:
            response = self.response(path, parameters_of(response.links["next"]["url"]))
            yield response.content

    def response(self, path: str, parameters: Parameters) -> httpx.Response:
        """Return a successful answer."""
        try:
            response = self.http.get(path, params=dict(parameters))
        except httpx.TimeoutException:
            raise Trouble(f"{self.base} did not answer in time: try again, or ask for fewer days.") from None
        except (httpx.HTTPError, OSError) as error:
            raise Trouble(
                f"No answer from {self.base} ({reason(error)}): "
                "is the address right (ASTRALYX_API or --api), and does the server run?"
            ) from None
        if response.is_success:
            return response
        raise Trouble(self.refusal(response), status=response.status_code)

    def refusal(self, response: httpx.Response) -> str:
        """Return a sentence for an answer that is none."""
        status, said = response.status_code, detail(response)
        if status == 401:
            return f"{self.base} does not know this token, or it has ended: set ASTRALYX_TOKEN (or --token) to another."
        if response.is_redirect:
            moved = urlsplit(urljoin(self.base, response.headers.get("Location", "")))
            return f"{self.base} has moved to {moved.scheme}://{moved.netloc}: set ASTRALYX_API (or --api) to that."
        if status in (429, 502, 503, 504):
            pause = response.headers.get("Retry-After", "")
            when = f"in {pause} seconds" if pause.isdecimal() else "in a moment"
            return f"{self.base} is busy or has no database now ({status}): try again {when}."
        if status >= 500:
            return f"{self.base} made a mistake ({status}): its log says which."
        return said or self.elsewhere()

    def elsewhere(self) -> str:
        return f"What answers at {self.base} is no Goodput server: set ASTRALYX_API (or --api) to the address of one."


def parameters_of(address: str) -> dict[str, str]:
    """Return what an address asks for."""
    return dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))


def checked_address(address: str) -> str:
    """Return the address of a server."""
    if not address:
        raise Trouble(
            "Which server? Set ASTRALYX_API (or --api) to its address, like https://goodput.example.com", code=2
        )
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        good = good and not (parts.query or parts.fragment or parts.username) and address.isprintable()
    except ValueError:
        good = False
    if not good:
        raise Trouble(
            "ASTRALYX_API (or --api) must be the address of a server, like https://goodput.example.com", code=2
        )
    return address


def checked_token(token: str) -> str:
    """Return a token that can stand in a header."""
    if not token:
        raise Trouble("Who asks? Set ASTRALYX_TOKEN (or --token) to a token with the scope read.", code=2)
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Trouble("ASTRALYX_TOKEN (or --token) has characters that no token has: copy it again.", code=2)
    return token


def reason(error: Exception) -> str:
    """Return what the system says of a failure, without its number."""
    said = str(error).partition("] ")
    return (said[2] or said[0] or type(error).__name__).strip().rstrip(".")


def detail(response: httpx.Response) -> str:
    """Return the sentence of a problem document, "" where there is none."""
    try:
        said = response.json()["detail"]
    except (ValueError, LookupError, TypeError):
        return ""
    return said if isinstance(said, str) else ""
