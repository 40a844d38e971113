"""How many GPUs a pod asks for and a node has, in thousandths: parts of a card count as their part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import gcd

from astra.collect.kubernetes import raw
from astra.collect.kubernetes.raw import Raw

CARD = 1000
SLICES = 7
SLICES_OF = {"A30": 4}  # by the product label; all other cards that can be cut have seven slices
SHARED = ".shared"

WHOLE = frozenset({"nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "habana.ai/gaudi"})
INTEL = "gpu.intel.com/"
INTEL_PARTS = frozenset({"millicores", "memory.max", "tiles", "i915_monitoring", "xe_monitoring", "monitoring"})
CLAIMED = "claimed devices"  # devices of resource claims, by what was allocated
_MIG = re.compile(r"nvidia\.com/mig-(?:(\d+)c\.)?(\d+)g\.[\w.+-]+")

Demand = tuple[tuple[str, int], ...]
Share = Callable[[str], int]


def is_gpu(resource: str, more: frozenset[str] = frozenset()) -> bool:
    """Return whether a resource counts as GPUs; `more` are names that the operator added."""
    plain = resource.removesuffix(SHARED)
    if plain in WHOLE or resource in more or _MIG.fullmatch(plain):
        return True
    return plain.startswith(INTEL) and plain[len(INTEL) :] not in INTEL_PARTS


def part_of_card(resource: str, product: str = "") -> int:
    """Return what one device of a resource is of a card, in thousandths, rounded down: a slice of seven is 142."""
    found = _MIG.fullmatch(resource.removesuffix(SHARED))
    if not found:
        return CARD
    slices = next((n for card, n in SLICES_OF.items() if card in product), SLICES)
    return CARD * min(int(found[1] or found[2]), slices) // slices


def demand_of(spec: Raw, more: frozenset[str] = frozenset()) -> Demand:
    """Return the devices that a pod asks for, by resource.

    Of each resource: the larger of what any single init container asks for (with the sidecars started before it)
    and of what containers and sidecars ask for together.
    """
    sidecars: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in raw.items(spec, "initContainers"):
        asked = asks(container, more)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, asked)
            asked = {}
        for resource in {*asked, *sidecars}:
            most[resource] = max(most.get(resource, 0), asked.get(resource, 0) + sidecars.get(resource, 0))
    together = dict(sidecars)
    for container in raw.items(spec, "containers"):
        _add(together, asks(container, more))
    for resource, devices in together.items():
        most[resource] = max(most.get(resource, 0), devices)
    return tuple(sorted((resource, devices) for resource, devices in most.items() if devices))


def asks(container: Raw, more: frozenset[str] = frozenset()) -> dict[str, int]:
    """Return the devices of one container: said in its limits, its requests, or both (they are the same ones)."""
    found: dict[str, int] = {}
    for side in ("limits", "requests"):
        for resource in raw.mapping(container, "resources", side):
            devices = raw.count(container, "resources", side, resource)
            if devices and is_gpu(resource, more):
                found[resource] = max(found.get(resource, 0), devices)
    return found


def _add(to: dict[str, int], more: Mapping[str, int]) -> None:
    for resource, devices in more.items():
        to[resource] = to.get(resource, 0) + devices


def milli(demand: Iterable[tuple[str, int]], share: Share) -> int:
    """Return thousandths of GPUs; `share` says what one device of a resource is, in thousandths."""
    return sum(devices * share(resource) for resource, devices in demand)


def share_on(labels: Mapping[str, str]) -> Share:
    """Return what one device is on a node with these labels: replicas of a time-sliced card share it."""

    def share(resource: str) -> int:
        if resource == CLAIMED:
            return 1
        return part_of_card(resource, labels.get("nvidia.com/gpu.product", "")) // replicas_of(resource, labels)

    return share


def replicas_of(resource: str, labels: Mapping[str, str]) -> int:
    """Return into how many a device is time-sliced on a node, 1 when it is not."""
    plain = resource.removesuffix(SHARED)
    return max(raw.count(labels, f"{plain}.replicas") or 1, 1)


def capacity(
    labels: Mapping[str, str], resources: Mapping[str, object], more: frozenset[str] = frozenset()
) -> int | None:
    """Return a node's GPUs in thousandths: of its count label, else of its capacity; None when neither says any.

    A node that reports no GPUs while it is known for some is unknown, not empty.
    """
    cards = raw.count(labels, "nvidia.com/gpu.count")
    others = [r for r in resources if is_gpu(r, more) and not r.startswith("nvidia.com/")]
    total = CARD * cards if cards else milli(_devices(resources, more, "nvidia.com/"), share_on(labels))
    total += CARD * sum(raw.count(resources, resource) or 0 for resource in others)
    return total or None


def _devices(resources: Mapping[str, object], more: frozenset[str], prefix: str) -> Demand:
    names = [resource for resource in resources if resource.startswith(prefix) and is_gpu(resource, more)]
    return tuple((resource, raw.count(resources, resource) or 0) for resource in names)


def claimed(claim: Raw) -> tuple[str, int]:
    """Return the thousandths of GPUs that a resource claim was given, shared evenly by those that it is for."""
    results = raw.items(claim, "status", "allocation", "devices", "results")
    devices = [one for one in results if "gpu" in raw.text(one, "driver") and not one.get("adminAccess")]
    users = max(len(raw.items(claim, "status", "reservedFor")), 1)
    return CLAIMED, CARD * len(devices) // users


def common(shares: Iterable[int]) -> int:
    """Return the one share that all nodes have, else a whole card: a pod not yet placed asks for what it names."""
    found = 0
    for share in shares:
        if found and share != found:
            return CARD
        found = gcd(share, 0)
    return found or CARD
