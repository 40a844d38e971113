"""Complete lists: whom they lack for long enough is gone, at its last proof; many at once are held back."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from ledger.core.categories import Phase
from ledger.models import GoneRow, Source, Worker
from tests.ledger.conftest import East, hours, state


def listed(east: East, now: str, *workers: str) -> None:
    names = [{"run": "run-1", "worker": worker, "at": state("00:00")["at"], "gpus": 1} for worker in workers]
    east.say(now, *names, complete=True)


def lost(east: East) -> list[str]:
    return sorted(Worker.objects.filter(phase=Phase.ENDED).values_list("name", flat=True))


def start(east: East, count: int) -> list[str]:
    workers = [f"w{k}" for k in range(count)]
    east.say("00:00", *(state("00:00", "running", worker, gpus=1) for worker in workers))
    listed(east, "00:01", *workers)
    return workers


def test_a_worker_is_gone_after_two_lists_at_its_last_proof(east: East) -> None:
    start(east, 2)
    listed(east, "00:06", "w0")
    assert lost(east) == []
    listed(east, "00:11", "w0")
    assert lost(east) == ["w1"]
    east.categorize("01:00")
    assert east.goodput("00:00", "01:00").total.productive == hours(x=1 + 1 / 60)["x"]
    assert east.check("01:01").differences == []


def test_lists_closer_than_half_a_minute_are_no_second_list(east: East) -> None:
    start(east, 2)
    listed(east, "00:06:00", "w0")
    listed(east, "00:06:29.999", "w0")
    assert lost(east) == []
    listed(east, "00:06:30", "w0")
    assert lost(east) == ["w1"]


def test_named_again_in_between_it_was_never_away(east: East) -> None:
    start(east, 2)
    listed(east, "00:06", "w0")
    listed(east, "00:11", "w0", "w1")
    listed(east, "00:16", "w0")
    assert lost(east) == []


def test_a_state_since_it_was_missed_says_that_it_lives(east: East) -> None:
    start(east, 2)
    listed(east, "00:06", "w0")
    listed(east, "00:11", "w0")
    east.say("00:12", state("00:07", "running", "w1"))
    assert lost(east) == []
    assert east.check("00:20").differences == []


def test_the_fact_is_stored_once_in_a_row_of_lists(east: East) -> None:
    start(east, 2)
    for minute in (6, 11, 16, 21):
        listed(east, f"00:{minute:02}", "w0")
    assert GoneRow.objects.count() == 1


def test_an_older_list_is_no_list(east: East) -> None:
    start(east, 2)
    listed(east, "00:06", "w0")
    listed(east, "00:05", "w0")
    listed(east, "00:06", "w0")
    assert lost(east) == []


def test_ten_that_vanish_at_once_are_put_aside_until_lists_agree_for_long(east: East) -> None:
    workers = start(east, 10)
    listed(east, "00:06", *workers[:4])
    listed(east, "00:11", *workers[:4])
    listed(east, "00:20:59.999", *workers[:4])
    assert lost(east) == []
    assert Source.objects.get().held_since is not None
    listed(east, "00:21", *workers[:4])
    assert lost(east) == workers[4:]
    assert east.check("00:30").differences == []


def test_a_list_that_has_them_again_ends_the_hold(east: East) -> None:
    workers = start(east, 10)
    listed(east, "00:06", *workers[:4])
    listed(east, "00:11", *workers)
    listed(east, "00:30", *workers[:4])
    assert lost(east) == []


def test_half_of_ten_may_vanish(east: East) -> None:
    workers = start(east, 10)
    listed(east, "00:06", *workers[:5])
    listed(east, "00:11", *workers[:5])
    assert lost(east) == workers[5:]


def test_what_ended_by_itself_is_not_among_those_that_vanish(east: East) -> None:
    workers = start(east, 10)
    east.say("00:02", *(state("00:02", "ended", worker) for worker in workers[1:]))
    listed(east, "00:06", workers[0])
    assert Source.objects.get().held_since is None


def test_an_operator_can_confirm(east: East) -> None:
    workers = start(east, 10)
    with pytest.raises(CommandError, match=r"put aside: none\."):
        call_command("confirm_vanished", "agent")
    listed(east, "00:06", *workers[:4])
    with pytest.raises(CommandError, match=r"put aside: agent\."):
        call_command("confirm_vanished", "agnet")
    call_command("confirm_vanished", "agent")
    listed(east, "00:11", *workers[:4])
    assert lost(east) == workers[4:]
    assert Source.objects.get().confirmed is False


def test_gone_lies_at_the_last_proof_not_before_the_last_state(east: East) -> None:
    start(east, 2)
    east.say("00:05", state("00:04", "stopping", "w1"))
    listed(east, "00:06", "w0")
    listed(east, "00:11", "w0")
    gone = GoneRow.objects.get()
    assert gone.missing_since - gone.proof == timedelta(minutes=5)
    assert east.check("00:30").differences == []
    assert east.goodput("00:00", "01:00").total.productive == hours(x=1 + 4 / 60)["x"]


def test_a_list_may_name_workers_without_a_state(east: East) -> None:
    start(east, 3)
    east.say("00:06", complete=True, named={"run-1": ["w0", "w1"]})
    east.say("00:11", state("00:00", "running", "w1", gpus=1), complete=True, named={"run-1": ["w0"], "unknown": ["x"]})
    assert lost(east) == ["w2"]
    assert east.check("00:20").differences == []
