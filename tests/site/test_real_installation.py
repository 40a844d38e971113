"""A real installation: servers of one's own instead of the embedded ones, and nothing in the broker is truth."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from goodput_site.places import CHECKOUT
from tests.site.running import Running, environment, eventually, free_port, manage
from tests.site.servers import Redis, postgres, redis

CELERY = str(Path(sys.executable).with_name("celery"))


@dataclass
class Installation:
    """What runs, and how to speak to it."""

    site: Running
    broker: Redis
    settings: dict[str, str]

    def manage(self, *arguments: str) -> str:
        done = manage(self.site.state, *arguments, **self.settings)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def counted(self) -> datetime | None:
        """When the cluster was last looked at."""
        with psycopg.connect(self.settings["DATABASE_URL"]) as connection:
            row = connection.execute("SELECT categorized_at FROM ledger_cluster").fetchone()
        assert row
        found: datetime | None = row[0]
        return found

    def count_by_the_worker(self) -> None:
        """Put the minute's task into the broker, and wait until the worker has done it."""
        before = self.counted()
        env = environment(self.site.state, **self.settings)
        call = [CELERY, "-A", "goodput_site", "call", "ledger.tasks.categorize"]
        subprocess.run(call, cwd=CHECKOUT, env=env, check=True, capture_output=True, timeout=60)
        eventually(lambda: self.counted() != before, 60)

    def send(self, token: str) -> dict[str, object]:
        now = datetime.now(UTC).isoformat()
        batch = {
            "source": "by-hand", "sent_at": now,
            "runs": [{"uid": "first", "workspace": "vision", "name": "first"}],
            "workers": [{"run": "first", "worker": "worker-0", "at": now, "phase": "running", "gpus": 8}],
        }  # fmt: skip
        request = urllib.request.Request(
            f"{self.site.url}/v1/clusters/east/observations", json.dumps(batch).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=30) as answer:
            told: dict[str, object] = json.load(answer)
            return told


@pytest.fixture
def installation() -> Iterator[Installation]:
    folder = Path(tempfile.mkdtemp(prefix="goodput-real-"))
    folder.chmod(0o755)
    (folder / "static").mkdir()
    with postgres(folder / "postgres") as database, redis() as broker:
        settings = {
            "DATABASE_URL": database,
            "CELERY_BROKER_URL": f"redis://127.0.0.1:{broker.port}/0",
            "SECRET_KEY": "not-a-secret-but-long-enough-and-of-many-different-letters",
            "STATIC_ROOT": str(folder / "static"),
            "HTTPS": "0",
        }
        with Running(folder / "state", free_port(), settings) as site:
            yield Installation(site, broker, settings)
    shutil.rmtree(folder, ignore_errors=True)


def test_it_serves_and_counts_with_servers_of_ones_own(installation: Installation) -> None:
    eventually(lambda: "serves at" in installation.site.output(), 90)
    installation.manage("create_organization", "acme")
    installation.manage("create_cluster", "acme", "east")
    token = installation.manage("create_token", "--organization", "acme", "--scopes", "ingest")
    assert installation.send(token)["accepted"] == 2
    installation.count_by_the_worker()
    assert installation.site.health()[0] == 200

    assert installation.broker.say("flushall") == "OK"
    installation.count_by_the_worker()
    installation.broker.kill()
    installation.broker.start()
    installation.count_by_the_worker()

    assert "0 differences in 1 workers" in installation.manage("check_ledger")
    assert re.findall(r"(web|worker|beat) +ended", installation.site.output()) == []
    doctor = manage(installation.site.state, "doctor", **installation.settings).stdout
    assert "The broker answers." in doctor
