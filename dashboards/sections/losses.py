"""What a run lost and why, the costliest first."""

from typing import Any
from urllib.parse import urlencode

from dashboards.lost import SHOWN, SHOWN_MAX, shown_losses
from dashboards.sections.view import RunView
from ledger import queries


def part(view: RunView) -> dict[str, Any]:
    """Return the first losses of the hours that are shown, or all of them when `losses=all` asks for it."""
    window = view.shown.window
    limit = SHOWN_MAX if view.query.get("losses") == "all" else SHOWN
    lost = queries.losses(view.run, window.start, window.end, limit=limit)
    return {
        "losses": shown_losses(lost.rows, view.total.lost, view.zoom, view.now),
        "losses_more": lost.count - len(lost.rows),
        "losses_all": f"?{urlencode(view.shown.state | {'losses': 'all'})}#losses",
    }
