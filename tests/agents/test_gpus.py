"""The published pages of exporters give the values of their INDEX; whose a GPU is, as text tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from astra.collect.dcgm.gpus import METRICS, Gpu, Sample, gpus, pod_of, read_page
from astra.collect.dcgm.whose import Holder, Holders, readings

PAGES = Path(__file__).parents[2].parent / "shared" / "data" / "dcgm"
T4, A100 = "GPU-20c56d28-0da5-6d26-a36a-e7af1ce2586e", "GPU-34319582-d595-d1c7-d1d2-179bcfa61660"


def page(name: str) -> list[Gpu]:
    return gpus(read_page((PAGES / f"{name}.prom").read_text(), 100.0))


def holder(
    worker: str, machine: str, held: float = 1, pod: str = "", devices: tuple[str, ...] = (), run: str = "r"
) -> Holder:
    return Holder(run, worker, machine, held, pod, frozenset(devices))


def told(found: list[Gpu], *holders: Holder) -> dict[str, float]:
    return {one.holder.worker: one.busy for one in readings(found, Holders(holders))[0]}


def test_a_gpu_that_a_pod_has() -> None:
    (gpu,) = page("dcgm_gpu_util_pod_labels")
    assert (gpu.pod, gpu.busy, gpu.host) == ("foo/bar", 0.0, "424773df46e0")
    assert told([gpu], holder("w", "elsewhere", pod="foo/bar"), holder("v", "424773df46e0", pod="foo/baz")) == {"w": 0}


def test_instances_of_a_card_do_not_overwrite_each_other() -> None:
    samples = list(read_page((PAGES / "dcgm_mig_a100.prom").read_text(), 100.0))
    assert [(s.labels.get("GPU_I_ID"), s.metric, s.value) for s in samples] == [
        (None, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.995630),
        ("13", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.995687),
    ]
    (gpu,) = gpus(samples)  # the whole is nobody's while it is split
    assert (gpu.uuid, gpu.instance, gpu.busy) == (A100, "13", pytest.approx(99.5687))
    assert told([gpu], holder("w", "gpu-host-1", 0.142)) == {"w": pytest.approx(99.5687)}
    assert told([gpu], holder("w", "gpu-host-1", 0.142, devices=("0:13",)), holder("v", "gpu-host-1", 0.142)) == {
        "w": pytest.approx(99.5687)
    }
    (whole,) = gpus(samples[:1])
    assert whole.busy == pytest.approx(99.563)


def test_a_gpu_that_no_pod_has_is_nobodys() -> None:
    assert page("dcgm_pod_labels_empty") == []  # it has no metric that tells how busy it is
    sample = Sample(
        "DCGM_FI_DEV_GPU_UTIL", {"gpu": "0", "UUID": "U", "pod": "", "namespace": "", "Hostname": "m"}, 7, 1
    )
    (gpu,) = gpus([sample])
    assert gpu.pod == ""
    assert told([gpu], holder("w", "m")) == {}


def test_a_page_without_pods_is_joined_by_its_host() -> None:
    found = page("dcgm_t4_no_pod_labels")
    assert [(gpu.uuid, gpu.number, gpu.busy, gpu.pod) for gpu in found] == [(T4, "0", 0.0, None)]  # the second: unknown
    assert told(found, holder("w", "424773df46e0")) == {"w": 0.0}
    assert told(found, holder("w", "551bdf382151")) == {}


@pytest.mark.parametrize(
    ("metric", "text", "busy"),
    [
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.05", 5.0),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "1.5", None),
        ("DCGM_FI_DEV_GPU_UTIL", "100", 100.0),
        ("DCGM_FI_DEV_GPU_UTIL", "101", None),
        ("DCGM_FI_DEV_GPU_UTIL", "-1", None),
        ("DCGM_FI_DEV_GPU_UTIL", "9223372036854775794", None),
        ("DCGM_FI_DEV_GPU_UTIL", "9.223372036854775794e18", None),
        ("DCGM_FI_DEV_GPU_UTIL", "2147483632", None),
        ("DCGM_FI_DEV_GPU_UTIL", "NaN", None),
        ("DCGM_FI_DEV_GPU_UTIL", "+Inf", None),
        ("DCGM_FI_DEV_GPU_UTIL", "N/A", None),
        ("DCGM_FI_DEV_GPU_UTIL", "", None),
        ("amd_gpu_gfx_activity", "87", 87.0),
        ("DCGM_FI_DEV_GPU_UTIL_OF_SOMETHING_ELSE", "87", None),
    ],
)
def test_what_is_a_reading(metric: str, text: str, busy: float | None) -> None:
    found = gpus(read_page(f'# TYPE x gauge\n{metric}{{gpu="0",hostname="m"}} {text}\n', 1.0))
    assert [gpu.busy for gpu in found] == ([] if busy is None else [busy])


def test_the_better_metric_counts_where_it_has_a_value() -> None:
    lines = (
        'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="m"} 100\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",Hostname="m"} 0.25\n'
        'DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",Hostname="m"} NaN\nDCGM_FI_DEV_GPU_UTIL{gpu="1",Hostname="m"} 40\n'
    )
    assert {gpu.number: gpu.busy for gpu in gpus(read_page(lines, 1.0))} == {"0": 25.0, "1": 40.0}
    assert set(METRICS) > {"DCGM_FI_DEV_GPU_UTIL"}


@pytest.mark.parametrize(
    ("labels", "pod"),
    [
        ({"pod": "p", "namespace": "n"}, "n/p"),
        ({"pod": "exporter-x", "namespace": "gpu", "exported_pod": "p", "exported_namespace": "n"}, "n/p"),
        ({"pod": "exporter-x", "namespace": "gpu", "exported_pod": "", "exported_namespace": ""}, ""),
        ({"pod": "", "namespace": ""}, ""),
        ({}, None),
    ],
)
def test_which_pod_a_series_names(labels: dict[str, str], pod: str | None) -> None:
    assert pod_of(labels) == pod


# host: gpu=busy[@pod][#job] … | workers: name(gpus)[@pod][{devices}][#run] on the machine | readings
TABLE = """
m: 0=90@n/a 1=10@n/a               | w(2)@n/a                      | w=50
m: 0=90@n/a 1=NaN@n/a              | w(2)@n/a                      | w=90
m: 0=90@n/a                        | w(1)@n/a v(1)@n/b             | w=90
m: 0=90@n/a 1=80                   | w(1)@n/a v(1)@n/b             | w=90
m: 0=100@n/gone                    | w(1)@n/a v(1)@n/b             |
m: 0=100@gpu/exporter 1=50@gpu/exporter | w(2)@n/a                 | w=75
m: 0=100                           |                               |
m: 0=60 1=40                       | w(2)                          | w=50
m: 0=60 1=40                       | w(1)                          |
m: 0=60 1=40                       | w(1) v(1)                     |
m: 0=60 1=40                       | w(1){0} v(1){1}               | w=60 v=40
m: 0=60 1=40                       | w(1){nvidia1} v(1){U0}        | w=40 v=60
m: 0=60#41 1=40#42                 | w(1)#41 v(1)#42_3             | w=60 v=40
m: 0=60#4                          | w(1)#41                       |
m: 0=60@n/a 0=60@n/b               | w(0.5)@n/a v(0.5)@n/b         | w=60 v=60
m: 0=60@n/a                        | w(0.5)@n/a v(0.5)@n/b         | w=60
m: 0=60@n/old 0=60@n/mid 0=60@n/a  | w(1)@n/a                      | w=60
m.example.com: 0=60                | w(1)                          | w=60
"""


def gpus_of(text: str) -> list[Gpu]:
    host, _, rest = text.partition(":")
    found = []
    for word in rest.split():
        number, _, more = word.partition("=")
        more, _, job = more.partition("#")
        busy, _, pod = more.partition("@")
        labels = {"Hostname": host, "gpu": number, "UUID": f"U{number}"}
        labels |= {"hpc_job": job} if job else {}
        if pod:
            labels["namespace"], labels["pod"] = pod.split("/")
        found.append(Sample("DCGM_FI_DEV_GPU_UTIL", labels, float(busy), 1.0))
    return gpus(found)


def holders_of(text: str) -> list[Holder]:
    found = []
    for word in text.split():
        rest, _, run = word.partition("#")
        rest, _, devices = rest.partition("{")
        rest, _, pod = rest.partition("@")
        name, _, held = rest.partition("(")
        names = tuple(devices.strip("}").split(",")) if devices else ()
        found.append(holder(name, "m", float(held.strip(")")), pod, names, run or "r"))
    return found


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_whose_a_gpu_is(line: str) -> None:
    exporters, workers, expected = (part.strip() for part in line.split("|"))
    found = told(gpus_of(exporters), *holders_of(workers))
    assert sorted(f"{name}={busy:g}" for name, busy in found.items()) == sorted(expected.split())
