"""What the pages cost: the server's time, their bytes and statements, and how soon Chromium has them ready.

python -m bench.pages [--full | --machines N] [--days 400] [--times 30] [--keep FOLDER]

Of the same past as bench.questions, and a gang of 1,000 workers; asked of a web process as it runs in production.
"""

import http.client
import shutil
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench.ground import ground, machine, milliseconds, run, table
from bench.wished import wished

GANG = 1_000
WANTED_MS, WANTED_GANG_MS, WANTED_BYTES, WANTED_READY_MS = 100, 200, 150_000, 500
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
HEAD = ("page", "p50 ms", "p95 ms", "wanted", "bytes", "statements", "ready ms", "p95 ms with prices", "")
READY = "performance.getEntriesByType('navigation')[0].loadEventEnd"


class Page(NamedTuple):
    """A page by what it is called, where it is, and how long it may take at p95."""

    name: str
    path: str
    wanted_ms: int = WANTED_MS


class Cost(NamedTuple):
    """Seconds at p50, p95 and p95 with prices, bytes, statements, and ms until Chromium has it ready."""

    half: float
    most: float
    size: int
    statements: int
    ready: float = 0
    priced: float = 0


def main() -> None:
    """Make or find the past, open every page some times and print the table."""
    options = wished("pages", __doc__, 30, "how often each page is opened, after twice to warm up")
    with ground(options.keep) as state:
        from bench import past
        from bench.serving import serving

        made = past.found() or past.make(options.machines, options.days)
        gang(made)
        print(machine())
        print(f"{made.cells:,} closed cells in {made.days} days", flush=True)
        session = signed_in()
        with serving("east", "", state / "web.log") as web:
            costs = [(page, told(page, cost(page, web.connection, session, options.times))) for page in pages()]
            address = f"http://127.0.0.1:{web.connection.port}"
            ready = dict(readied([page for page, _ in costs], address, session))
            with prices(made):
                dear = {page.path: cost(page, web.connection, session, options.times).most for page, _ in costs}
        rows = [(page, each._replace(ready=ready[page.path], priced=dear[page.path])) for page, each in costs]
        print("\n" + table(HEAD, [row(page, each) for page, each in rows]))


def gang(made: Any) -> None:
    """Add the run with 1,000 workers, once."""
    from ledger import sql
    from ledger.core.categories import Phase
    from ledger.core.windows import DAY, floor_day
    from ledger.models import Run, Source, Worker, Workspace
    from ledger.rollups import roll_up

    if Run.objects.filter(uid="uid-gang").exists():
        return
    cluster, hour = made.cluster, made.cluster.open_hour
    labels = {"uid": "uid-gang", "name": "gang-of-a-thousand", "kind": "PyTorchJob", "user": "user-1"}
    of = Workspace.objects.order_by("id")[0]
    job = Run.objects.create(cluster=cluster, workspace=of, submitted_at=hour - timedelta(days=3), **labels)
    names = (f"worker-{number}" for number in range(GANG))
    Worker.objects.bulk_create(Worker(cluster=cluster, run=job, name=name, phase=Phase.RUNNING) for name in names)
    run("pages_gang", cluster=cluster.pk, hour=hour, source=Source.objects.get(cluster=cluster).pk)
    today = floor_day(made.open_hour)
    sql.run("day_dirty", cluster=cluster.pk, days=[today - day * DAY for day in range(3, -1, -1)])
    sql.run("rebuild_today", cluster=cluster.pk)
    roll_up(cluster.pk)


@contextmanager
def prices(made: Any) -> Iterator[None]:
    """Let every pool have a price, which changed once, so that pages tell money."""
    from ledger.models import Pool, Price

    days = [made.cluster.open_hour.replace(hour=0) - timedelta(days=each) for each in (made.days, 20)]
    for pool in Pool.objects.filter(cluster=made.cluster):
        for micros, since in enumerate(days, 2_000_000):
            Price.objects.create(pool=pool, since=since, micros=micros)
    try:
        yield
    finally:
        Price.objects.filter(pool__cluster=made.cluster).delete()


def signed_in() -> str:
    """Return the session of an operator, who sees all."""
    from django.contrib.auth.models import User
    from django.test import Client

    user, _ = User.objects.get_or_create(username="bench", defaults={"is_staff": True})
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def pages() -> Iterator[Page]:
    """Yield the pages of the workspace and the cluster that have most."""
    from ledger.models import Run

    room, east = f"/w/bench/{Run.objects.get(uid='uid-gang').workspace.name}", "/organizations/bench/clusters/east"
    for by in ("run", "machine", "pool", "workspace", "user"):
        yield Page(f"Goodput by {by}, 7 days", f"{room}/goodput?by={by}")
    yield Page("Goodput by run, 8 weeks", f"{room}/goodput?range=8w")
    yield Page("By week", f"{room}/goodput/weekly")
    yield Page("Runs", f"{room}/runs")
    yield Page("Run of 1,000 workers", f"{room}/runs/uid-gang", WANTED_GANG_MS)
    yield Page("The same, a group open", f"{room}/runs/uid-gang?open=3", WANTED_GANG_MS)
    yield Page("Machines, 7 days", f"{room}/machines")
    yield Page("Machine, 7 days", f"{room}/machines/node-1")
    yield Page("Machine, 8 weeks", f"{room}/machines/node-1?range=8w")
    yield Page("Pool, 7 days", f"{room}/pools/pool-0")
    yield Page("Pool, 8 weeks", f"{room}/pools/pool-0?range=8w")
    yield Page("Cluster, by run", f"{east}/goodput")
    yield Page("Cluster, by week", f"{east}/goodput/weekly")
    yield Page("Cluster's machines", f"{east}/machines")
    yield Page("Cluster's machine, 8 weeks", f"{east}/machines/node-1?range=8w")
    yield Page("Cluster's pool, 8 weeks", f"{east}/pools/pool-0?range=8w")


def cost(page: Page, connection: http.client.HTTPConnection, session: str, times: int) -> Cost:
    """Open a page again and again."""
    took = []
    for number in range(times + 2):
        began = time.perf_counter()
        connection.request("GET", page.path, headers={"Cookie": f"sessionid={session}"})
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"{page.path}: {response.status}")
        if number >= 2:
            took.append(time.perf_counter() - began)
    most = statistics.quantiles(took, n=20)[-1] if len(took) > 1 else took[0]
    return Cost(statistics.median(took), most, len(content), statements(page, session))


def told(page: Page, cost: Cost) -> Cost:
    """Say at once what a page took, for all of them take minutes."""
    print(f"{page.name}: {milliseconds(cost.half)} ms, {milliseconds(cost.most)} ms at p95", flush=True)
    return cost


def statements(page: Page, session: str) -> int:
    """Count the statements of a page."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    client.cookies["sessionid"] = session
    parts = urlsplit(page.path)
    with CaptureQueriesContext(connection) as asked:
        client.get(parts.path, QUERY_STRING=parts.query)
    return len(asked)


def readied(pages: list[Page], address: str, session: str) -> Iterator[tuple[str, float]]:
    """Yield (path, median ms until all of it is loaded and its scripts have run) in a real Chromium."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        tab = context.new_page()
        for page in pages:
            took = []
            for _ in range(4):
                tab.goto(address + page.path, wait_until="load")
                tab.wait_for_function(f"{READY} > 0")
                took.append(float(tab.evaluate(READY)))
            yield page.path, statistics.median(took[1:])
        browser.close()


def row(page: Page, cost: Cost) -> tuple[str, ...]:
    """Return its line."""
    fits = cost.most * 1000 <= page.wanted_ms and cost.size <= WANTED_BYTES and cost.ready <= WANTED_READY_MS
    return (
        page.name,
        milliseconds(cost.half),
        milliseconds(cost.most),
        str(page.wanted_ms),
        f"{cost.size:,}",
        str(cost.statements),
        f"{cost.ready:.0f}",
        milliseconds(cost.priced),
        "reached" if fits else "not reached",
    )


if __name__ == "__main__":
    main()
