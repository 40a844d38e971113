"""What lies in deploy/: rules that promtool checks and tests, and a dashboard that asks only for what there is."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django import Settings

from tests.api.history import History
from tests.metrics.conftest import Scraper
from tests.metrics.prom import DEPLOY, promtool

RULES = DEPLOY / "prometheus/rules.yml"
DOCS = (DEPLOY.parent / "docs/metrics.md").read_text()
NAME = re.compile(r"\b(?:astraeus|ledger|scope_name)\w*(?::\w+)*")
ABOUT_HOURS = re.compile(r'^astraeus_\w*gpu_hours use base unit "seconds" instead of "hours"$')


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    board: dict[str, Any] = json.loads((DEPLOY / "grafana/goodput.json").read_text())
    return board


def questions() -> Iterator[str]:
    """Every expression of the dashboard, with its variables filled in."""
    board = dashboard()
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for expression in expressions:
        yield expression.replace("$scope", "workspace").replace("$name", ".*")


def exposed(scraped: Scraper, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of all metrics that there are."""
    settings.METRICS_TOKEN = "installation"
    monkeypatch.setattr("goodput_site.metrics.queue_length", lambda: 0)
    own = scraped.api.client.get("/metrics", headers={"Authorization": "Bearer installation"})
    text = scraped.text().content.decode() + own.content.decode()
    return set(re.findall(r"^# TYPE (\w+) gauge$", text, re.MULTILINE))


def test_promtool_takes_the_rules_and_they_do_what_they_say() -> None:
    for arguments in (("check", "rules", str(RULES)), ("test", "rules", str(DEPLOY / "prometheus/rules_test.yml"))):
        done = promtool(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_is_tested() -> None:
    tested = (DEPLOY / "prometheus/rules_test.yml").read_text()
    for rule in rules():
        assert rule.get("record", f"alertname: {rule.get('alert')}") in tested


def with_files(config: dict[str, Any], folder: Path) -> str:
    """A configuration whose files are there."""
    for job in config["scrape_configs"]:
        if "credentials_file" in job["authorization"]:
            job["authorization"]["credentials_file"] = str(folder / "token")
    (folder / "token").write_text("secret")
    (folder / "rules.yml").write_text(RULES.read_text())
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    return str(folder / "prometheus.yml")


def test_promtool_takes_the_configuration(tmp_path: Path) -> None:
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    assert [job["metrics_path"] for job in config["scrape_configs"]] == ["/v1/goodput/metrics", "/metrics"]
    done = promtool("check", "config", with_files(config, tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_takes_what_the_collector_scrapes_and_its_parts_are_there(tmp_path: Path) -> None:
    collector = yaml.safe_load((DEPLOY / "opentelemetry/collector.yaml").read_text())
    done = promtool("check", "config", with_files(collector["receivers"]["prometheus"]["config"], tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    for pipeline in collector["service"]["pipelines"].values():
        for kind, names in pipeline.items():
            assert set(names) == set(collector[kind])
    statements = [
        line for of in collector["processors"]["transform/names"]["metric_statements"] for line in of["statements"]
    ]
    labels = set(re.findall(r'attributes\["(\w+)"\]', "\n".join(statements)))
    assert labels == {"namespace", "name", "scope"}


def test_the_linter_complains_of_hours_alone(scraped: Scraper) -> None:
    done = promtool("check", "metrics", text=scraped.text().content.decode())
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert len(complaints) == 2
    assert all(ABOUT_HOURS.match(line) for line in complaints), complaints


def test_rules_and_dashboard_use_what_there_is(
    scraped: Scraper, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = exposed(scraped, settings, monkeypatch) | {rule["record"] for rule in rules() if "record" in rule}
    used = {name for expression in questions() for name in NAME.findall(expression)}
    used |= {name for rule in rules() for name in NAME.findall(rule["expr"])}
    variables = dashboard()["templating"]["list"]
    used |= set(NAME.findall(json.dumps([variable["query"] for variable in variables])))
    assert used <= there
    assert {"astraeus_goodput_ratio", "ledger_queue_length"} <= used


def test_the_dashboard_links_back_with_the_range_that_is_shown() -> None:
    board = dashboard()
    names = {variable["name"] for variable in board["templating"]["list"]}
    links = [link["url"] for panel in board["panels"] for link in panel["fieldConfig"]["defaults"].get("links", [])]
    assert links
    for url in links:
        assert "/w/${organization}/${__field.labels.name}/goodput?start=${__from:date:iso}&end=${__to:date:iso}" in url
        assert set(re.findall(r"\$\{(\w+)\}", url)) <= names
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    sources = json.dumps([panel["datasource"] for panel in board["panels"]])
    assert sources.count("${DS_PROMETHEUS}") == len(board["panels"])
    assert board["__inputs"][0]["name"] == "DS_PROMETHEUS"


def test_every_metric_and_alert_is_in_the_documentation_and_no_other(
    scraped: Scraper, history: History, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = set(re.findall(r"^\| `((?:astraeus|ledger)_\w+)` \|", DOCS, re.MULTILINE))
    assert written == exposed(scraped, settings, monkeypatch)
    assert set(re.findall(r"^\| `([A-Z]\w+)` \|", DOCS, re.MULTILINE)) == {r["alert"] for r in rules() if "alert" in r}
    for name, labels in scraped.samples():
        (line,) = [line for line in DOCS.splitlines() if line.startswith(f"| `{name}` |")]
        assert set(re.findall(r"`(\w+)`", line.split("|")[2])) == set(dict(labels))
