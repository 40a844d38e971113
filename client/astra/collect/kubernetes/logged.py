"""Which containers' logs are read: those of runs that name a log profile. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from astra.collect.kubernetes.pods import Container, Pod
from astra.collect.kubernetes.runs import Run

PROFILE = "astralyx.io/log-profile"
CONTAINER = "astralyx.io/log-container"
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
NAME_MAX = 253


class Wanted(NamedTuple):
    """A container's log in its `restarts`th incarnation (from 0), and whose it is."""

    run: str
    worker: str
    attempt: int
    namespace: str
    pod: str
    uid: str
    container: str
    restarts: int

    @property
    def key(self) -> str:
        return f"{self.uid}/{self.container}/{self.restarts}"

    @property
    def where(self) -> str:
        return f"{self.namespace}/{self.pod} ({self.container})"


def profile_of(run: Run) -> str:
    """Return the profile that a run's job or its pods name, "" for none, or for what can be no name."""
    said = run.said(PROFILE).strip()
    return said if len(said) <= NAME_MAX and said.isprintable() else ""


def logs_of(run: Run, named: str = "") -> Iterator[Wanted]:
    """Yield the logs of a run's pods: of each the one that is written, and the one before it.

    `named`: the container that the profile names, where the run does not.
    """
    named = run.said(CONTAINER) or named
    for worker, track in run.tracks.items():
        for held in track.pods.values():
            pod = held.pod
            container = container_of(pod, named)
            if container is None or held.gone is not None:
                continue
            attempt = held.base + pod.restarts + 1
            for back in range(min(container.restarts, 1), -1, -1):
                if container.began or back:
                    yield Wanted(
                        run.top.uid, worker, max(attempt - back, 1), pod.meta.namespace, pod.meta.name, pod.meta.uid,
                        container.name, container.restarts - back,
                    )  # fmt: skip


def container_of(pod: Pod, named: str) -> Container | None:
    """Return the container whose log counts: the named one, kubectl's own, the first that asks for GPUs, the first."""
    by_name: Mapping[str, Container] = {one.name: one for one in pod.containers}
    for name in (pod.meta.annotations.get(CONTAINER, ""), named, pod.meta.annotations.get(DEFAULT_CONTAINER, "")):
        if name in by_name:
            return by_name[name]
    return next((one for one in pod.containers if one.asks), next(iter(pod.containers), None))
