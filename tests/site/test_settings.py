"""Every setting from the environment, in a fresh process as a real one would read it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goodput_site.celery import app
from goodput_site.places import CHECKOUT
from tests.site.running import environment, manage

DUMP = """
import json, os
os.environ["DJANGO_SETTINGS_MODULE"] = "goodput_site.settings"
from django.conf import settings
print(json.dumps({name: getattr(settings, name) for name in dir(settings) if name.isupper()}, default=str))
"""
REAL = {
    "DATABASE_URL": "postgres://ana:secret@db.example:6432/ledger",
    "CELERY_BROKER_URL": "redis://broker.example:6379/0",
    "SECRET_KEY": "k" * 60,
    "ALLOWED_HOSTS": "goodput.example,www.goodput.example",
}


def read(state: Path, **env: str) -> dict[str, Any]:
    """The settings; fails with what the process said when it could not read them."""
    done = run(state, **env)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(state: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DUMP], env=environment(state, **env), cwd=CHECKOUT, capture_output=True, text=True
    )


def test_with_nothing_set_everything_is_embedded(folder: Path) -> None:
    found = read(folder)
    assert found["EMBEDDED"] is True
    assert found["DATABASES"]["default"]["HOST"] == str(folder / "postgres" / "socket")
    assert found["CELERY_BROKER_TRANSPORT_OPTIONS"]["conn_string"].startswith(f"host={folder}/postgres/socket ")
    assert found["CELERY_BROKER_TRANSPORT_OPTIONS"]["init_extension"] is False
    assert found["ALLOWED_HOSTS"] == ["127.0.0.1", "[::1]", "localhost"]
    assert not found["SECURE_SSL_REDIRECT"]
    assert not found["SESSION_COOKIE_SECURE"]
    assert found["DEBUG"] is False


def test_a_real_installation(folder: Path) -> None:
    found = read(folder / "state", **REAL)
    database = found["DATABASES"]["default"]
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 6432, "ledger")
    assert (database["USER"], database["PASSWORD"]) == ("ana", "secret")
    assert found["CELERY_BROKER_URL"] == REAL["CELERY_BROKER_URL"]
    assert found["CELERY_BROKER_TRANSPORT_OPTIONS"] == {}
    assert found["SECRET_KEY"] == "k" * 60
    assert found["ALLOWED_HOSTS"] == ["goodput.example", "www.goodput.example"]
    assert found["SECURE_HSTS_SECONDS"] == 31_536_000
    assert found["SECURE_SSL_REDIRECT"] is found["SESSION_COOKIE_SECURE"] is found["CSRF_COOKIE_SECURE"] is True
    assert not (folder / "state").exists()


@pytest.mark.parametrize("process", ["command", "worker", "beat", "web"])
def test_only_the_web_has_a_pool_and_gives_statements_up(folder: Path, process: str) -> None:
    options = read(folder, GOODPUT_PROCESS=process, DATABASE_POOL_MAX="7")["DATABASES"]["default"]["OPTIONS"]
    given_up = " -c statement_timeout=30000" if process == "web" else ""
    planned = "-c jit=off -c work_mem=32MB -c random_page_cost=1.1"
    planned_once = "-c plan_cache_mode=force_generic_plan"
    assert options["options"] == f"{planned} -c idle_in_transaction_session_timeout=120000 {planned_once}{given_up}"
    assert options["prepare_threshold"] > 0
    assert options.get("pool", {}).get("max_size") == (7 if process == "web" else None)


def test_a_proxy_that_pools_transactions_gets_no_session_options(folder: Path) -> None:
    found = read(folder, **REAL, DATABASE_SESSION_OPTIONS="none")
    options = found["DATABASES"]["default"]["OPTIONS"]
    assert options.keys().isdisjoint({"options", "prepare_threshold"}), (
        "nor anything prepared, for a session is not its own"
    )


def test_an_empty_setting_is_one_that_is_not_set(folder: Path) -> None:
    names = ("HTTPS", "ALLOWED_HOSTS", "DATABASE_SESSION_OPTIONS", "LOG_LEVEL", "STATIC_ROOT", "BEHIND_PROXY")
    real = {name: value for name, value in REAL.items() if name != "ALLOWED_HOSTS"}
    assert read(folder, **real, **dict.fromkeys(names, "")) == read(folder, **real)
    assert read(folder, **dict.fromkeys(REAL, "")) == read(folder)


def test_a_secret_key_is_made_once_and_kept_closed(folder: Path) -> None:
    first, second = read(folder)["SECRET_KEY"], read(folder)["SECRET_KEY"]
    assert first == second == (folder / "secret_key").read_text()
    assert len(first) >= 50
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["secret_key"]
    assert read(folder, SECRET_KEY="given")["SECRET_KEY"] == "given"


def test_a_real_installation_needs_a_secret_key(folder: Path) -> None:
    done = run(folder, **{**REAL, "SECRET_KEY": ""})
    assert done.returncode != 0
    assert "SECRET_KEY must be set when DATABASE_URL is" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("url", ["nonsense", "mysql://u:hidden@h/n", "postgres://u:hidden@h:port/n", "postgres://h"])
def test_a_database_url_that_cannot_be_read(folder: Path, url: str) -> None:
    for command, code in (("migrate", 1), ("doctor", 1)):
        done = manage(folder / "state", command, **{**REAL, "DATABASE_URL": url})
        assert done.returncode == code
        said = done.stderr if command == "migrate" else done.stdout
        assert "DATABASE_URL must look like postgres://user:password@host:port/name" in said
        assert "Traceback" not in done.stdout + done.stderr
        assert "hidden" not in done.stdout + done.stderr


def test_a_number_that_is_none(folder: Path) -> None:
    done = manage(folder / "state", "check", GOODPUT_PROCESS="web", DATABASE_POOL_MAX="many")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "DATABASE_POOL_MAX" in done.stderr


def test_pages_may_load_from_here_alone(folder: Path) -> None:
    directives = read(folder)["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    allowed = {source for sources in directives.values() for source in sources}
    assert allowed == {"'self'", "'none'"}
    assert directives["default-src"] == ["'self'"]


def test_each_scheduled_task_exists_and_expires_before_the_next_is_due() -> None:
    app.loader.import_default_modules()
    assert app.conf.timezone == "UTC"
    assert app.conf.beat_schedule["categorize"]["schedule"] == 60.0
    assert app.conf.beat_schedule["categorize"]["options"] == {"expires": 55.0}
    for entry in app.conf.beat_schedule.values():
        assert entry["task"] in app.tasks
        assert 0 < entry["options"]["expires"] < entry["schedule"]
