"""Pruning: what is removed, what stays, and that no clock, death or second worker makes it take more."""

from functools import partial
from typing import Any

import pytest
from django.db import connection

from ledger import retention, sql
from ledger.checks import check
from ledger.core.windows import DAY, HOUR
from ledger.models import (
    Alert,
    Change,
    Channel,
    Cluster,
    Delivery,
    LedgerHour,
    Machine,
    Refused,
    Run,
    Source,
    Span,
    State,
    Worker,
)
from ledger.retention import EdgeLeaps, prune
from tests.faults import scene
from tests.faults.crashing import crash, end, start
from tests.faults.sessions import together
from tests.postgres_world import moment
from tests.retention.story import EDGE, NOW, told_cluster
from tests.retention.younger import older, younger
from tests.tables import at
from tests.worlds import iso


def sound(cluster: Cluster) -> None:
    now = at("48:30")
    assert list(check(cluster.pk, now, now=now))[-1].differences == []


@pytest.mark.django_db
def test_what_is_older_goes_and_what_is_younger_stays_byte_for_byte() -> None:
    cluster = told_cluster()
    before = younger(cluster, EDGE)
    assert older(cluster, EDGE).keys() >= {
        "hour", "span", "eighthrun", "eighthmachine", "dayrun", "daypool", "daymachine", "hourpool",
    }  # fmt: skip
    assert prune(cluster.pk, now=NOW).edge == EDGE
    assert younger(cluster, EDGE) == before
    assert older(cluster, EDGE) == {}
    sound(cluster)


@pytest.mark.django_db
def test_again_there_is_nothing_to_do() -> None:
    cluster = told_cluster()
    assert prune(cluster.pk, now=NOW).rows > 0
    assert prune(cluster.pk, now=NOW + HOUR) == (EDGE, 0, 0)
    cluster.refresh_from_db()
    assert cluster.pruned_at == moment(NOW + HOUR)


@pytest.mark.django_db
def test_a_young_ledger_is_kept_whole_and_counts_as_pruned() -> None:
    cluster = told_cluster()
    before = younger(cluster, 0)
    assert prune(cluster.pk, now=NOW - DAY - 2 * HOUR) == (None, 0, 0)
    assert younger(cluster, 0) == before
    cluster.refresh_from_db()
    assert (cluster.kept_from, cluster.pruned_at) == (None, moment(NOW - DAY - 2 * HOUR))


@pytest.mark.django_db
def test_each_worker_that_goes_on_keeps_its_last_state_before_the_edge() -> None:
    cluster = told_cluster()
    last = {}
    for state in State.objects.filter(cluster=cluster, at__lt=moment(EDGE)).order_by(
        "at", "attempt", "phase", "content"
    ):
        last[state.worker_id] = state.pk
    prune(cluster.pk, now=NOW)
    kept = {state.pk for state in State.objects.filter(cluster=cluster, at__lt=moment(EDGE))}
    gone = set(last) - set(Worker.objects.filter(cluster=cluster).values_list("pk", flat=True))
    assert kept == {pk for worker, pk in last.items() if worker not in gone}
    assert len(gone) == 1


@pytest.mark.django_db
def test_a_run_of_which_all_is_older_is_forgotten_with_its_machine() -> None:
    cluster = told_cluster()
    assert set(Run.objects.filter(cluster=cluster).values_list("uid", flat=True)) == {"r1", "r2", "r3"}
    prune(cluster.pk, now=NOW)
    assert set(Run.objects.filter(cluster=cluster).values_list("uid", flat=True)) == {"r1", "r2"}
    assert not Worker.objects.filter(cluster=cluster, run__uid="r3").exists()
    # Its capacity was reported before the edge, and nobody names it since.
    assert set(Machine.objects.filter(cluster=cluster).values_list("name", flat=True)) == {"m1", "m2", "m3"}


@pytest.mark.django_db
def test_a_source_that_nothing_names_is_forgotten() -> None:
    cluster = told_cluster()
    scene.deliver(cluster, "48:31", {"source": "b", "sent_at": iso(at("01:00"))})
    Source.objects.filter(cluster=cluster, name="b").update(heard_at=moment(at("01:00")))
    prune(cluster.pk, now=NOW)
    assert list(Source.objects.filter(cluster=cluster).values_list("name", flat=True)) == ["a"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("moment_", "refused"),
    [("23:59:59.999", ["too_old"]), ("24:00", [])],
)
def test_what_is_observed_before_the_edge_is_refused(moment_: str, refused: list[str]) -> None:
    cluster = told_cluster()
    prune(cluster.pk, now=NOW)
    late = scene.batch("48:31", workers=[("r1/w0", moment_, {"phase": "running"})])
    scene.deliver(cluster, "48:31", late)
    assert (
        list(Refused.objects.filter(cluster=cluster, received_at=moment(at("48:31"))).values_list("error", flat=True))
        == refused
    )
    sound(cluster)


@pytest.mark.django_db
def test_refused_items_go_with_their_hours() -> None:
    cluster = told_cluster()
    Refused.objects.all().delete()
    for text in ("23:59", "24:00"):
        Refused.objects.create(
            cluster=cluster,
            received_at=moment(at(text)),
            source="a",
            list="runs",
            index=0,
            field="uid",
            error="x",
            item={},
        )
    prune(cluster.pk, now=NOW)
    assert Refused.objects.get().received_at == moment(EDGE)


@pytest.mark.django_db
def test_alerts_that_were_over_go_with_what_was_told_of_them() -> None:
    cluster = told_cluster()
    workspace = cluster.organization.workspace_set.get()
    channel = Channel.objects.create(workspace=workspace, kind="email", name="ana", target="ana@example.com")
    for rule, over in (("ledger_late", "23:59"), ("prune_late", "24:00"), ("source_stale", "")):
        begun, ended = moment(at("20:00")), moment(at(over)) if over else None
        instants = {"hour": begun, "told_at": begun, "fired_at": begun, "resolved_at": ended}
        alert = Alert.objects.create(cluster=cluster, rule=rule, subject="x", name="x", **instants)
        Delivery.objects.create(channel=channel, alert=alert, event="firing", made_at=begun, sent_at=begun)
    prune(cluster.pk, now=NOW)
    assert set(Alert.objects.values_list("rule", flat=True)) == {"prune_late", "source_stale"}
    assert Delivery.objects.count() == 0


# --- clocks ---


@pytest.mark.django_db
@pytest.mark.parametrize(("later", "moves"), [(25 * HOUR - 1, True), (2 * DAY, False), (365 * DAY, False)])
def test_a_clock_that_jumped_removes_nothing(later: int, moves: bool) -> None:
    cluster = told_cluster()
    prune(cluster.pk, now=NOW)
    before = younger(cluster, 0)
    if moves:
        assert prune(cluster.pk, now=NOW + later).edge == EDGE + DAY
        return
    with pytest.raises(EdgeLeaps, match="is the database's clock right"):
        prune(cluster.pk, now=NOW + later)
    assert younger(cluster, 0) == before
    cluster.refresh_from_db()
    assert cluster.pruned_at == moment(NOW)


@pytest.mark.django_db
def test_the_first_time_a_clock_a_year_ahead_removes_nothing_either() -> None:
    cluster = told_cluster()
    before = younger(cluster, 0)
    with pytest.raises(EdgeLeaps):
        prune(cluster.pk, now=NOW + 365 * DAY)
    assert younger(cluster, 0) == before


@pytest.mark.django_db
def test_a_clock_that_is_accepted_moves_the_edge_all_the_way() -> None:
    cluster = told_cluster()
    assert prune(cluster.pk, accept_clock=True, now=NOW + 3 * DAY).edge == EDGE + 3 * DAY
    assert older(cluster, EDGE + 3 * DAY) == {}


@pytest.mark.django_db
def test_a_clock_that_steps_back_moves_nothing_back() -> None:
    cluster = told_cluster()
    prune(cluster.pk, now=NOW)
    assert prune(cluster.pk, now=NOW - 10 * DAY).edge == EDGE


# --- months ---


@pytest.mark.django_db
def test_a_month_that_every_cluster_has_passed_is_dropped_as_a_table() -> None:
    cluster = told_cluster()
    other = scene.make()
    month, last = "ledger_hour_2026_09", EDGE + 5 * DAY  # 4 October
    prune(cluster.pk, accept_clock=True, now=NOW + 5 * DAY)
    assert month in tables()
    other.kept_from = moment(last)
    other.save()
    assert prune(cluster.pk, now=NOW + 5 * DAY).months > 0
    assert month not in tables()
    assert {"ledger_hour_2026_10", "ledger_hour_2026_11"} <= set(tables())
    assert not LedgerHour.objects.filter(hour__lt=moment(last)).exists()


def tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(r"SELECT relname FROM pg_class WHERE relname ~ '^ledger_hour_\d{4}_\d\d$'")
        return [name for (name,) in cursor.fetchall()]


@pytest.mark.django_db
@pytest.mark.parametrize("plans", ["", "hashjoin", "mergejoin", "hashjoin mergejoin", "nestloop", "seqscan"])
def test_no_transaction_removes_more_than_a_batch(monkeypatch: pytest.MonkeyPatch, plans: str) -> None:
    with connection.cursor() as cursor:
        for plan in plans.split():
            cursor.execute(f"SET LOCAL enable_{plan} = off")
    cluster = told_cluster()
    monkeypatch.setattr(retention, "BATCH", 2)
    counts: list[int] = []
    run = sql.run

    def counted(name: str, /, **where: Any) -> int:
        touched = run(name, **where)
        if name.startswith("prune_") and name not in ("prune_move", "prune_done"):
            counts.append(touched)
        return touched

    monkeypatch.setattr(sql, "run", counted)
    prune(cluster.pk, now=NOW)
    assert max(counts) == 2
    assert older(cluster, EDGE) == {}
    sound(cluster)


@pytest.mark.django_db
def test_the_audit_log_has_its_own_keeping() -> None:
    Change.objects.all().delete()
    for text in ("00:00", "10:00"):
        Change.objects.create(actor="ana", what="token_made", at=moment(at(text)))
    assert retention.prune_changes(at("10:00")) == 1
    assert Change.objects.get().at == moment(at("10:00"))


# --- deaths and company ---


def dies(every: int) -> set[str]:
    """Let prunes die, each on a cluster of its own, and return at which points."""
    points: set[str] = set()
    place, died = 1, True
    while died:
        cluster = told_cluster()
        before = younger(cluster, EDGE)
        point, died = crash("prune", (cluster.pk, NOW), place)
        assert younger(cluster, EDGE) == before, f"died at {place}: {point}"
        prune(cluster.pk, now=NOW)
        assert (younger(cluster, EDGE), older(cluster, EDGE)) == (before, {}), f"died at {place}: {point}"
        sound(cluster)
        points.add(point)
        place += every
    return points


def test_a_prune_that_dies_has_changed_nothing_younger_and_is_gone_on_with(transactional_db: None) -> None:
    assert {"before COMMIT", "after COMMIT"} <= dies(every=13)


@pytest.mark.soak
def test_a_prune_that_dies_anywhere(transactional_db: None) -> None:
    wanted = {"prune_move", "prune_dayrun", "prune_hours", "prune_spans", "prune_states", "prune_told", "prune_runs"}
    assert {f"before {name}" for name in wanted} <= dies(every=1)


def test_two_prunes_at_once_one_of_which_dies(transactional_db: None) -> None:
    for place in (3, 20, 60):
        cluster = told_cluster()
        before = younger(cluster, EDGE)
        process, pipe = start("prune", (cluster.pk, NOW), place)
        together([partial(prune, cluster.pk, now=NOW), partial(prune, cluster.pk, now=NOW)])
        end(process, pipe)
        prune(cluster.pk, now=NOW)
        assert younger(cluster, EDGE) == before
        assert older(cluster, EDGE) == {}
        assert Span.objects.filter(cluster=cluster).exists()
        sound(cluster)
