"""From samples of exporters to GPUs with a percentage: which metric counts, and what is no reading."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

# what tells how busy a GPU is, the best first, and what its value times that is a percentage
METRICS: dict[str, float] = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 100.0,
    "DCGM_FI_DEV_GPU_UTIL": 1.0,
    "amd_gpu_gfx_activity": 1.0,
}
BLANKS = frozenset(float(2**bits - 16 + kind) for bits in (31, 63) for kind in range(4)) | {float(2**63)}
# the first of these labels that a series has; Prometheus renames an exporter's own to exported_…
HOSTS = ("Hostname", "hostname", "exported_node", "kubernetes_node", "node", "nodename", "host", "instance")
UUIDS = ("UUID", "uuid", "gpu_uuid", "serial_number")
NUMBERS = ("gpu", "gpu_id", "minor_number")
INSTANCES = ("GPU_I_ID",)
JOBS = ("hpc_job", "job_id", "slurm_job_id")


class Sample(NamedTuple):
    """A value of a metric of `METRICS`, in its own unit; `at` in seconds since 1970."""

    metric: str
    labels: Mapping[str, str]
    value: float
    at: float


@dataclass(frozen=True)
class Gpu:
    """A GPU, or an instance of one, as one exporter saw it for one holder; `busy` in percent.

    `pod` is "namespace/name", "" when the exporter says that nobody has it, None when it says nothing of pods.
    """

    host: str
    uuid: str
    number: str
    instance: str
    pod: str | None
    job: str
    busy: float
    at: float

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from every other GPU."""
        return (self.host, self.uuid or self.number, self.instance)

    @property
    def names(self) -> frozenset[str]:
        """What a source may call it on its machine."""
        number = f"{self.number}:{self.instance}" if self.instance else self.number
        return frozenset({number} if self.instance else {number, self.uuid, f"nvidia{number}"}) - {""}


def read_page(text: str, at: float) -> Iterator[Sample]:
    """Yield the samples of an exporter's page; a line that is none (`N/A` for a number) is left out."""
    for line in text.splitlines():
        if not line.startswith(tuple(METRICS)):
            continue
        try:
            (family,) = text_string_to_metric_families(line + "\n")
            (sample,) = family.samples
        except ValueError:
            continue
        if sample.name in METRICS:
            yield Sample(sample.name, sample.labels, sample.value, at)


def percent(sample: Sample) -> float | None:
    """Return how busy it is in percent; None for what is no reading: blank, NaN, or out of its range."""
    value = sample.value
    if math.isnan(value) or value in BLANKS:
        return None
    busy = value * METRICS[sample.metric]
    return busy if 0.0 <= busy <= 100.0 else None


def gpus(samples: Iterable[Sample]) -> list[Gpu]:
    """Return the GPUs that have a reading: of each, holder and instant the best metric that has one.

    A GPU that is split counts by its instances; its line as a whole is nobody's.
    """
    ranks = {metric: rank for rank, metric in enumerate(METRICS)}
    best: dict[tuple[object, ...], tuple[int, Gpu]] = {}
    for sample in samples:
        busy = percent(sample)
        if busy is None:
            continue
        gpu = _gpu(sample, busy)
        key = (*gpu.key, gpu.pod, gpu.job, gpu.at)
        if key not in best or ranks[sample.metric] < best[key][0]:
            best[key] = (ranks[sample.metric], gpu)
    found = [gpu for _, gpu in best.values()]
    split = {gpu.key[:2] for gpu in found if gpu.instance}
    return [gpu for gpu in found if gpu.instance or gpu.key[:2] not in split]


def _gpu(sample: Sample, busy: float) -> Gpu:
    labels = sample.labels
    host = _first(labels, HOSTS)
    if host == labels.get("instance"):
        host = host.rsplit(":", 1)[0]
    number = _first(labels, NUMBERS)
    return Gpu(
        host, _first(labels, UUIDS), number, _first(labels, INSTANCES), pod_of(labels), _first(labels, JOBS), busy,
        sample.at,
    )  # fmt: skip


def pod_of(labels: Mapping[str, str]) -> str | None:
    """Return the pod that has the GPU; where Prometheus renamed labels, `pod` is the exporter's own."""
    for before in ("exported_", ""):
        pod, namespace = labels.get(f"{before}pod"), labels.get(f"{before}namespace", "")
        if pod is not None:
            return f"{namespace}/{pod}" if pod else ""
    return None


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")
