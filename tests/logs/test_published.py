"""Lines of real runs that others published, each with its source, by the profiles for which no whole log is at hand."""

from ledger.logs.builtin import matcher
from ledger.logs.matching import Matcher
from tests.logs.reading import figures, measured, varied

# github.com/NVIDIA-NeMo/Megatron-Bridge (Apache-2.0), pull request 841: two of the lines that it printed
BRIDGE = """\
Step Time : 14.26s GPU utilization: 58.2TFLOP/s/GPU
 [2025-10-02 22:52:07] iteration       10/      50 | consumed samples:         5120 | elapsed time per iteration (ms): 13212.7 | learning rate: 3.000000E-04 | global batch size:   512 | lm loss: 4.474437E+00 | loss scale: 1.0 | grad norm: 0.704 | number of skipped iterations:   0 | number of nan iterations:   0 |
[Rank 0] (after 10 iterations) memory (MB) | allocated: 11908.05029296875 | max allocated: 12712.43603515625 | reserved: 12954.0 | max reserved: 12954.0
 [2025-10-02 22:54:30] iteration       20/      50 | consumed samples:        10240 | elapsed time per iteration (ms): 14260.3 | learning rate: 2.604594E-04 | global batch size:   512 | lm loss: 8.797448E-02 | loss scale: 1.0 | grad norm: 0.170 | number of skipped iterations:   0 | number of nan iterations:   0 |
"""  # noqa: E501

# github.com/aws-ia/terraform-aws-eks-blueprints (Apache-2.0), examples/elastic-fabric-adapter/README.md: an MPIJob of
# two workers, whose lines mpirun marks
OVER_EFA = """\
[1,0]<stdout>:test-nccl-efa-worker-0:21:21 [0] NCCL INFO Using network AWS Libfabric
[1,0]<stdout>:NCCL version 2.12.7+cuda11.4
[1,1]<stdout>:test-nccl-efa-worker-1:21:26 [0] NCCL INFO Channel 00/0 : 0[35000] -> 1[f5000] [receive] via NET/AWS Libfabric/0
[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[1,0]<stdout>:           0             0     float     sum      -1     6.36    0.00    0.00      0     6.40    0.00    0.00      0
[1,0]<stdout>:      524288        131072     float     sum      -1    296.9    1.77    1.77      0    291.1    1.80    1.80      0
[1,0]<stdout>:   536870912     134217728     float     sum      -1   171351    3.13    3.13      0   171823    3.12    3.12      0
[1,0]<stdout>:  1073741824     268435456     float     sum      -1   344981    3.11    3.11      0   344454    3.12    3.12      0
[1,0]<stdout>:# Avg bus bandwidth    : 1.15327
"""  # noqa: E501

# github.com/xxrjun/nccl-tests-cluster (Apache-2.0), benchmarks/cluster00/nccl-benchmarks-results/pairwise/with-debug/
# logs/nccl_N2_G2_cnode4-005_cnode4-007.log: two machines with two H100 each
OVER_INFINIBAND = """\
# Collective test starting: alltoall_perf
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
    33554432       1048576    double    none      -1   1089.4   30.80   23.10      0   1059.5   31.67   23.75    N/A
  8589934592     268435456    double    none      -1   120156   71.49   53.62      0   119807   71.70   53.77    N/A
 17179869184     536870912    double    none      -1   239858   71.63   53.72      0   238498   72.03   54.03    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 47.1139
"""

BANDWIDTH = ("algBandwidthGBps", "busBandwidthGBps", "networkTransport", "result")


def found(by: Matcher | str, text: str, *names: str) -> list[object]:
    return list(figures(measured(by, text.encode().splitlines()), *names).values())


def test_megatron_bridge() -> None:
    """Its two lines are 143 s apart, which are ten steps of 14.3 s; the first of them is warming up."""
    by = varied("megatron-bridge", logInterval=10)
    names = ("stepLines", "currentStep", "stepCount", "stepTimeSec", "avgStepTimeSec", "startTime")
    wanted = [2, 20, 20, "274.730000", "14.260300", "2025-10-02T22:49:54.873Z"]
    assert found(by, BRIDGE, *names) == wanted


def test_nccl_tests_as_mpirun_marks_their_lines() -> None:
    assert found("nccl-bandwidth", OVER_EFA, *BANDWIDTH) == ["3.110000", "3.110000", "AWS Libfabric", None]
    assert found("nccl-loopback", OVER_EFA, "networkTransport") == ["NET/AWS Libfabric/0"]


def test_nccl_tests_that_cannot_check_in_place() -> None:
    assert found("nccl-bandwidth", OVER_INFINIBAND, *BANDWIDTH) == ["71.630000", "53.720000", None, None]


def test_the_header_is_no_result() -> None:
    head = [line for line in OVER_EFA.splitlines() if "#" in line]
    assert not any(matcher("nccl-bandwidth").matches(line.encode()) for line in head)
