"""A person's own page: zone and password."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboards.filters import shown
from ledger import viewers
from ledger.core.windows import HOUR
from tests.dashboards.conftest import GOODPUT
from tests.dashboards.reading import read, text_of
from tests.dashboards.test_settings import client_of, post
from tests.dashboards.world import PASSWORD, World


def test_a_zone_is_kept_and_utc_takes_it_back(world: World) -> None:
    def zone() -> str:
        return viewers.zone_of(User.objects.get(username="ana"))

    assert zone() == ""
    assert "Pages show Europe/Paris from now on." in post("ana", "/you", "zone", zone="Europe/Paris").content.decode()
    assert zone() == "Europe/Paris"
    post("ana", "/you", "zone", zone="")
    assert zone() == ""


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "UTC+2", "a" * 1000])
def test_a_zone_that_there_is_not_is_refused(world: World, zone: str) -> None:
    assert post("ana", "/you", "zone", zone=zone).status_code == 400
    with pytest.raises(ValueError, match="there is no time zone"):
        viewers.set_zone(User.objects.get(username="ana"), zone)


def test_pages_show_the_zone_of_who_reads_and_say_it(world: World) -> None:
    def counted(who: str) -> str:
        return text_of(client_of(who).get(GOODPUT), "counted")

    assert counted("ana").endswith(" UTC")
    viewers.set_zone(User.objects.get(username="ana"), "Asia/Kolkata")
    at = read(client_of("ana").get(GOODPUT)).by_id("counted").of("time")[0]
    instant = datetime.fromisoformat(at.attributes["datetime"])
    assert at.attributes["datetime"].endswith("Z")
    assert at.text.endswith(f"{instant.astimezone(ZoneInfo('Asia/Kolkata')):%H:%M} IST")
    assert counted("adam").endswith(" UTC")


@pytest.mark.parametrize(
    ("start", "end", "zone", "hours", "first"),
    [
        ("2026-03-23T00:00", "2026-03-30T00:00", "Europe/Paris", 167, "2026-03-22T23:00:00Z"),
        ("2026-10-19T00:00", "2026-10-26T00:00", "Europe/Paris", 169, "2026-10-18T22:00:00Z"),
        ("2026-03-23T00:00", "2026-03-30T00:00", "", 168, "2026-03-23T00:00:00Z"),
        ("2026-03-23T00:00Z", "2026-03-30T00:00Z", "Europe/Paris", 168, "2026-03-23T00:00:00Z"),
        ("2026-11-02T00:00", "2026-11-03T00:00", "Asia/Kolkata", 25, "2026-11-01T18:00:00Z"),
        ("2026-11-02", "2026-11-03", "Asia/Tokyo", 24, "2026-11-01T15:00:00Z"),
    ],
)  # fmt: skip
def test_a_range_is_of_the_zone_that_its_form_says_and_of_whole_utc_hours(
    start: str, end: str, zone: str, hours: int, first: str
) -> None:
    wanted = shown({"start": start, "end": end, "zone": zone}, now=1_800_000_000_000)
    assert (wanted.window.end - wanted.window.start, wanted.start) == (hours * HOUR, first)
    assert "zone" not in wanted.link()


def test_a_range_in_no_zone_is_asked_again(world: World) -> None:
    page = client_of("ana").get(GOODPUT, {"start": "2026-11-02T00:00", "zone": "Mars/Olympus"})
    assert page.status_code == 400
    assert "is not a time zone; write one like Europe/Paris." in page.content.decode()


def test_a_new_password_ends_the_other_sessions_and_not_this_one(world: World) -> None:
    here, elsewhere = Client(), Client()
    assert here.login(username="ana", password=PASSWORD)
    assert elsewhere.login(username="ana", password=PASSWORD)
    new = "another-long-one"
    answer = here.post(
        "/you",
        {"action": "password", "old_password": PASSWORD, "new_password1": new, "new_password2": new},
        follow=True,
    )
    assert "The password is changed" in answer.content.decode()
    assert here.get("/you").status_code == 200
    assert elsewhere.get("/you").status_code == 302
    assert Client().login(username="ana", password=new)


def test_a_wrong_old_password_changes_nothing(world: World) -> None:
    answer = client_of("ana").post(
        "/you", {"action": "password", "old_password": "no", "new_password1": "b" * 12, "new_password2": "b" * 12}
    )
    assert answer.status_code == 400
    assert Client().login(username="ana", password=PASSWORD)
