"""How often one may ask: exact for all that ask at once, by token, else by the address that a trusted proxy saw."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from ledger import throttling
from ledger.models import Bucket
from tests.api.conftest import Api
from tests.api.test_observations import problem
from tests.api.test_one_instant import EACH_SECOND

MOST, AT_ONCE = 20, 200


@pytest.fixture
def few(settings: Settings) -> Iterator[None]:
    settings.THROTTLES = {"read": MOST, "ingest": 3, "stranger": 2}
    yield
    Bucket.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_of_200_at_once_as_many_pass_as_may(api: Api, few: None) -> None:
    headers = {"Authorization": f"Bearer {api.token('read')}"}

    def ask(number: int) -> int:
        try:
            forged = {"X-Forwarded-For": f"10.0.0.{number}"}
            return Client().get("/v1/runs", headers=headers | forged).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as at_once:
        assert Counter(at_once.map(ask, range(AT_ONCE))) == {200: MOST, 429: AT_ONCE - MOST}


def test_a_token_waits_and_others_do_not(api: Api, few: None) -> None:
    token = api.token("read", "ingest")
    for _ in range(MOST):
        assert api.get("runs", token).status_code == 200
    refused = api.get("runs", token)
    assert "too often" in problem(refused, 429)
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert api.get("runs", api.token("read")).status_code == 200
    body = {"source": "s", "sent_at": "2026-01-01T00:00:00Z"}
    assert [api.post(body, token).status_code for _ in range(4)] == [202, 202, 202, 429]
    Bucket.objects.update(until=Now())
    assert api.get("runs", token).status_code == 200


def test_logs_and_reports_are_counted_as_observations_are(api: Api, few: None) -> None:
    """Each worker of a gang ships its own: what is enough for who reads would not be for them."""
    token = api.token("read", "ingest")
    headers = {"Authorization": f"Bearer {token}"}
    paths = ("runs/x/logs", "runs/x/batches", "clusters/nowhere/observations", "runs/x/logs", "runs/x/batches")
    asked = [api.client.post(f"/v1/{path}", b"{}", content_type="application/json", headers=headers) for path in paths]
    assert [answer.status_code for answer in asked] == [404, 404, 404, 429, 429]
    assert api.get("runs", token).status_code == 200


def test_who_guesses_tokens_is_slowed_down_by_address(api: Api, few: None) -> None:
    assert [api.get("runs", "goodput_guess").status_code for _ in range(3)] == [401, 401, 429]
    assert api.get("runs", None).status_code == 429
    assert api.get("runs", api.token("read")).status_code == 200, "who shows a good token is no stranger"


def test_nothing_is_counted_where_nothing_is_limited(api: Api) -> None:
    assert api.get("runs", api.token("read")).status_code == 200
    assert not Bucket.objects.exists()


@pytest.mark.parametrize("ends", range(1, 8))
def test_a_bucket_is_filled_as_a_whole(db: None, ends: int) -> None:
    """Each look at the clock is a second after the last; the bucket is full again between two of them."""
    with connection.cursor() as cursor:
        cursor.execute(EACH_SECOND)
    until = Now() + timedelta(minutes=10, seconds=ends + 0.5)
    kept = Bucket.objects.create(key=throttling._short("ana"), spent=MOST - 1, until=until)
    kept.refresh_from_db()
    assert throttling.spend("ana", throttling.Rate(MOST)) == 0
    found = Bucket.objects.get()
    assert found.spent == (MOST if found.until == kept.until else 1)


def test_buckets_that_are_full_again_are_removed(db: None) -> None:
    assert throttling.spend("old", throttling.Rate(1)) == 0
    Bucket.objects.update(until=Now())
    assert throttling.spend("new", throttling.Rate(1)) == 0
    assert throttling.sweep() == 1
    assert throttling.spend("new", throttling.Rate(1)) > 0


@pytest.mark.parametrize(
    ("remote", "forwarded", "proxies", "address"),
    [
        ("10.0.0.1", "", 0, "10.0.0.1"),
        ("10.0.0.1", "1.2.3.4", 0, "10.0.0.1"),  # nobody is trusted
        ("10.0.0.1", "1.2.3.4", 1, "1.2.3.4"),
        ("10.0.0.1", "9.9.9.9, 1.2.3.4", 1, "1.2.3.4"),  # what the client wrote stands further left
        ("10.0.0.1", "9.9.9.9, 1.2.3.4, 10.0.0.2", 2, "1.2.3.4"),
        ("10.0.0.1", "1.2.3.4", 2, "1.2.3.4"),  # fewer hops than proxies: the outermost there is
        ("10.0.0.1", "", 2, "10.0.0.1"),
        ("10.0.0.1", "2001:DB8::1", 1, "2001:db8::1"),
        ("10.0.0.1", "nonsense", 1, "10.0.0.1"),
    ],
)
def test_the_address_is_what_the_outermost_trusted_proxy_saw(
    remote: str, forwarded: str, proxies: int, address: str
) -> None:
    assert throttling.address(remote, forwarded, proxies) == address
