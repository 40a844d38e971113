"""The outbox: everything is told at least once, by whoever is alive, and what cannot be told says why."""

import threading
from types import SimpleNamespace
from typing import Any

import apprise.plugins.slack
import pytest
from django.db.models import F
from django.db.models.functions import Now

from ledger.models import Alert, Channel, Delivery, Workspace
from ledger.notify import email, outbox, services
from ledger.notify.message import NotSent, Setup
from ledger.notify.outbox import ATTEMPTS_MAX, send_due, send_one
from tests.alerts.hours import GPU_HOUR, Judged
from tests.alerts.servers import LOOPBACK, hook, postbox
from tests.faults.crashing import crash
from tests.faults.sessions import together


@pytest.fixture
def judged(db: None) -> Judged:
    return Judged()


def channel(judged: Judged, target: str, kind: str = "webhook", **more: Any) -> Channel:
    name = f"channel {Channel.objects.count()}"
    return Channel.objects.create(workspace=judged.workspace, kind=kind, name=name, target=target, secret="s", **more)


def drop(judged: Judged) -> None:
    """A drop of goodput: of the workspace, and of its pool."""
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, GPU_HOUR)
    judged.write(25, 10 * GPU_HOUR, 9 * GPU_HOUR)
    judged.final(25)


def now_due() -> None:
    Delivery.objects.update(due_at=Now(), leased_until=None)


def test_an_alert_is_told_when_it_fires_and_when_it_is_over(judged: Judged) -> None:
    with hook() as one:
        channel(judged, one.url)
        drop(judged)
        assert send_due(LOOPBACK) == 1
        judged.final(26)
        assert send_due(LOOPBACK) == 1
        assert send_due(LOOPBACK) == 0
    events = [b'"event":"firing"' in got.body for got in one.received]
    assert events == [True, False]
    assert b"Goodput of workspace vision on east was 10.0 %" in one.received[0].body
    assert len({got.headers["Idempotency-Key"] for got in one.received}) == 2


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, {"vision"}),
        ({"clusters": True}, {"vision", "h100"}),
        ({"clusters": True, "pools": ["h100"]}, {"vision", "h100"}),
        ({"clusters": True, "pools": ["a100"]}, {"vision"}),
    ],
)
def test_who_is_told_of_what(judged: Judged, more: dict[str, Any], told: set[str]) -> None:
    channel(judged, "https://hooks.example/", **more)
    drop(judged)
    assert set(Delivery.objects.values_list("alert__name", flat=True)) == told


def test_another_workspace_is_told_nothing(judged: Judged) -> None:
    other = Judged()
    channel(other, "https://hooks.example/", clusters=True)
    drop(judged)
    assert Delivery.objects.count() == 0


def test_nothing_is_sent_of_what_is_silenced(judged: Judged) -> None:
    with hook() as one:
        channel(judged, one.url)
        drop(judged)
        Alert.objects.update(silenced_until="2100-01-01T00:00:00Z")
        send_due(LOOPBACK)
    assert one.received == []
    assert Delivery.objects.get().error == "the alert was silenced"


def test_it_is_tried_again_with_longer_and_longer_waits_and_then_given_up(judged: Judged) -> None:
    waits = []
    with hook(503) as one:
        channel(judged, one.url)
        drop(judged)
        for _ in range(outbox.ATTEMPTS_MAX):
            assert send_due(LOOPBACK) == 1
            assert send_due(LOOPBACK) == 0
            waiting = Delivery.objects.annotate(wait=F("due_at") - Now()).get()
            waits.append(waiting.wait.total_seconds())
            now_due()
        assert send_due(LOOPBACK) == 0
    for left, whole in zip(waits[:-1], [30, 60, 120, 240, 480, 960, 1920], strict=True):
        assert whole - 20 < left <= whole, "what is left of it"
    delivery = Delivery.objects.get()
    assert delivery.dead_at is not None
    assert delivery.error == "the other side answered 503"
    assert len({got.headers["Idempotency-Key"] for got in one.received}) == 1


def test_what_no_trying_helps_is_given_up_at_once(judged: Judged) -> None:
    channel(judged, "https://127.0.0.1/")
    drop(judged)
    assert send_due(Setup()) == 1
    delivery = Delivery.objects.get()
    assert (delivery.attempts, delivery.dead_at is not None) == (1, True)
    assert "not a public one" in delivery.error


def test_a_mistake_of_ours_holds_up_nobody(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    with hook() as one:
        channel(judged, "x@example.com", "email")
        channel(judged, one.url)
        drop(judged)
        monkeypatch.setitem(outbox.SENDERS, "email", broken)
        assert send_due(LOOPBACK) == 2
    assert len(one.received) == 1


def test_sixteen_senders_send_each_once(transactional_db: None) -> None:
    judged = Judged()
    with hook() as one:
        for _ in range(20):
            channel(judged, one.url)
        drop(judged)
        together([lambda: send_due(LOOPBACK)] * 16)
    assert len(one.received) == 20
    assert len({got.headers["Idempotency-Key"] for got in one.received}) == 20
    assert Delivery.objects.filter(sent_at=None).count() == 0


def test_a_sender_that_dies_anywhere_leaves_its_claim_to_another(transactional_db: None) -> None:
    with hook() as one:
        died, place, points = True, 1, []
        while died:
            Channel.objects.all().delete()
            Alert.objects.all().delete()
            one.received.clear()
            judged = Judged()
            channel(judged, one.url)
            drop(judged)
            point, died = crash("send_notifications", (), place)
            points.append(point)
            now_due()
            send_due(LOOPBACK)
            assert len(one.received) in (1, 2), f"died at {place}: {point}"
            assert len({got.headers["Idempotency-Key"] for got in one.received}) == 1
            assert Delivery.objects.get().sent_at is not None
            place += 1
    assert {"before delivery_claim", "before delivery_sent", "before COMMIT", "after COMMIT"} <= set(points)


def test_an_evaluation_that_dies_anywhere_leaves_one_alert_and_one_delivery(transactional_db: None) -> None:
    died, place = True, 1
    while died:
        Alert.objects.all().delete()
        judged = Judged()
        channel(judged, "https://hooks.example/")
        judged.day(0.9)
        judged.write(24, 10 * GPU_HOUR, GPU_HOUR)
        judged.final(24)
        now = judged.set_final(25)
        point, died = crash("evaluate", (judged.cluster.pk, now), place)
        judged.evaluate(now)
        assert Alert.objects.filter(name="vision").count() == 1, f"died at {place}: {point}"
        assert Delivery.objects.filter(alert__cluster=judged.cluster).count() == 1, f"died at {place}: {point}"
        place += 7


def test_a_lease_that_runs_out_is_claimed_again(judged: Judged) -> None:
    with hook() as one:
        channel(judged, one.url)
        drop(judged)
        Delivery.objects.update(leased_until="2100-01-01T00:00:00Z")
        assert not send_one(LOOPBACK)
        Delivery.objects.update(leased_until=Now())
        assert send_one(LOOPBACK)
    assert len(one.received) == 1


def test_one_that_kills_whoever_sends_it_is_given_up(judged: Judged) -> None:
    with hook() as one:
        channel(judged, one.url)
        drop(judged)
        Delivery.objects.update(attempts=ATTEMPTS_MAX, leased_until=Now())
        assert send_one(LOOPBACK)
    assert one.received == []
    made = Delivery.objects.get()
    assert (made.dead_at is not None, made.error) == (True, "whoever sent it died each time")


def test_who_does_not_answer_holds_up_nobody_else(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty that are not reached one is tried before what others are told, and no round lasts."""
    told: list[str] = []

    def sent(target: str, *_: Any) -> None:
        told.append(target)
        if target == "tarpit":
            raise NotSent("no answer")

    monkeypatch.setitem(outbox.SENDERS, "webhook", sent)
    other = Workspace.objects.create(organization=judged.workspace.organization, name="other")
    for _ in range(20):
        Delivery.objects.create(channel=channel(judged, "tarpit"), event="test")
    theirs = Channel.objects.create(workspace=other, kind="webhook", name="fine", target="fine", secret="s")
    Delivery.objects.create(channel=theirs, event="test")
    assert send_due(LOOPBACK, seconds=0) == 0
    assert send_due(LOOPBACK) == 21
    assert told[:2] == ["tarpit", "fine"]
    told.clear()
    now_due()
    Delivery.objects.create(channel=theirs, event="test")
    assert send_due(LOOPBACK) == 21
    assert told[0] == "fine"


# --- channels ---


@pytest.mark.parametrize("kind", ["email", "service"])
def test_nor_does_what_others_resolve(judged: Judged, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The libraries for mail and for services resolve by themselves, and set themselves no limit for it."""
    never = threading.Event()
    monkeypatch.setattr(email, "ALL_SECONDS", 0.2)
    monkeypatch.setattr(services, "ALL_SECONDS", 0.2)
    monkeypatch.setattr(email.Mail, "send", lambda _: never.wait(60))
    monkeypatch.setattr(services, "service_of", lambda _: SimpleNamespace(notify=lambda **_: never.wait(60)))
    channel(judged, "ana@example.com" if kind == "email" else "slack://a", kind)
    drop(judged)
    try:
        assert send_due(LOOPBACK) == 1
    finally:
        never.set()
    said = Delivery.objects.get()
    assert (said.sent_at, said.dead_at, said.attempts) == (None, None, 1)
    assert "did not" in said.error


def test_mail_by_a_real_server(judged: Judged, settings: Any) -> None:
    with postbox() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        channel(judged, "ana@example.com", "email")
        drop(judged)
        assert send_due(LOOPBACK) == 1
    ((to, mail),) = box.mails
    assert to == ["ana@example.com"]
    assert mail["From"] == "goodput@example.com"
    assert "goodput_drop vision" in str(mail["Subject"])
    assert str(Delivery.objects.get().key) in str(mail["Message-ID"])
    assert b"https://goodput.example/w/" in mail.get_payload(decode=True)


def test_mail_that_is_not_taken_is_tried_again(judged: Judged, settings: Any) -> None:
    with postbox() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        box.answer = "451 later"
        channel(judged, "ana@example.com", "email")
        drop(judged)
        send_due(LOOPBACK)
        assert (Delivery.objects.get().dead_at, box.mails) == (None, [])
        box.answer = "250 OK"
        now_due()
        send_due(LOOPBACK)
    assert len(box.mails) == 1


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
def test_slack_by_the_library(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    def ok(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"ok")

    with hook(ok) as one:
        monkeypatch.setattr(apprise.plugins.slack.NotifySlack, "webhook_url", one.url)
        channel(judged, "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "service")
        drop(judged)
        assert send_due(LOOPBACK) == 1
        assert Delivery.objects.get().error == ""
    assert b"Goodput of workspace vision" in one.received[0].body
