"""`astra astraeus alerts`: what fires, and what did."""

from __future__ import annotations

from typing import Any

from tests.client.conftest import Astra
from tests.client.scripted import Scripted


def alert(**more: Any) -> dict[str, Any]:
    return {
        "id": 7, "rule": "goodput_drop", "state": "firing", "text": "Goodput of vision was 41.0 %",
        "cluster": "east", "workspace": "vision", "name": "vision", "pool": None, "uid": None,
        "hour": "2026-10-01T13:00:00Z", "fired_at": "2026-10-01T14:13:00Z", "resolved_at": None,
        "acknowledged_at": None, "acknowledged_by": None, "silenced_until": None, **more,
    }  # fmt: skip


def told(*alerts: dict[str, Any], following: str | None = None) -> dict[str, Any]:
    return {"alerts": list(alerts), "count": len(alerts), "next": following}


def test_the_table(astra: Astra, server: Scripted) -> None:
    over = alert(
        rule="source_stale",
        workspace=None,
        acknowledged_by="ana\x1b",
        resolved_at="2026-10-01T14:20:00Z",
        text="Silent",
    )
    server.says("alerts", told(alert(), over))
    done = astra("astraeus", "alerts")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Alerts",
        "RULE          WHERE   SINCE             UNTIL             KNOWN TO  WHAT",
        "goodput_drop  vision  2026-10-01 14:13  firing            -         Goodput of vision was 41.0 %",
        "source_stale  east    2026-10-01 14:13  2026-10-01 14:20  ana\\x1b   Silent",
        "WHERE = the workspace, or the cluster; SINCE and UNTIL in UTC",
    ]
    assert server.asked("alerts") == [{}]


def test_those_that_fire_and_none(astra: Astra, server: Scripted) -> None:
    server.says("alerts", told())
    assert astra("astraeus", "alerts", "--firing").out == "No alert.\n"
    assert server.asked("alerts") == [{"state": "firing"}]


def test_more_pages_are_told_of(astra: Astra, server: Scripted) -> None:
    server.says("alerts", told(alert(), following="http://elsewhere.example/v1/alerts?offset=1"))
    assert "There are more alerts than are in the table: --all shows them.\n" in astra("astraeus", "alerts").out


def test_json_as_it_came(astra: Astra, server: Scripted) -> None:
    server.says("alerts", b'{"alerts": [],  "count": 0, "next": null}')
    assert astra("astraeus", "alerts", "--json").out == '{"alerts": [],  "count": 0, "next": null}\n'
