"""The workers of a run as they are now, a page of them; their lines are made by f-string, names are escaped."""

from typing import Any

from django.utils.html import escape

from dashboards.bars import Markup
from dashboards.moments import iso, length, since
from dashboards.numbers import ABSENT, gpus, grouped
from dashboards.sections.view import RunView
from ledger.queries import RunWorker


def part(view: RunView) -> dict[str, Any]:
    """Return one page of the workers."""
    pages = view.pages
    workers = view.workers[pages.first_row - 1 : pages.last_row]
    return {"lines": Markup("\n".join(line(worker, view.now) for worker in workers)), "pages": pages}


def line(of: RunWorker, now: int) -> str:
    """Return a worker's line of the table."""
    return (
        f'<tr><th scope="row">{escape(of.name)}</th><td>{state(of)}</td><td>{begun(of, now)}</td>'
        f"<td>{escape(of.machine or ABSENT)}</td><td>{escape(of.pool or ABSENT)}</td>"
        f'<td class="num">{gpus(of.gpus_milli).split(" ")[0] if of.gpus_milli else ABSENT}</td>'
        f'<td class="num">{of.attempt}</td>'
        f'<td class="num">{ABSENT if of.step is None else grouped(str(of.step))}</td></tr>'
    )


def state(of: RunWorker) -> str:
    """Return the category that it is in, or the last phase of one that is over."""
    if of.category is None:
        return f'<span class="detail">{of.phase.label or ABSENT}</span>'
    label = of.category.label
    return f'<span class="state"><svg class="key" aria-hidden="true"><use href="#key-{label}"/></svg>{label}</span>'


def begun(of: RunWorker, now: int) -> str:
    """Return since when it is in it, and how long that is."""
    if of.since is None:
        return ABSENT
    lasted = f'<span class="detail">{length(now - of.since)}</span>'
    return f'<time datetime="{iso(of.since)}">{since(of.since, now)}</time> {lasted}'
