"""Logs of real runs, read by the built-in profiles: the values are those of the data's own index."""

import re
from pathlib import Path
from typing import Any

import pytest

from ledger.logs.events import Kind
from ledger.logs.matching import Matcher
from ledger.logs.reader import read_lines
from ledger.logs.status import status
from ledger.logs.terms import Attempt
from tests.logs.reading import figures, lines_of, measured, varied

MLPERF = re.compile(r"run_start to run_stop \*\*([\d.]+) s\*\*.*init_start to run_start ([\d.]+) s")
EACH = {"logInterval": 1, "warmupSteps": 1}


@pytest.fixture(scope="session")
def logs(shared_data: Path) -> Path:
    return shared_data / "logs"


def said(matcher: Matcher | str, *paths: Path, **more: Any) -> dict[str, Any]:
    return status(measured(matcher, *(lines_of(path) for path in paths), **more), ended=True)


def index(shared_data: Path) -> dict[str, str]:
    """The values of each MLPerf log by its name."""
    parts = (shared_data / "INDEX.md").read_text().split("\n### mlperf/")[1:]
    return {part.partition("\n")[0]: part for part in parts}


def test_the_time_to_train_is_what_its_submitters_measured(shared_data: Path) -> None:
    entries = index(shared_data)
    assert len(entries) == 11
    for name, entry in entries.items():
        values = MLPERF.search(entry)
        assert values is not None
        found = measured("mlperf", lines_of(shared_data / "mlperf" / name)).terms
        assert found.training is not None
        assert f"{(found.training - found.resume) / 1e6:.3f}" == values.group(1), name
        assert f"{found.resume / 1e6:.3f}" == values.group(2), name
        assert (found.lost, found.reschedule, found.saving) == (0, 0, 0)


@pytest.mark.parametrize(
    ("name", "more", "lines", "highest", "seconds", "mean"),
    [
        ("ds_3d_gpt2_perf_n16_ds_off", EACH, 62, 62, "7866.8", "126589.1"),
        ("gpt2_base_n16_dp1_tp4_pp16_1809577", {}, 9, 90, "278.0", "2745.7"),
        ("gpt2_base_n4_dp1_tp4_pp4_1809579", {}, 20, 200, "285.4", "1388.7"),
        ("gpt2_perf_n16_1999618", EACH, 4, 4, "521.4", "123494.2"),
    ],
)
def test_megatron(
    logs: Path, name: str, more: dict[str, Any], lines: int, highest: int, seconds: str, mean: str
) -> None:
    found = said(varied("megatron-training", **more), logs / f"megatron_meg_{name}.log")
    assert (found["stepLines"], found["currentStep"], found["highestStep"]) == (lines, highest, highest)
    assert f"{float(found['stepTimeSec']):.1f}" == seconds
    assert f"{float(found['avgStepTimeSec']) * 1000:.1f}" == mean
    assert found["interruptionCount"] == 0


def test_megatron_says_when_it_began_and_its_source_when_it_ended(logs: Path) -> None:
    end = Attempt(None, 1_621_759_557_000_000)  # 2021-05-23T08:45:57, cancelled by its user
    path = logs / "megatron_meg_gpt2_base_n4_dp1_tp4_pp4_1809579.log"
    found = said("megatron-training", path, end=end.ended, known={1: end})
    assert found["startTime"] == "2021-05-23T08:41:04.000Z"
    assert found["trainingTimeSec"] == "293.000000"


def test_a_loss_that_jumps_is_no_loss_of_time(logs: Path) -> None:
    found = said("megatron-training", logs / "megatron_ds_tr1_13B_loss_spike.log")
    assert (found["stepLines"], found["currentStep"], found["highestStep"]) == (8, 29090, 29090)
    # the index takes the excerpt's first line for one iteration; a line stands for ten by the profile
    assert float(found["stepTimeSec"]) == pytest.approx(1575.8736 + 9 * 22.3066)
    assert f"{float(found['avgStepTimeSec']) * 1000:.1f}" == "22193.8"
    assert (found["interruptionCount"], found["lostWorkTimeSec"]) == (0, "0.000000")


def test_a_checkpoint_before_a_planned_exit(logs: Path) -> None:
    found = said("megatron-training", logs / "megatron_ds_tr1_13B_checkpoint_exit_idle.log")
    assert (found["currentStep"], found["lastCheckpointStep"]) == (33240, 33241)
    assert found["checkpointSaveTimeSec"] == "57.514530"
    assert (found["interruptionCount"], found["lostWorkTimeSec"]) == (0, "0.000000")


def test_a_broken_gpu_and_an_attempt_that_never_trains(logs: Path) -> None:
    """The second attempt begins at 08:19:00 by its source and dies at 08:19:40: start-up to its end."""
    began, died = 1_628_756_340_000_000, 1_628_756_380_000_000
    known = {2: Attempt(began, died)}
    crash, again = logs / "megatron_ds_tr1_13B_ecc_crash.log", logs / "megatron_ds_tr1_13B_restart_oom.log"
    assert figures(measured("megatron-training", lines_of(crash)), "currentStep", "interruptionCount") == {
        "currentStep": 43680,
        "interruptionCount": 0,
    }
    found = said("megatron-training", crash, again, known=known, failed=True, end=died)
    assert (found["currentStep"], found["highestStep"], found["interruptionCount"]) == (43680, 43680, 2)
    assert found["resumeTimeSec"] == "40.000000"


def test_work_that_went_back_to_older_checkpoints(logs: Path) -> None:
    found = said("megatron-training", logs / "megatron_ds_tr8_104B_rollbacks.log")
    assert (found["stepLines"], found["highestStep"], found["currentStep"]) == (19, 11448, 9027)
    assert found["interruptionCount"] == 2


def test_two_runs_in_one_file(logs: Path) -> None:
    found = said(varied("megatron-training", **EACH), logs / "megatron_lm_aws_gpt3.log")
    assert (found["highestStep"], found["currentStep"], found["stepLines"]) == (27, 3, 6)
    assert float(found["stepTimeSec"]) == pytest.approx(0.0870 + 0.0865 + 0.0884 + 742.7232)


def test_maxtext(logs: Path) -> None:
    path = logs / "maxtext_steps.log"
    found = said("maxtext", path)
    assert (found["stepCount"], found["highestStep"]) == (10, 9)
    assert (found["stepTimeSec"], found["avgStepTimeSec"]) == ("90.311000", "5.633625")
    last = read_lines(varied("maxtext"), lines_of(path)).events[-1]
    assert (last.step, last.tflops) == (9, 134_924_000)


def test_a_progress_bar_of_four_nodes_is_counted_once(logs: Path) -> None:
    found = said("hf-trainer", logs / "hf_trainer_hf_ds_gpt2_base_n4_1832555.log")
    assert found["startTime"] == "2021-05-25T06:38:26.284Z"
    assert (found["currentStep"], found["highestStep"], found["stepCount"]) == (16, 16, 16)
    assert (found["interruptionCount"], found["lastCheckpointStep"]) == (0, 16)
    assert 919.03 < float(found["trainingTimeSec"]) < 919.2


def test_every_rank_prints_the_same_step(logs: Path) -> None:
    path = logs / "torchtitan_aws_llama3.log"
    assert len(read_lines(varied("torchtitan"), lines_of(path)).events) == 18
    found = said("torchtitan", path)
    assert (found["stepLines"], found["currentStep"], found["interruptionCount"]) == (1, 1990, 0)


def test_nemo_and_bionemo(logs: Path) -> None:
    lines = lines_of(logs / "nemo_bionemo_aws_steps.log")
    steps = [event for event in read_lines(varied("nemo-4-training"), lines).events if event.kind is Kind.STEP]
    assert sorted({event.step for event in steps}) == [19, 29, 45, 46, 48]
    assert all(46_800_000 <= (event.took or 0) <= 47_200_000 for event in steps)
    bars = [event.step for event in read_lines(varied("lightning"), lines).events]
    assert bars == [34103, 34106, 34109, 34112, 2000]
    saves = said("nemo-4-training", logs / "nemo_bionemo_aws_steps.log")
    assert saves["lastCheckpointStep"] == 48


def test_deepspeed_saves_and_starts(logs: Path) -> None:
    found = read_lines(varied("deepspeed"), lines_of(logs / "megatron_ds_tr1_13B_checkpoint_exit_idle.log")).events
    assert [(event.kind, event.step) for event in found] == [(Kind.SAVE, 33241)]
    start = read_lines(varied("deepspeed"), lines_of(logs / "hf_trainer_hf_ds_gpt2_base_n4_1832555.log")).events
    assert [event.kind for event in start] == [Kind.START]
