"""An agent that is killed and begins again, and two agents at once, give the same ledger: nothing lost or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from astra.collect.items import Items
from astra.collect.kubernetes.agent import items_of
from astra.collect.kubernetes.mapping import Mapping
from astra.collect.kubernetes.memory import Memo, Memory
from astra.collect.kubernetes.resources import RANK
from tests.client.kubernetes.playing import changes, differences, lanes, ledger_of
from tests.client.kubernetes.recordings import KINDS, NAMES, Recording, recording
from tests.client.kubernetes.test_recordings import SEEN, off, wanted


class Cluster:
    """What the API server has, as a recording goes on."""

    def __init__(self, of: Recording) -> None:
        self.of = of
        self.objects = {
            KINDS[name]: {one["metadata"]["uid"]: one for one in listed["raw"]["items"]}
            for name, listed in of.lists.items()
            if name in KINDS
        }

    def change(self, kind: str, what: str, of: dict[str, object]) -> None:
        uid = of["metadata"]["uid"]  # type: ignore[index]
        if what == "DELETED":
            self.objects[kind].pop(uid, None)
        else:
            self.objects[kind][uid] = of


class Process:
    """An agent without its network: it can be killed at any instant and begin again with what is on its disk."""

    def __init__(self, cluster: Cluster, path: Path | None) -> None:
        self.cluster, self.path = cluster, path

    def begin(self, at: int) -> Iterator[Items]:
        self.mapping = Mapping(pool_labels=("example.com/pool",), memory=Memory(self.path))
        for kind in sorted(self.cluster.objects, key=RANK.__getitem__):
            self.mapping.replace(kind, list(self.cluster.objects[kind].values()), at)
        yield items_of(at, self.mapping.changes(at))
        yield items_of(at, self.mapping.everything(), complete=True)

    def see(self, kind: str, what: str, of: dict[str, object], at: int) -> Items:
        (self.mapping.drop if what == "DELETED" else self.mapping.put)(kind, of, at)
        return items_of(at, self.mapping.changes(at))

    def kill(self) -> None:
        self.mapping.memory.close()


def told(of: Recording, folder: Path, rng: Random, agents: int = 1) -> list[Items]:
    """Play a recording to agents that are killed every few changes."""
    cluster = Cluster(of)
    processes = [Process(cluster, folder / f"{number}.jsonl") for number in range(agents)]
    said = [items for process in processes for items in process.begin(of.began)]
    for event in changes(of):
        kind = KINDS[event.resource]
        cluster.change(kind, event.type, event.object)
        for process in processes:
            said.append(process.see(kind, event.type, event.object, event.at + rng.randrange(3)))
            if rng.random() < 0.2:
                process.kill()
                said += process.begin(event.at + 3)
    for process in processes:
        process.kill()
    return said


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_two_agents_that_are_killed_again_and_again(name: str, tmp_path: Path) -> None:
    of = recording(name)
    said = told(of, tmp_path, Random(name), agents=2)
    cluster = ledger_of(said, of.ended)
    found, right = lanes(cluster, of.ended), wanted(of)
    assert {key: ms for key in right if (ms := off(found[key], right[key])) > SEEN.get(name, 4)} == {}
    assert not differences(cluster, of.ended)


def test_what_is_remembered_is_small_and_survives_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "workers.jsonl"
    memory = Memory(path)
    memo = Memo("run", "worker-0", "pod-1", 1, base=2, restarts=3, milli=8000, pool="h100")
    memory.put([memo, memo._replace(worker="worker-1")])
    memory.put([memo])
    assert len(path.read_text().splitlines()) == 2, "only changes are written"
    memory.put([memo._replace(restarts=4)])
    memory.close()
    with path.open("a") as file:
        file.write('["run", "worker-0", "po')
    again = Memory(path)
    assert again.of("run")["worker-0"].restarts == 4
    again.forget("run")
    again.close()
    assert path.read_text().splitlines()[-1] == '["run"]'
    last = Memory(path)
    last.close()
    assert (last.memos, path.read_text()) == ({}, "")


def test_a_journal_is_written_anew_when_it_is_worn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("astra.collect.kubernetes.memory.WORN_LINES", 10)
    memory = Memory(tmp_path / "workers.jsonl")
    for restarts in range(100):
        memory.put([Memo("run", "worker-0", restarts=restarts)])
    memory.close()
    assert len((tmp_path / "workers.jsonl").read_text().splitlines()) < 20
    again = Memory(tmp_path / "workers.jsonl")
    again.close()
    assert again.of("run")["worker-0"].restarts == 99


def test_a_disk_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.write_text("")
    memory = Memory(file / "workers.jsonl")
    memory.put([Memo("run", "worker-0")])
    assert memory.of("run")
