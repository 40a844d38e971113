"""Whose a GPU is: from what exporters say and who holds which machine, to one percentage a worker."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from astra.collect.dcgm.gpus import Gpu


class Holder(NamedTuple):
    """A worker that holds GPUs now, as the ledger has it; `devices` are names of GPUs on its machine."""

    run: str
    worker: str
    machine: str
    gpus: float
    pod: str
    devices: frozenset[str]


class Reading(NamedTuple):
    """How busy the GPUs of a worker were, in percent, at an instant (seconds since 1970)."""

    holder: Holder
    at: float
    busy: float


class Holders:
    """The holders, by what a GPU may say of its own."""

    def __init__(self, holders: Iterable[Holder]) -> None:
        self.all = tuple(holders)
        self.by_pod = {holder.pod: holder for holder in self.all if holder.pod}
        self.by_machine: dict[str, list[Holder]] = defaultdict(list)
        for holder in self.all:
            self.by_machine[short(holder.machine)].append(holder)

    def on(self, host: str) -> Sequence[Holder]:
        """Return those on a machine: of that full name, else of that name up to its first dot."""
        near = self.by_machine.get(short(host), [])
        return [holder for holder in near if holder.machine == host] or near


def short(host: str) -> str:
    """Return a host's name up to its first dot, an address as it is."""
    return host if re.fullmatch(r"[0-9.]+", host) or ":" in host else host.partition(".")[0].lower()


def readings(found: Iterable[Gpu], holders: Holders) -> tuple[list[Reading], int]:
    """Return a reading for each worker and instant, in order, and how many GPUs' worth were nobody's.

    A reading is the mean of a worker's GPUs that have one; a GPU without is left out, a worker without has none.
    """
    hosts: dict[tuple[str, float], list[Gpu]] = defaultdict(list)
    for gpu in found:
        hosts[gpu.host, gpu.at].append(gpu)
    told: dict[tuple[Holder, float], dict[tuple[str, str, str], float]] = defaultdict(dict)
    nobody = 0
    for (host, at), here in hosts.items():
        of = _owners(here, holders.on(host), holders)
        for gpu in here:
            if (holder := of.get(gpu)) is not None:
                told[holder, at][gpu.key] = gpu.busy
            else:
                nobody += 1
    made = [Reading(holder, at, math.fsum(busy.values()) / len(busy)) for (holder, at), busy in told.items()]
    return sorted(made, key=lambda reading: (reading.at, reading.holder.run, reading.holder.worker)), nobody


def _owners(here: Sequence[Gpu], near: Sequence[Holder], holders: Holders) -> Mapping[Gpu, Holder]:
    """Return whose the GPUs of a machine are, of those that are somebody's for certain.

    What names a pod or a job is that one's. Else the devices that a source gave say it; else a worker that alone
    holds as many GPUs as there are. Where exporters do name pods of ours, a GPU without one is nobody's, and so is one
    of a job that is not known.
    """
    of = {gpu: holder for gpu in here if (holder := _named(gpu, near, holders)) is not None}
    named = any(gpu.pod for gpu in of)
    rest = [gpu for gpu in here if gpu not in of and gpu.pod != "" and not gpu.job and not named]
    for gpu in rest:
        if owners := [holder for holder in near if holder.devices & gpu.names]:
            of[gpu] = owners[0]
    alone = near[0] if len(near) == 1 and not near[0].devices else None
    if alone is not None and not of and len({gpu.key for gpu in rest}) == math.ceil(alone.gpus):
        of = dict.fromkeys(rest, alone)
    return of


def _named(gpu: Gpu, near: Sequence[Holder], holders: Holders) -> Holder | None:
    """Return the worker that the GPU's labels name."""
    if gpu.pod and (holder := holders.by_pod.get(gpu.pod)) is not None:
        return holder
    if not gpu.job:
        return None
    of_job = [holder for holder in near if re.match(rf"{re.escape(gpu.job)}(?![0-9])", holder.run)]
    return of_job[0] if len(of_job) == 1 else None
