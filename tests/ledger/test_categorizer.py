"""What time alone changes: found each minute, or once a day, or twice at once, with the same result."""

import pytest

from ledger import hours as closing
from ledger.core.categories import Category
from ledger.core.windows import HOUR
from ledger.models import Cluster, LedgerHour, OpenCell, Revision
from ledger.rules import set_rule, set_thresholds
from tests.evidence import Settings
from tests.ledger.conftest import East, hours, reading, state
from tests.postgres_world import make_cluster
from tests.tables import at
from tests.worlds import MONDAY


def story(east: East) -> None:
    east.say("00:10", state("00:00", "pending", gpus=4), state("00:10", "running", machine="gpu-7"))
    east.send("00:20", readings=[reading("00:20", gpu_busy=90, step=1)])
    east.send("03:00", readings=[reading("03:00", gpu_busy=1, step=1)])
    east.say("26:00", state("26:00", "ended"))


def ledger(east: East) -> list[tuple[object, ...]]:
    lines = ("productive", "idle", "stalled", "waiting", "unobserved", "unobserved_productive")
    return list(LedgerHour.objects.order_by("hour", "machine_id").values_list("hour", "machine__name", *lines))


def test_counted_each_half_hour_or_at_the_end_it_is_the_same(db: None) -> None:
    ledgers = []
    for moments in (["30:00"], [f"{minute // 60:02}:{minute % 60:02}" for minute in range(0, 1801, 30)]):
        east = East(make_cluster(Settings(), MONDAY))
        told = iter([("00:10", "say"), ("00:20", "busy"), ("03:00", "idle"), ("26:00", "end")])
        upcoming = next(told, None)
        for moment in moments:
            while upcoming is not None and at(upcoming[0]) <= at(moment):
                tell(east, *upcoming)
                upcoming = next(told, None)
            east.categorize(moment)
        ledgers.append(ledger(east))
        assert east.check("30:01").differences == []
        LedgerHour.objects.all().delete()
    assert ledgers[0] == ledgers[1] != []


def tell(east: East, moment: str, what: str) -> None:
    match what:
        case "say":
            east.say(moment, state("00:00", "pending", gpus=4), state("00:10", "running", machine="gpu-7"))
        case "busy":
            east.send(moment, readings=[reading(moment, gpu_busy=90, step=1)])
        case "idle":
            east.send(moment, readings=[reading(moment, gpu_busy=1, step=1)])
        case "end":
            east.say(moment, state(moment, "ended"))


def test_twice_in_a_row_counts_nothing_more(east: East) -> None:
    story(east)
    east.categorize("30:00")
    before = ledger(east)
    east.categorize("30:00")
    assert ledger(east) == before


def test_an_idle_minute_counts_nobody_again(east: East) -> None:
    from ledger.categorizer import categorize

    story(east)
    categorize(east.cluster, now=at("30:00"))
    assert categorize(east.cluster, now=at("30:01"))[:3] == (0, 0, 0)


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_batches_of_any_size_count_the_same(db: None, size: int) -> None:
    from ledger.categorizer import categorize

    east = East(make_cluster(Settings(), MONDAY))
    east.say("00:00", *(state("00:00", "running", f"w{k}", gpus=1) for k in range(5)))
    counted = categorize(east.cluster, now=at("02:30"), batch_size=size)
    assert counted == (5, 2, 0, at("02:30"))
    assert east.goodput("00:00", "02:00").total.productive == hours(x=10)["x"]
    assert east.goodput("00:00", "02:00").total.unobserved == hours(x=10)["x"]


def test_an_hour_is_closed_by_whatever_posts_first(east: East) -> None:
    east.say("00:10", state("00:00", "running", gpus=1))
    east.send("01:00")
    assert LedgerHour.objects.get().productive == hours(x=1)["x"]
    assert Cluster.objects.get().open_hour.hour == 1


def test_closing_keeps_what_goes_on_and_drops_what_does_not(east: East) -> None:
    east.say("00:10", state("00:00", "running", gpus=1), state("00:00", "pending", "w1", gpus=2))
    east.say("00:30", state("00:30", "ended", "w1"))
    closing.close_over(east.cluster.pk, at("01:00"))
    assert [cell.g_productive for cell in OpenCell.objects.all()] == [1000]
    assert LedgerHour.objects.count() == 2


def test_hours_become_final_when_nothing_in_order_can_change_them(east: East) -> None:
    east.send("00:00")
    east.categorize("01:11:59.999")
    assert not east.goodput("00:00", "01:00").complete
    east.categorize("01:12")
    assert east.goodput("00:00", "01:00").complete
    assert not east.goodput("00:00", "02:00").complete


def test_later_evidence_revises_a_final_hour(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.categorize("02:30")
    assert east.goodput("00:00", "01:00").revised_at is None
    east.say("02:31", state("00:30", "ended"))
    assert east.goodput("00:00", "01:00").revised_at == at("02:31")
    assert sorted(revision.hour.hour for revision in Revision.objects.all()) == [0, 1]


def test_a_dated_setting_acts_from_the_next_whole_hour_and_no_earlier(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    assert set_rule(east.cluster.pk, unmeasured_as=Category.IDLE, now=at("00:30")) == at("01:00")
    east.categorize("02:00")
    total = east.goodput("00:00", "02:00").total
    assert (total.productive, total.amounts[Category.IDLE]) == (hours(x=1)["x"], hours(x=1)["x"])
    assert east.check("02:01").differences == []


def test_a_cluster_without_readings_goes_by_words_alone(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    set_rule(east.cluster.pk, readings_expected=False, now=at("00:30"))
    east.send("02:00", seen_from=state("00:00")["at"])
    east.categorize("02:00")
    assert east.goodput("00:00", "02:00").total.unobserved == hours(x=1)["x"]
    assert east.check("02:01").differences == []


def test_time_without_a_reading_is_never_a_loss_of_another_kind(east: East) -> None:
    with pytest.raises(ValueError, match="productive or as idle"):
        set_rule(east.cluster.pk, unmeasured_as=Category.FAILURE, now=at("00:30"))


def test_a_threshold_acts_on_samples_from_now_on(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.send("00:00", readings=[reading("00:00", gpu_busy=10)])
    set_thresholds(east.cluster.pk, busy_milli_percent=50_000)
    east.send("00:30", readings=[reading("00:30", gpu_busy=10)])
    east.categorize("01:00")
    total = east.goodput("00:00", "01:00").total
    assert total.productive == total.amounts[Category.IDLE] == hours(x=0.5)["x"]


def test_the_clock_going_back_counts_nothing_twice(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.categorize("02:30")
    before = ledger(east)
    east.categorize("01:10")
    east.send("01:15")
    east.categorize("02:30")
    assert ledger(east) == before
    assert Cluster.objects.get().counted_until.hour * HOUR == 2 * HOUR
    assert east.check("02:31").differences == []
