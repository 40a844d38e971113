"""The workers of a run as they are now, a page of them."""

from typing import Any

from dashboards.sections.view import RunView


def part(view: RunView) -> dict[str, Any]:
    """Return one page of the workers."""
    pages = view.pages
    return {"workers": view.workers[pages.first_row - 1 : pages.last_row], "pages": pages}
