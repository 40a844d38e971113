"""A real Chromium against the whole application, which is served from a thread of the test run."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings
from django.test.testcases import LiveServerThread
from django.test.utils import setup_databases, teardown_databases
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from tests.dashboards.world import PASSWORD, World, make_world

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WAIT_MS = 20_000
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(e.violatedDirective + e.sourceFile));
"""
expect.set_options(timeout=WAIT_MS)
QUICK = override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"])


@dataclass
class Site:
    """The running application: its address, and what it knows."""

    url: str
    world: World
    sessions: dict[str, str]


def session_of(name: str) -> str:
    """The cookie of somebody who has signed in."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client.cookies["sessionid"].value


@contextmanager
def test_database() -> Iterator[None]:
    """The database of the test run, which is there only when some test has asked for it by a mark or a fixture."""
    if connection.settings_dict["NAME"].startswith("test_"):
        yield
        return
    made = setup_databases(verbosity=0, interactive=False, aliases=["default"])
    yield
    teardown_databases(made, verbosity=0)


@pytest.fixture(scope="package")
def site(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Site]:
    """Serve the world; everything is taken away again at the end."""
    with django_db_blocker.unblock(), test_database(), QUICK:
        world = make_world(sweeps=57)
        server = LiveServerThread("127.0.0.1", lambda handler: handler)
        server.daemon = True
        server.start()
        server.is_ready.wait()
        assert server.error is None
        sessions = {name: session_of(name) for name in ("ana", "adam")}
        connection.close()  # what runs under the browser's loop has a connection of its own
        yield Site(f"http://127.0.0.1:{server.port}", world, sessions)
        server.terminate()
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture(scope="package")
def chromium(site: Site) -> Iterator[Browser]:
    """One browser for all tests; the loop it runs in must not be taken for an asynchronous Django."""
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert program, "No Chromium: apt-get install chromium, or name one in CHROMIUM."
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
    if before is not None:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@dataclass
class Visitor:
    """A person at a browser. What the browser complains of is kept, and must be nothing at the end of a test."""

    page: Page
    site: Site
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str = "/w/acme/vision/goodput", name: str = "ana") -> Page:
        """Go to a page as somebody who has signed in before."""
        self.page.context.add_cookies([{"name": "sessionid", "value": self.site.sessions[name], "url": self.site.url}])
        self.page.goto(f"{self.site.url}{path}")
        return self.page

    def sign_in(self, name: str = "ana") -> None:
        """Fill in the login."""
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()

    def listen(self) -> None:
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def check(self) -> None:
        if self.page.context.browser and not self.page.is_closed():
            self.complaints += self.page.evaluate("window.violations ?? []")
        assert self.complaints == []


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(site: Site, chromium: Browser, django_db_blocker: DjangoDbBlocker) -> Iterator[Visit]:
    """Open a browser of one's own: visit(width=390, color_scheme="dark", java_script_enabled=False …)."""
    opened: list[tuple[BrowserContext, Visitor]] = []
    cache.clear()

    def visiting(width: int = 1440, height: int = 900, **options: Any) -> Visitor:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(WAIT_MS)
        context.add_init_script(VIOLATIONS)
        visitor = Visitor(context.new_page(), site)
        visitor.listen()
        opened.append((context, visitor))
        return visitor

    with django_db_blocker.unblock():
        yield visiting
        connection.close()
    for context, visitor in opened:
        try:
            visitor.check()
        finally:
            context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    return (Path(__file__).parent / "vendor" / "axe-4.14.1.min.js").read_text()
