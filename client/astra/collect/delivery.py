"""Posts a batch once and says what became of it, in one sentence that says what to do."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, NamedTuple

import httpx

from astra import __version__
from astra.api import base_of
from astra.collect.batches import dumped

TIMEOUT_SECONDS = 30.0
CONNECT_SECONDS = 10.0
AHEAD_SECONDS = 90.0


class Fate(Enum):
    """What became of a batch."""

    TAKEN = "taken"
    AWAY = "away"  # the server is away or busy: soon again
    CLOSED = "closed"  # the token, the name or the address is wrong: slowly again
    LARGE = "large"  # in parts
    REFUSED = "refused"  # never again as it is


class Outcome(NamedTuple):
    """A fate, a sentence, the seconds that the server asked to wait, and its answer when the batch was taken."""

    fate: Fate
    said: str = ""
    pause: float | None = None
    answer: dict[str, Any] = {}


class Delivery:
    """One cluster of one server, with one token."""

    def __init__(self, address: str, token: str, cluster: str, transport: httpx.BaseTransport | None = None) -> None:
        self.base, self.cluster = base_of(address), cluster
        self.http = httpx.Client(
            base_url=self.base,
            headers={
                "Authorization": f"Bearer {token}",
                "User-Agent": f"astra/{__version__}",
                "Content-Type": "application/json",
            },
            timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS),
            transport=transport,
        )

    def close(self) -> None:
        self.http.close()

    def post(self, batch: dict[str, Any]) -> Outcome:
        """Deliver a batch and return what became of it; raises nothing."""
        try:
            path = f"clusters/{self.cluster}/observations"
            response = self.http.post(path, content=dumped(batch).encode())
        except (httpx.HTTPError, OSError) as error:
            said = str(error) or type(error).__name__
            return Outcome(Fate.AWAY, f"No answer from {self.base} ({said}).")
        return self._judged(response)

    def _judged(self, response: httpx.Response) -> Outcome:
        status, body = response.status_code, _object(response)
        detail = str(body.get("detail", ""))
        if status == 202 and isinstance(body.get("accepted"), int):
            return Outcome(Fate.TAKEN, answer=body)
        if status == 413:
            return Outcome(Fate.LARGE, f"{self.base} takes no batch of that size.")
        if status in (400, 422) and detail:
            if ahead := _ahead(response):
                said = f"The clock here is {ahead:.0f} s ahead of {self.base}: set it right. Nothing is lost."
                return Outcome(Fate.CLOSED, said)
            return Outcome(Fate.REFUSED, detail)
        if status in (408, 425, 429) or status >= 500:
            return Outcome(Fate.AWAY, f"{self.base} is busy or has a fault now ({status}).", _pause(response))
        return Outcome(Fate.CLOSED, self._closed(status, response, detail))

    def _closed(self, status: int, response: httpx.Response, detail: str) -> str:
        if status == 401:
            return f"{self.base} does not know this token, or it has ended: set ASTRALYX_TOKEN (or --token) to another."
        if status == 403:
            return f"This token may not bring observations: make one with the scope ingest. {detail}".strip()
        if status == 404 and detail:
            return (
                f"{self.base} has no cluster {self.cluster!r} that this token may write to: check --cluster, or make "
                f"it with `manage.py create_cluster`."
            )
        if response.is_redirect:
            moved = response.headers.get("Location", "another address")
            return f"{self.base} has moved to {moved}: set ASTRALYX_API (or --api) to that."
        return (
            f"What answers at {self.base} is no Goodput server ({status}): set ASTRALYX_API (or --api) to the "
            "address of one."
        )


def _object(response: httpx.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _pause(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "")
    return float(text[:6]) if text.isdecimal() else None


def _ahead(response: httpx.Response) -> float:
    """Return the seconds that this clock is ahead of the server's, 0.0 when it is not by much."""
    from astra.collect.items import now

    try:
        theirs = parsedate_to_datetime(response.headers.get("Date", ""))
        ahead = (now() - theirs).total_seconds()
    except (TypeError, ValueError):
        return 0.0
    return ahead if ahead > AHEAD_SECONDS else 0.0
