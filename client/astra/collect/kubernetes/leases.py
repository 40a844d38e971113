"""One agent per cluster: who holds a Lease speaks, all others stand by and see as much."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import httpx

from astra.collect.kubernetes import raw
from astra.collect.kubernetes.watching import jittered, message_of

log = logging.getLogger("astra.collect")

LEASE_SECONDS = 15
RENEW_SECONDS = 5.0


@dataclass
class LeaseName:
    """Where the lease is."""

    namespace: str
    name: str

    @property
    def path(self) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases"


class Lease:
    """Whether this agent is the one that speaks. `monotonic` gives seconds.

    A holder that does not renew for LEASE_SECONDS, by our own clock since we saw its last renewal, has lost it. Who
    could not renew for so long is silent. Two that speak at once harm nothing: they say the same.
    """

    def __init__(
        self,
        client: httpx.Client,
        at: LeaseName,
        identity: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client, self.at, self.identity, self.monotonic = client, at, identity, monotonic
        self.held_until = 0.0
        self.open = False
        self.seen: tuple[str, str] = ("", "")
        self.seen_at = 0.0
        self.said = ""

    @property
    def is_held(self) -> bool:
        return self.open or self.monotonic() < self.held_until

    def run(self, stop: threading.Event) -> None:
        """Take the lease when it is free and keep it, until `stop`; then let go of it."""
        while not stop.is_set():
            before = self.is_held
            self.turn()
            if self.is_held != before:
                log.info("The lease %s is %s.", self.at.name, "ours" if self.is_held else f"held by {self.seen[0]}")
            stop.wait(jittered(RENEW_SECONDS))
        self.release()

    def turn(self) -> None:
        """Try once to take or to keep it."""
        try:
            self._turn()
        except (httpx.HTTPError, ValueError) as error:
            self._say(f"The lease {self.at.name} cannot be reached: {error or type(error).__name__}")

    def _turn(self) -> None:
        began = self.monotonic()
        response = self.client.get(f"{self.at.path}/{self.at.name}")
        if response.status_code == httpx.codes.NOT_FOUND:
            made = self.client.post(self.at.path, json=self._body({}, began=True))
            self._taken(made, began)
            return
        if response.status_code != httpx.codes.OK:
            self._refused(response)
            return
        lease = response.json()
        holder, renewed = raw.text(lease, "spec", "holderIdentity"), raw.text(lease, "spec", "renewTime")
        if (holder, renewed) != self.seen:
            self.seen, self.seen_at = (holder, renewed), self.monotonic()
        duration = raw.count(lease, "spec", "leaseDurationSeconds") or LEASE_SECONDS
        if holder not in ("", self.identity) and self.monotonic() - self.seen_at < duration:
            self.held_until = 0.0
            return
        body = self._body(lease, began=holder != self.identity)
        self._taken(self.client.put(f"{self.at.path}/{self.at.name}", json=body), began)

    def _taken(self, response: httpx.Response, began: float) -> None:
        if response.status_code in (httpx.codes.OK, httpx.codes.CREATED):
            self.open, self.said = False, ""
            self.held_until = began + LEASE_SECONDS
        elif response.status_code == httpx.codes.CONFLICT:
            self.held_until = 0.0 if not self.is_held else self.held_until
        else:
            self._refused(response)

    def _refused(self, response: httpx.Response) -> None:
        """Without the right to a lease this agent speaks all the same; other troubles pass."""
        said = message_of(response.text)
        if response.status_code in (httpx.codes.FORBIDDEN, httpx.codes.NOT_FOUND):
            self.open = True
            said = (
                f'{said}. Missing in a Role in {self.at.namespace}: - {{apiGroups: ["coordination.k8s.io"], '
                'resources: ["leases"], verbs: ["get", "create", "update"]}. Going on without a lease.'
            )
        self._say(f"The lease {self.at.name} was refused ({response.status_code}): {said}")

    def _say(self, sentence: str) -> None:
        if sentence != self.said:
            log.warning("%s", sentence)
            self.said = sentence

    def _body(self, lease: dict[str, Any], *, began: bool) -> dict[str, Any]:
        now = datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
        spec = dict(raw.mapping(lease, "spec"))
        turns = raw.count(spec, "leaseTransitions") or 0
        spec |= {"holderIdentity": self.identity, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now}
        if began:
            spec |= {"acquireTime": now, "leaseTransitions": turns + (1 if lease else 0)}
        metadata = dict(raw.mapping(lease, "metadata")) or {"name": self.at.name, "namespace": self.at.namespace}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}

    def release(self) -> None:
        """Let the next one take it at once."""
        if self.open or not self.is_held:
            return
        self.held_until = 0.0
        try:
            lease = self.client.get(f"{self.at.path}/{self.at.name}").json()
            if raw.text(lease, "spec", "holderIdentity") == self.identity:
                lease["spec"]["holderIdentity"] = ""
                self.client.put(f"{self.at.path}/{self.at.name}", json=lease)
        except (httpx.HTTPError, ValueError, TypeError):
            log.info("The lease %s was not given back: it runs out by itself.", self.at.name)
