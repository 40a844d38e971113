"""Log goodput on the page of a run, and the pages of log profiles with their tester."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboards.logs import duration, steps, waterfall
from dashboards.sections.log_goodput import missing
from ledger import queries
from ledger.logs.builtin import BUILTIN
from ledger.measuring import profiles
from ledger.measuring.answers import _folded
from ledger.models import LogStream, Measurement
from tests.dashboards.conftest import Get
from tests.dashboards.reading import text_of
from tests.dashboards.shipped import STEP, ship
from tests.dashboards.world import World

LLM = "/w/acme/vision/runs/uid-llm"
PROFILES = "/w/acme/vision/log-profiles"


def test_a_run_shows_its_log_goodput_beside_the_ledger(world: World, get: Get) -> None:
    ship("uid-llm", world.now)
    page = get(LLM)
    section = text_of(page, "log-goodput")
    assert "provisional · not mixed with the ledger" in section
    assert "Training time" in section
    assert "pending goodputRatio by its log" in text_of(page, "verdicts")
    assert "judged when the run is over" in text_of(page, "verdicts")
    assert re.search(r"Interruptions.*, at step 199", section)
    assert re.search(r"step now 350", section)
    assert b'class="graph steps"' in page.content
    assert page.content.count(b"<polyline") == 3
    assert "log-goodput" not in get("/w/acme/vision/runs/uid-queued").content.decode()


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({"stepLines": 0}, "no line matched trainingStep yet"),
        ({"stepLines": 3}, "no line has said yet when it was printed"),
    ],
)
def test_no_result_yet_says_what_is_waited_for(status: dict[str, Any], why: str) -> None:
    assert missing(status | {"conditions": [{"type": "Complete", "message": ""}]}) == why
    assert missing(status | {"conditions": [{"type": "Complete", "message": "its own"}]}) == "its own"


def test_the_number_of_queries_does_not_depend_on_the_log(world: World, get: Get) -> None:
    ship("uid-llm", world.now)
    get(LLM)
    counts = []
    for more in (0, 17):
        for attempt in range(3, 3 + more):
            LogStream.objects.create(
                measurement=Measurement.objects.get(), attempt=attempt, worker="worker-0", numbered=True
            )
        _folded.cache_clear()
        with CaptureQueriesContext(connection) as asked:
            get(LLM)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_the_waterfall_adds_up() -> None:
    rows = waterfall(
        {"training": 3_600_000_000, "lost": 600_000_000, "reschedule": 60_000_000, "resume": 0, "saving": 1_500_000}
    )
    assert [(row.name, row.lasted, row.share) for row in rows] == [
        ("Training time", "1 h 0 min", ""),
        ("Lost work", "10 min", "16.7 %"),
        ("Reschedule", "60.0 s", "1.7 %"),
        ("Resume", "0.0 s", "0.0 %"),
        ("Saving", "1.5 s", "0.0 %"),
        ("Productive", "48 min", "81.6 %"),
    ]
    assert 'x="83.333%" width="16.667%"' in rows[1].bar
    assert waterfall({"training": None}) == []
    assert duration(-5_000_000) == "−5.0 s"


def test_what_has_no_time_is_not_drawn() -> None:
    assert steps({"steps": [[None, 1, 2, 3], [None, 2, 2, 3]]}) == ""
    assert steps({}) == ""


def test_profiles_are_listed_for_members(world: World, get: Get) -> None:
    profiles.save(world.vision.organization, "mine", BUILTIN["maxtext"], "adam")
    page = get(PROFILES)
    assert page.status_code == 200
    names = re.findall(r'log-profiles/[\w-]+">([\w-]+)<', page.content.decode())
    assert names == ["mine", *BUILTIN]
    assert get(f"{PROFILES}/nothing").status_code == 404
    assert get(PROFILES, "eve").status_code == 404


@pytest.fixture
def browser(world: World) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="adam"))
    return client


def test_lines_are_tried(browser: Client) -> None:
    lines = (
        "\r\n".join(f"2026-10-01T12:00:{n:02d}Z {STEP.format(n, 1.0, 130.0)}" for n in range(10)) + "\r\n<b>noise</b>"
    )
    text = browser.get(f"{PROFILES}/maxtext").context["text"]
    page = browser.post(f"{PROFILES}/maxtext", {"action": "try", "text": text, "lines": lines})
    assert page.status_code == 200
    tried = text_of(page, "tried")
    assert "11 lines read. trainingStep 10" in tried
    assert "globalStep=9 stepTiming=1.0 tflops=130.0 loss=3.1" in tried
    assert "0 of 11 lines matched applicationStart" in tried
    assert b"<b>noise" not in page.content
    broken = browser.post(
        f"{PROFILES}/maxtext", {"action": "try", "text": text.replace("completed", "(?=x)"), "lines": ""}
    )
    assert broken.status_code == 400
    assert "spec.patterns.trainingStep.regex: does not compile" in text_of(broken, "problem")


def test_who_runs_the_organization_saves_profiles(browser: Client, world: World, get: Get) -> None:
    text = browser.get(f"{PROFILES}/maxtext").context["text"]
    refused = browser.post(f"{PROFILES}/maxtext", {"action": "save", "text": text, "lines": ""})
    assert (refused.status_code, "built-in" in text_of(refused, "problem")) == (400, True)
    own = text.replace("name: maxtext", "name: mine")
    for version in (1, 2):
        saved = browser.post(f"{PROFILES}/maxtext", {"action": "save", "text": own, "lines": ""})
        assert (saved.status_code, saved.headers["Location"]) == (302, f"{PROFILES}/mine")
        found = profiles.find([world.vision.organization_id], "mine")
        assert found is not None
        assert found.version == version
        own = own.replace("warmupSteps: 2", "warmupSteps: 3")
    assert "2 ·" in browser.get(f"{PROFILES}/mine").content.decode()
    member = Client()
    member.force_login(User.objects.get(username="ana"))
    assert member.get(f"{PROFILES}/mine").status_code == 200
    assert member.post(f"{PROFILES}/mine", {"action": "save", "text": own, "lines": ""}).status_code == 404
    assert member.post(f"{PROFILES}/mine", {"action": "try", "text": own, "lines": "x"}).status_code == 200
    assert browser.post(f"{PROFILES}/mine", {"action": "retire"}).status_code == 302
    assert get(f"{PROFILES}/mine").status_code == 404


def test_a_frozen_run_is_final(world: World, get: Get) -> None:
    from ledger.measuring.answers import freeze
    from ledger.models import Run

    run = ship("uid-llm", world.now)
    Run.objects.filter(pk=run.pk).update(ended_at="2026-10-01T00:00:00Z", outcome="Succeeded")
    freeze(run.pk, queries.now())
    assert "· final ·" in text_of(get(LLM), "log-goodput")
