"""Takes pictures of every page of the running demo, light and dark, and writes docs/screens.md around them.

python -m tests.browser.screens [STATE]     # the folder of the demo, as in GOODPUT_STATE
"""

import base64
import json
import os
import re
import shutil
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images" / "screens"
WIDTH, HEIGHT, QUALITY = 1280, 900, 45
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
PARAMETER = re.compile(r"<\w+:(\w+)>")
NO_PAGES = ("v1/", "admin/", "healthz", "metrics", "logout", "invitations/")  # the interface, and what shows nothing
AS_WRITTEN = ("<names:run>", "<names:name>")  # the same pages, for a name whose slashes are written as they are
WORDS = {  # what is to be seen, by the end of an address; others go by their title alone
    "/goodput": "Who is stalled now, five figures against the period before, and where each row's time went.",
    "/goodput/weekly": "Eight ISO weeks: the chart, and the same numbers as a table.",
    "/runs": "The runs, those that go on first.",
    "/runs/run": "What a run lost and why, beside the other runs, its timeline worker by worker, its workers now.",
    "/machines": "Which machine costs most.",
    "/machines/name": "A machine hour by hour, what went wrong on it, the runs that used it.",
    "/pools": "The pools.",
    "/pools/name": "A pool hour by hour, what went wrong on its machines, and the machines.",
    "/settings": "Settings.",
}


def main() -> None:
    """Open every page of the demo twice and write the document."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
    import django

    django.setup()
    state = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["GOODPUT_STATE"])
    demo = json.loads((state / "demo.json").read_text(encoding="utf-8"))
    shutil.rmtree(IMAGES, ignore_errors=True)
    IMAGES.mkdir(parents=True)
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        addresses = list(addressed(values(demo)))
        titles, _ = (taken(browser, demo, addresses, scheme) for scheme in ("light", "dark"))
        browser.close()
    (DOCS / "screens.md").write_text(document(addresses, titles), encoding="utf-8")


def values(demo: Mapping[str, str]) -> dict[str, str]:
    """Return what stands for each parameter of an address."""
    asked = f"{demo['url']}v1/goodput?by=run&days=2&limit=1"
    request = urllib.request.Request(asked, headers={"Authorization": f"Bearer {demo['token']}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        (row,) = json.load(answer)["rows"]
    return {
        "organization": demo["organization"], "workspace": row["workspace"], "cluster": demo["cluster"],
        "run": row["uid"], "machines": "h100-07", "pools": "h100", "log-profiles": "maxtext",
    }  # fmt: skip


def page_routes() -> Iterator[str]:
    """Yield the route of every page, one for each thing it shows."""
    from tests.api.matrix import routes

    for route in routes():
        if not route.startswith(NO_PAGES) and not route.endswith(AS_WRITTEN) and route:
            yield route


def addressed(known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (route, address) of every page. Raises KeyError for a parameter that nothing stands for."""
    from ledger.core.parts import part

    for route in page_routes():
        stated = known | {"name": known.get(route.split("/")[-2], "")} if route.endswith("<name:name>") else known
        yield route, "/" + PARAMETER.sub(lambda match, stated=stated: part(stated[match[1]]), route)  # type: ignore[misc]


def taken(browser: Browser, demo: Mapping[str, str], addresses: list[tuple[str, str]], scheme: Any) -> dict[str, str]:
    """Take the pictures of one scheme and return the pages' titles."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page = context.new_page()
    titles = {}
    for route, address in sorted(addresses, key=lambda each: each[0] != "login"):
        answer = page.goto(demo["url"].rstrip("/") + address, wait_until="networkidle")
        if answer is None or answer.status != 200:
            raise SystemExit(f"{address} cannot be shown")
        titles[route] = page.title()
        snapped(page, IMAGES / f"{name_of(route)}-{scheme}.webp")
        if route == "login":
            page.get_by_label("Name").fill(demo["user"])
            page.get_by_label("Password").fill(demo["password"])
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/goodput")
    context.close()
    return titles


def snapped(page: Page, file: Path) -> None:
    """Write the picture of a page, small."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file.write_bytes(base64.b64decode(shot["data"]))


def name_of(route: str) -> str:
    """Return the name of a page's picture."""
    return re.sub(r"\W+", "-", PARAMETER.sub(lambda match: match[1], route)).strip("-")


def document(addresses: list[tuple[str, str]], titles: Mapping[str, str]) -> str:
    """Return the text of docs/screens.md."""
    lines = [
        "# Screens", "",
        "Every page as the demo shows it, in the reader's colours. Made by `python -m tests.browser.screens` from",
        "a running `make run`; numbers and names are [the demo's](demo.md).",
    ]  # fmt: skip
    for route, address in addresses:
        named = name_of(route)
        words = next((said for end, said in sorted(WORDS.items(), key=lambda w: -len(w[0]))
                      if PARAMETER.sub(lambda match: match[1], "/" + route).endswith(end)), "")  # fmt: skip
        lines += [
            "", f"## {titles[route]}", "", f"`{address}`" + (f" – {words}" if words else ""), "",
            "<picture>",
            f'  <source media="(prefers-color-scheme: dark)" srcset="images/screens/{named}-dark.webp">',
            f'  <img src="images/screens/{named}-light.webp" alt="{titles[route]}">',
            "</picture>",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
