"""What a run's conditions may be, at their limits and one beyond."""

from datetime import UTC, datetime

import pytest

from ledger.batches import Condition
from ledger.decode import BadBody, decode
from ledger.decode.values import CONDITIONS_MAX, MESSAGE_CHARACTERS_MAX
from tests.api.bodies import JSON, one, refusal_of

NOON = int(datetime(2026, 10, 1, 12, tzinfo=UTC).timestamp() * 1000)


def test_conditions() -> None:
    said = {"type": "Running", "status": "False", "reason": "Done", "message": "it\nran", "at": "2026-10-01T12:00:00Z"}
    assert one("runs", conditions=[said, {"type": "Created"}]).runs[0].conditions == (
        Condition("Running", "False", "Done", "it ran", NOON),
        Condition("Created", "", "", "", None),
    )
    assert one("runs", conditions=[]).runs[0].conditions == ()
    assert one("runs", conditions=None).runs[0].conditions is None
    assert one("runs", conditions=[{"type": "Running", "message": "m" * MESSAGE_CHARACTERS_MAX}]).runs
    assert one("runs", conditions=[{"type": "Running"}] * CONDITIONS_MAX).runs
    for bad in (
        [{"type": "Running"}] * (CONDITIONS_MAX + 1),
        [{"type": "Running", "message": "m" * (MESSAGE_CHARACTERS_MAX + 1)}],
        [{"type": "Running", "message": "\x1b[31m"}],
        [{"type": "Running", "at": "noon"}],
        [{"type": ""}],
        [{"type": 3}],
        [{"status": "True"}],
        [{"type": "Running", "colour": "red"}],
        {"type": "Running"},
    ):
        assert refusal_of("runs", conditions=bad)[0] in ("conditions", "colour", "type")


def test_a_condition_that_says_a_key_twice_is_no_body() -> None:
    twice = b'{"uid":"8c1f","conditions":[{"type":"Running","type":"Failed"}]}'
    with pytest.raises(BadBody):
        decode(b'{"source":"east","sent_at":"2026-10-01T12:00:00Z","runs":[' + twice + b"]}", JSON)
