"""Sends observations to a ledger, again and again until they have arrived."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import httpx

FIRST_PAUSE_SECONDS = 0.5
PAUSE_SECONDS_MAX = 30.0
TIMEOUT_SECONDS = 30.0
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


class ApiError(Exception):
    """The server refused, or could not be reached before the patience was over."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """How many items were new, known already, or too late for their stream; which were refused, and why."""

    accepted: int
    duplicate: int
    late: int
    refused: list[dict[str, Any]]


class Api:
    """One server, one token. `patience` is in seconds; `sleep` is there for tests."""

    def __init__(
        self,
        address: str,
        token: str,
        *,
        patience: float = 600.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.patience = patience
        self.sleep = sleep
        self.http = httpx.Client(
            base_url=base_of(address),
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_SECONDS,
            transport=transport,
        )

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.http.close()

    def post_observations(self, cluster: str, batch: Mapping[str, Any]) -> Answer:
        """Deliver one batch (3.2 of the interface); the same again is harmless. Raises ApiError."""
        body = self.send("POST", f"clusters/{cluster}/observations", batch)
        return Answer(body["accepted"], body["duplicate"], body["late"], body["refused"])

    def send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer; repeated after pauses while the server is away or busy. Raises ApiError."""
        waited, pause = 0.0, FIRST_PAUSE_SECONDS
        while True:
            trouble, again = "", None
            try:
                response = self.http.request(method, path, json=dict(body))
            except httpx.TransportError as error:
                trouble = f"{type(error).__name__}: {error}"
            else:
                if response.is_success:
                    return response.json()
                trouble = f"{response.status_code}: {response.text[:500]}"
                if response.status_code not in AGAIN:
                    raise ApiError(trouble, response.status_code)
                again = asked_pause(response)
            rest = again if again is not None else pause * random.uniform(0.5, 1.0)  # noqa: S311
            if waited + rest > self.patience:
                raise ApiError(f"no answer within {self.patience:g} s, the last was {trouble}")
            self.sleep(rest)
            waited, pause = waited + rest, min(pause * 2, PAUSE_SECONDS_MAX)


def base_of(address: str) -> str:
    """The address of the interface, `/v1` added when it is missing."""
    address = address.rstrip("/")
    return f"{address}/" if address.endswith("/v1") else f"{address}/v1/"


def asked_pause(response: httpx.Response) -> float | None:
    """The seconds of a Retry-After header, at most the longest pause."""
    text = response.headers.get("Retry-After", "")
    return min(float(text), PAUSE_SECONDS_MAX) if text.isdecimal() else None
