"""A person's own page: zone and password."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger import viewers
from tests.dashboards.test_settings import client_of, post
from tests.dashboards.world import PASSWORD, World


def test_a_zone_is_kept_and_utc_takes_it_back(world: World) -> None:
    ana = User.objects.get(username="ana")
    assert viewers.zone_of(ana) == ""
    assert "Pages show Europe/Paris from now on." in post("ana", "/you", "zone", zone="Europe/Paris").content.decode()
    assert viewers.zone_of(ana) == "Europe/Paris"
    post("ana", "/you", "zone", zone="")
    assert viewers.zone_of(ana) == ""


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "UTC+2", "a" * 1000])
def test_a_zone_that_there_is_not_is_refused(world: World, zone: str) -> None:
    assert post("ana", "/you", "zone", zone=zone).status_code == 400
    with pytest.raises(ValueError, match="there is no time zone"):
        viewers.set_zone(User.objects.get(username="ana"), zone)


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
