"""Prometheus scrapes a server that runs, and answers every question of the dashboard and the rules."""

import re
from pathlib import Path

import pytest
import yaml
from django.conf import settings as site
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.api.history import History
from tests.metrics.conftest import Scraper
from tests.metrics.prom import DEPLOY, prometheus
from tests.metrics.reading import by
from tests.metrics.test_deploy import questions, rules

SERVER_TOKEN = "installation"


@pytest.fixture
def configured(scraped: Scraper, live_server: LiveServer, settings: Settings, tmp_path: Path) -> Path:
    """The configuration of deploy/, for this server and these tokens, in haste."""
    settings.METRICS_TOKEN = SERVER_TOKEN
    settings.ALLOWED_HOSTS = [*site.LOOPBACK, "testserver"]
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    for job, token in zip(config["scrape_configs"], (scraped.token, SERVER_TOKEN), strict=True):
        file = tmp_path / f"{job['job_name']}.token"
        file.write_text(token)
        job["authorization"]["credentials_file"] = str(file)
        job["scheme"] = "http"
        job["static_configs"] = [{"targets": [re.sub("^http://", "", live_server.url)]}]
    (tmp_path / "rules.yml").write_text((DEPLOY / "prometheus/rules.yml").read_text())
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    return tmp_path / "prometheus.yml"


@pytest.mark.django_db(transaction=True)
def test_prometheus_scrapes_and_answers(scraped: Scraper, history: History, configured: Path, tmp_path: Path) -> None:
    assert history.tenants is scraped.tenants
    with prometheus(configured, tmp_path / "data") as prom:
        found = prom.wait_for('astraeus_goodput_ratio{scope="workspace", window="day"}')
        told = {sample["metric"]["name"]: float(sample["value"][1]) for sample in found}
        here = by(scraped.samples(), "astraeus_goodput_ratio", "name", scope="workspace", window="day")
        assert told == pytest.approx(here, rel=0.01)
        prom.wait_for('ledger_watermark_age_seconds{organization="acme"}')
        prom.wait_for("scope_name_category:astraeus_goodput_share:day")
        assert {sample["value"][1] for sample in prom.ask("up")} == {"1"}
        assert [sample for sample in prom.ask('{__name__=~"astraeus.*"}') if sample["value"][1] == "NaN"] == []
        for question in [*questions(), *(rule["expr"] for rule in rules())]:
            prom.ask(question)
        for must in (
            "sum(astraeus_workers_stalled)",
            'topk(10, scope_name:astraeus_goodput_lost_gpu_hours:day{scope="workspace"})',
        ):
            assert prom.ask(must)
        alerts = prom.get("rules")["groups"]
        assert {rule["health"] for group in alerts for rule in group["rules"]} <= {"ok", "unknown"}
