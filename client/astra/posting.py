"""Posts JSON with a token, with the standard library alone: no redirects, bounded answers."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

ANSWER_BYTES_MAX = 65_536
RETRIED = frozenset({401, 403, 404, 408, 425, 429})


class Undelivered(Exception):
    """The server did not take it; `final`: nor will it ever. One sentence, and the token is not in it."""

    def __init__(self, message: str, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


def address_of(api: str, run: str) -> str:
    """Return where the batches of a run go; "/v1" is added to the server's address when it is missing."""
    base = api.rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise ValueError("the address of the server must begin with http:// or https://")
    return f"{base}{'' if base.endswith('/v1') else '/v1'}/runs/{quote(run, safe='')}/batches"


def post(address: str, token: str, body: bytes, timeout_sec: float) -> Any:
    """Post once and return the JSON answer. Raises Undelivered."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(address, body, headers, method="POST")  # noqa: S310  # `address_of` checks it
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=timeout_sec) as answer:
            return json.loads(answer.read(ANSWER_BYTES_MAX))
    except urllib.error.HTTPError as error:
        error.close()
        final = 400 <= error.code < 500 and error.code not in RETRIED
        raise Undelivered(_why(error.code), final) from None
    except (OSError, http.client.HTTPException, ssl.SSLError) as error:
        raise Undelivered(f"the server cannot be reached: {type(error).__name__}") from None
    except ValueError:
        raise Undelivered("what answers there is no ledger") from None


def _why(status: int) -> str:
    said = {
        401: "the token is not valid",
        403: "the token may not send: it needs the scope ingest",
        404: "the ledger knows no such run for this token",
    }
    return said.get(status, f"the server answered {status}")
