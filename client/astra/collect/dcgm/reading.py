"""Where GPUs are read: exporters' pages, or a Prometheus server's HTTP API."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import httpx

from astra import __version__
from astra.asking import reason
from astra.collect.dcgm.gpus import METRICS, Sample, read_page
from astra.collect.source import SourceError

TIMEOUT = httpx.Timeout(10.0, connect=3.0)
PAGE_BYTES_MAX = 64 * 1024 * 1024
AT_ONCE = 16
LOOK_BACK_SECONDS = 300.0


class Reader(Protocol):
    """Where samples come from. `read` raises SourceError when nothing at all could be read."""

    troubles: dict[str, str]

    def read(self) -> list[Sample]: ...


class Exporters:
    """Exporters' pages, read together; one that is away leaves the others as they are."""

    def __init__(self, addresses: Sequence[str], behind: Sequence[str] = ()) -> None:
        """`behind`: addresses whose name stands for many exporters, each of which is read."""
        self.addresses = [with_path(address) for address in addresses]
        self.behind = [with_path(address) for address in behind]
        self.http = httpx.Client(timeout=TIMEOUT, headers={"User-Agent": f"astra/{__version__}"})
        self.troubles: dict[str, str] = {}

    def read(self) -> list[Sample]:
        found, troubles = list[Sample](), dict[str, str]()
        places = list(self.addresses)
        for address in self.behind:
            places += self._each(address, troubles)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for address, page in zip(places, pool.map(self._page, places)):
                if isinstance(page, str):
                    troubles[address] = page
                else:
                    found += page
        self.troubles = troubles
        if troubles and len(troubles) >= len(places):
            raise SourceError(next(iter(troubles.values())))
        return found

    def _each(self, address: str, troubles: dict[str, str]) -> list[str]:
        try:
            return each_behind(address)
        except OSError as error:
            troubles[address] = f"{address} stands for no exporter ({reason(error)})."
            return []

    def _page(self, address: str) -> list[Sample] | str:
        """Return the samples of a page, or why there are none."""
        try:
            with self.http.stream("GET", address) as response:
                if not response.is_success:
                    return f"The exporter {address} answers {response.status_code}."
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > PAGE_BYTES_MAX:
                        return f"The page of {address} is over {PAGE_BYTES_MAX} bytes."
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return f"No answer from the exporter {address} ({reason(error)})."
        return list(read_page(body.decode("utf-8", "replace"), time.time()))


class Prometheus:
    """A Prometheus server that scrapes the exporters: every raw sample with its own instant, each once."""

    def __init__(self, address: str, selector: str = "", token: str = "") -> None:
        headers = {"User-Agent": f"astra/{__version__}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self.address = address.rstrip("/")
        self.http = httpx.Client(timeout=httpx.Timeout(30.0, connect=5.0), headers=headers)
        self.selector = f"{{{selector.strip('{}')}}}" if selector else ""
        self.troubles: dict[str, str] = {}
        self.since = time.time() - 60.0
        self.seen: dict[tuple[object, ...], float] = {}

    def read(self) -> list[Sample]:
        now = time.time()
        reach = min(LOOK_BACK_SECONDS, max(60.0, now - self.since + 60.0))
        found = [sample for metric in METRICS for sample in self._samples(metric, int(reach))]
        fresh = [sample for sample in found if self.seen.get(_series(sample), 0.0) < sample.at]
        self.since = now
        newest = {key: at for key, at in self.seen.items() if at > now - 2 * LOOK_BACK_SECONDS}
        for sample in fresh:
            newest[_series(sample)] = max(sample.at, newest.get(_series(sample), 0.0))
        self.seen = newest
        return fresh

    def _samples(self, metric: str, reach: int) -> Iterator[Sample]:
        for series in self._query(f"{metric}{self.selector}[{reach}s]"):
            labels = series["metric"]
            yield from (Sample(metric, labels, float(value), float(at)) for at, value in series["values"])

    def _query(self, query: str) -> list[dict[str, Any]]:
        """Return the series of a query. Raises SourceError."""
        try:
            response = self.http.post(f"{self.address}/api/v1/query", data={"query": query})
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise SourceError(f"No answer from Prometheus at {self.address} ({reason(error)}).") from None
        try:
            body = json.loads(response.content)
            if body["status"] == "success":
                found: list[dict[str, Any]] = body["data"]["result"]
                return found
            said = str(body.get("error", ""))
        except (ValueError, LookupError, TypeError):
            said = "it is no Prometheus"
        raise SourceError(f"Prometheus at {self.address} answers {response.status_code}: {said}.")


def _series(sample: Sample) -> tuple[object, ...]:
    return (sample.metric, *sorted(sample.labels.items()))


def with_path(address: str) -> str:
    """Return the address of a page; `/metrics` when it names none."""
    parts = urlsplit(address)
    return address if parts.path not in ("", "/") else urlunsplit((*parts[:2], "/metrics", *parts[3:]))


def each_behind(address: str) -> list[str]:
    """Return an address for each host behind its name, as a headless service has them. Raises OSError."""
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    hosts = sorted({str(found[4][0]) for found in socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)})
    written = [f"[{host}]" if ":" in host else host for host in hosts]
    return [urlunsplit((parts.scheme, f"{host}:{port}", *parts[2:])) for host in written]
