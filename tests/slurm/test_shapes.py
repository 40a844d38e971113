"""Every file of Slurm output in the data, with the values that its INDEX gives."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from astra.collect.slurm import sacct_json, sacct_text, scontrol, squeue_json, squeue_text, tables
from astra.collect.slurm.attempts import runs_of
from astra.collect.slurm.files import FileSource, read
from astra.collect.slurm.record import BadText, Record
from tests.slurm.recorded import FOLDER as RECORDED
from tests.slurm.recorded import accounted

FOLDER = RECORDED.parent / "slurm"
UTC = ZoneInfo("UTC")
SQUEUE = [
    *("TRES_PER_NODE", "MIN_CPUS", "JOBARRAYID", "JOBID", "NAME", "TIME_LIMIT", "MIN_MEMORY", "COMMAND", "PRIORITY"),
    *("STATE", "USER", "CPUS", "NODES", "TIME_LEFT", "TIME_USED", "NODELIST", "DEPENDENCY", "EXC_NODES", "START_TIME"),
    *(
        "SUBMIT_TIME",
        "ELIGIBLE_TIME",
        "ACCRUE_TIME",
        "PENDING_TIME",
        "COMMENT",
        "PARTITION",
        "ACCOUNT",
        "QOS",
        "REASON",
    ),
    *("TRES_ALLOC", "RESERVATION", "REQUEUE", "FEATURE", "RESTARTCNT", "SCHEDNODES", "LAST"),
]
JSON = """
    sacct_fromage_1706227200.json           9    98253  16  COMPLETED=6 PENDING=1 FAILED=1 RUNNING=1
    sacct_fromage_1711411200.json          10  5344216  16  PENDING=2 COMPLETED=6 RUNNING=2
    sacct_fromage_1716595200.json          13    62321  22  OUT_OF_MEMORY=2 COMPLETED=7 FAILED=1 PENDING=2 RUNNING=1
    sacct_mila_1708819200.json              7    36518  12  RUNNING=1 COMPLETED=5 PENDING=1
    sacct_mila_1714003200.json              8 13156930  16  RUNNING=3 COMPLETED=4 FAILED=1
    sacct_raisin_1714003200.json            3    12296   4  PENDING=1 COMPLETED=1 CANCELLED=1
    sacct_raisin_1719187200.json            7    36408  12  RUNNING=2 CANCELLED=1 PENDING=1 COMPLETED=3
    sacct_raisin_no_prometheus_1711411200.json 8 87395  12  COMPLETED=4 TIMEOUT=1 CANCELLED=1 PENDING=2
    sacct_raisin_no_prometheus_1716595200.json 8 69261  14  COMPLETED=5 RUNNING=1 FAILED=1 PENDING=1
    sacct_slurm_21_8_8.json                 1    86301   0  REQUEUED=1
    sacct_slurm_23_2_6.json                 1 167706662  0  RUNNING=1
"""


def lines(table: str) -> list[list[str]]:
    return [line.split(maxsplit=4) for line in table.strip().splitlines()]


def text(name: str, notes: Counter[str] | None = None) -> list[Record]:
    return sacct_text.read((FOLDER / name).read_text(), UTC, Counter() if notes is None else notes)


@pytest.mark.parametrize("line", lines(JSON), ids=[line[0] for line in lines(JSON)])
def test_json_of_each_version(line: list[str]) -> None:
    name, jobs, used, steps, states = line
    notes: Counter[str] = Counter()
    records = list(sacct_json.read(json.loads((FOLDER / name).read_text()), notes))
    assert (len(records), not notes) == (int(jobs), True)
    assert sum(record.gpus // 1000 * (record.elapsed or 0) for record in records if record.start) == int(used)
    assert sum(record.steps or 0 for record in records) == int(steps)
    told = Counter(record.state for record in records)
    assert told == {state: int(count) for state, count in (each.split("=") for each in states.split())}


@pytest.mark.parametrize("line", lines(JSON), ids=[line[0] for line in lines(JSON)])
def test_held_time_of_a_dump_is_elapsed_times_gpus(line: list[str]) -> None:
    """Of what still runs, as long as the dump knows of it: also where a Start lies further back than it ran."""
    source = FileSource("x", FOLDER / line[0], None, {})
    source.look()
    assert source.held == int(line[2]) * 1_000_000


def test_records_broken_over_lines_are_joined() -> None:
    notes: Counter[str] = Counter()
    big, again = text("gcm_sacct_multiple_multiline.txt", notes)
    assert (big.job.name, big.state, big.gpus, big.elapsed) == ("201729", "FAILED", 1_024_000, 79_396)
    assert (again.job.name, again.state) == ("201844", "REQUEUED")
    assert notes == {sacct_text.STRAY: 1}
    rows = tables.read((FOLDER / "gcm_sacct_multiple_multiline.txt").read_text(), Counter())[0].rows
    assert [row["JOBID"] for row in rows] == ["200131.0", "201729", *["201844"] * 3, "201729.batch"]


def test_a_cluster_around_midnight() -> None:
    told = (FOLDER / "gcm_sacct_output_midnight_edge_case.txt").read_text()
    rows = tables.read(told, Counter())[0].rows
    assert len(rows) == 1186
    assert Counter(row["STATE"].split()[0] for row in rows) == {
        "CANCELLED": 48, "COMPLETED": 349, "REQUEUED": 2, "FAILED": 778, "TIMEOUT": 1, "OUT_OF_MEMORY": 8,
    }  # fmt: skip
    records = text("gcm_sacct_output_midnight_edge_case.txt")
    assert Counter(record.state for record in records) == {
        "CANCELLED": 24, "REQUEUED": 2, "FAILED": 259, "COMPLETED": 18, "TIMEOUT": 1, "OUT_OF_MEMORY": 2,
    }  # fmt: skip
    assert sum((record.end or 0) - (record.start or 0) for record in records) == 3_578_857_000
    assert len({record.job for record in records}) == 306
    small = tables.read((FOLDER / "gcm_sacct_output_midnight_edge_case_small.txt").read_text(), Counter())[0].rows
    assert Counter(row["STATE"].split()[0] for row in small) == {"CANCELLED": 8, "COMPLETED": 3}


def test_the_same_record_ten_times_is_one_job() -> None:
    (record,) = text("gcm_sacct_running_output.txt")
    assert (record.job.name, record.number, record.state) == ("6539191_195", 6539485, "RUNNING")
    assert (record.gpus, record.elapsed, record.end) == (1000, 93_050, None)


def test_scontrol_show_job_of_an_array() -> None:
    told = (FOLDER / "gcm_scontrol_out_main_array_job.txt").read_text()
    jobs = list(scontrol.jobs(told, UTC, Counter()))
    assert [(job.state, job.gpus, job.job.name) for job in jobs] == [
        ("RUNNING", 8000, "30214"),
        ("RUNNING", 8000, "31185_128"),
    ]


def test_squeue_without_a_heading() -> None:
    told = (FOLDER / "gcm_squeue_output.txt").read_text()
    found = list(squeue_text.read(told, UTC, Counter(), SQUEUE))
    assert [(each.job.name, each.state, each.gpus, each.asked, len(each.nodes)) for each in found] == [
        ("45704744", "RUNNING", 2_000, 2_000, 1),
        ("42953390_320", "RUNNING", 1_000, 1_000, 1),
        ("42956774_3", "RUNNING", 256_000, 256_000, 32),
        ("22783212", "PENDING", 0, 0, 0),
        ("42271120_7", "PENDING", 0, 160_000, 0),
        ("42271120_8", "PENDING", 0, 160_000, 0),
    ]


def test_a_hetjob_is_one_run() -> None:
    (run,) = runs_of(text("slurm_docs_sacct_hetjob.txt"))
    assert (run.name, sorted(part or 0 for part in run.parts)) == ("67767", [0, 1])


def test_a_listing_cut_at_its_window_is_not_believed() -> None:
    notes: Counter[str] = Counter()
    found = text("slurm_man_sacct_truncate.txt", notes)
    assert notes == {sacct_text.CUT: 4}
    at = {record.job.name: (_clock(record.start), _clock(record.end)) for record in found}
    assert at == {
        "2": ("11:33:16", "11:59:01"),
        "3": ("11:35:21", None),
        "4": ("11:35:21", "11:45:21"),
        "5": ("11:41:01", None),
    }


def _clock(at: int | None) -> str | None:
    return None if at is None else f"{at // 3_600_000 % 24:02d}:{at // 60_000 % 60:02d}:{at // 1000 % 60:02d}"


def test_mig_instances_of_a_node() -> None:
    records = text("sonar_sacct_mig_jobs.txt")
    assert sum(record.gpus // 1000 * (record.elapsed or 0) for record in records) == 1179
    waited = sum(record.gpus // 1000 * ((record.start or 0) - (record.submit or 0)) // 1000 for record in records)
    assert waited == 13_754
    ends, starts = {r.job.name: r.end for r in records}, {r.job.name: r.start for r in records}
    assert ends["974737"] == starts["974739"]
    edges = sorted({at for record in records for at in (record.start, record.end) if at})
    assert max(sum((r.start or 0) <= at < (r.end or 0) for r in records) for at in edges) == 5


def test_the_recorded_accounting_in_all_its_shapes() -> None:
    def told(records: list[Record]) -> dict[object, object]:
        return {
            (each.job, each.submit): (
                each.state,
                each.eligible,
                each.start,
                each.end,
                each.held,
                each.asked,
                each.nodes,
            )
            for each in records
        }

    whole = told(accounted())
    short = told(sacct_text.read((RECORDED / "sacct_P_D_X_utc.txt").read_text(), UTC, Counter()))
    local = ZoneInfo("Asia/Kathmandu")
    for name in ("sacct_P_D_X_by_id.txt", "sacct_P_D_X.txt", "sacct_P_D.txt"):
        found = told(sacct_text.read((RECORDED / name).read_text(), local, Counter()))
        differ = {key for key in found if found[key] != whole[key]}
        assert {key[0].name for key in differ} <= {"4137"}, name  # type: ignore[index]  # it was still running
        assert len(whole) - len(found) in (0, 4), name
    assert all(whole[key] == value for key, value in short.items())
    assert len(whole) == 54


@pytest.mark.parametrize("folder", sorted((RECORDED / "snapshots").iterdir()), ids=lambda path: path.name)
def test_squeue_scontrol_and_json_agree_at_one_moment(folder: Path) -> None:
    notes: Counter[str] = Counter()
    local = ZoneInfo("Asia/Kathmandu")
    queue = {each.job: each for each in squeue_json.read(json.loads((folder / "squeue.json").read_text()), notes)}
    shown = {each.job: each for each in scontrol.jobs((folder / "scontrol_show_job.txt").read_text(), local, notes)}
    printed = {each.job: each for each in squeue_text.read((folder / "squeue.txt").read_text(), local, notes)}
    assert not notes
    for job, record in shown.items():
        if job in queue and queue[job].state == record.state == "RUNNING":
            other = queue[job]
            assert (record.held, record.nodes, record.start, record.submit) == (
                other.held, other.nodes, other.start, other.submit,
            )  # fmt: skip
    for job, record in printed.items():
        assert queue[job].state == record.state or {queue[job].state, record.state} & {
            "COMPLETING",
            "RUNNING",
            "PENDING",
        }


def test_what_is_no_accounting_is_refused_with_a_sentence() -> None:
    for body, said in (
        (b"{", "begins as JSON"),
        (b'{"jobs": 1}', "no list of jobs"),
        (b"hello\n", "no record"),
        (b"\xff", "no UTF-8"),
    ):
        with pytest.raises(BadText, match=said):
            read(body, UTC, Counter())


def test_text_needs_a_zone() -> None:
    with pytest.raises(BadText, match="--timezone"):
        read((RECORDED / "sacct_P_D.txt").read_bytes(), None, Counter())
