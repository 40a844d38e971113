"""What the mapping needs to know of nodes: their pool, their GPUs, and whether they answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from astra.collect.kubernetes import gpus, raw
from astra.collect.kubernetes.gpus import Demand
from astra.collect.kubernetes.meta import Meta, meta_of
from astra.collect.kubernetes.raw import Raw

POOL_LABELS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "node.kubernetes.io/nodepool",
    "oke.oraclecloud.com/pool.name",
    "doks.digitalocean.com/node-pool",
    "node.cluster.x-k8s.io/machinepool",
)
UNREACHABLE = ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready", "node.kubernetes.io/out-of-service")


@dataclass(frozen=True)
class Node:
    """A node; `ready` is None when it never said, `since` when that changed, in UTC ms. `milli` None = unknown."""

    meta: Meta
    pool: str
    milli: int | None
    ready: bool | None
    since: int | None
    resources: frozenset[str]
    tainted: bool

    @property
    def is_lost(self) -> bool:
        return self.ready is False


def node_of(of: Raw, pool_labels: Iterable[str] = POOL_LABELS, more: frozenset[str] = frozenset()) -> Node:
    """Raises BadObject. Only the condition Ready decides whether a node is ready."""
    meta = meta_of(of)
    capacity = raw.mapping(of, "status", "capacity")
    said = next((one for one in raw.items(of, "status", "conditions") if one.get("type") == "Ready"), None)
    return Node(
        meta,
        pool_of(meta.labels, pool_labels),
        gpus.capacity(meta.labels, capacity, more),
        None if said is None else said.get("status") == "True",
        raw.instant(said, "lastTransitionTime"),
        frozenset(r for r in capacity if gpus.is_gpu(r, more) and raw.count(capacity, r)),
        any(raw.text(taint, "key") in UNREACHABLE for taint in raw.items(of, "spec", "taints")),
    )


def pool_of(labels: Mapping[str, str], pool_labels: Iterable[str]) -> str:
    """Return the value of the first of the labels that there is, "" when there is none."""
    return next((labels[label] for label in pool_labels if labels.get(label)), "")


class Fleet:
    """The nodes there are, by name, and when those that are no more were last seen."""

    def __init__(self, pool_labels: Iterable[str] = POOL_LABELS) -> None:
        self.pool_labels = tuple(pool_labels)
        self.nodes: dict[str, Node] = {}
        self.gone: dict[str, int] = {}
        self.known: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}

    def put(self, node: Node) -> Node | None:
        """Take a node as it is now and return what it was."""
        before = self.nodes.get(node.meta.name)
        self.nodes[node.meta.name] = node
        self.gone.pop(node.meta.name, None)
        if before is None or (before.resources, before.meta.labels) != (node.resources, node.meta.labels):
            self.known.clear()
        return before

    def drop(self, name: str, at: int) -> None:
        if self.nodes.pop(name, None):
            self.gone[name] = at
            self.known.clear()

    def milli(self, demand: Demand, node: str, selector: tuple[tuple[str, str], ...]) -> int:
        """Return the thousandths of GPUs that a pod holds on its node, or asks for while it has none."""
        placed = self.nodes.get(node)
        if placed is not None:
            return gpus.milli(demand, gpus.share_on(placed.meta.labels))
        return gpus.milli(demand, lambda resource: self._share(resource, selector))

    def _share(self, resource: str, selector: tuple[tuple[str, str], ...]) -> int:
        """Return what one device is on the nodes where the pod may be placed: the same everywhere, else a card."""
        key = (resource, selector)
        if key not in self.known:
            shares = (
                gpus.share_on(node.meta.labels)(resource)
                for node in self.nodes.values()
                if resource in node.resources and all(node.meta.labels.get(k) == v for k, v in selector)
            )
            found = gpus.common(shares)
            self.known[key] = gpus.part_of_card(resource) if found == gpus.CARD else found
        return self.known[key]

    def pool(self, node: str, selector: tuple[tuple[str, str], ...] = ()) -> str:
        """Return the pool of a node, else the one that a pod's selector asks for."""
        placed = self.nodes.get(node)
        return placed.pool if placed else pool_of(dict(selector), self.pool_labels)
