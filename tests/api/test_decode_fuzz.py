"""Whatever comes, decoding answers with a batch or a BadBody; both ways of reading agree."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.batches import Batch
from ledger.decode import BadBody, body, decode
from tests.api.bodies import HEAD, JSON, NDJSON, as_json, as_lines

NAMES = """
    run worker at phase reason attempt gpus machine pool stalled from gpu_busy step step_seconds doing name ready uid
    workspace kind user submitted_at min_goodput list source sent_at complete machines runs workers readings x
"""
KEYS = st.sampled_from(NAMES.split())
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["running", "drain", "N/A", "2026-10-01T11:59:00Z", "2026-10-01", '":', ' :"', "\\u0000"])
)
ITEM = st.dictionaries(KEYS, LEAVES, max_size=8)
GOOD = st.fixed_dictionaries(
    {
        "run": st.sampled_from(["r", "s"]),
        "worker": st.text(min_size=1, max_size=3),
        "at": st.just("2026-10-01T11:59:00Z"),
    },
    optional={"step": LEAVES, "gpus": LEAVES, "phase": LEAVES},
)
LIST = st.lists(ITEM | GOOD | LEAVES, max_size=4)
BATCHES = st.fixed_dictionaries(
    {"source": st.just("s"), "sent_at": st.just(HEAD["sent_at"])},
    optional=dict.fromkeys(("machines", "runs", "workers", "readings"), LIST),
)


def outcome(text: bytes, content_type: str) -> Batch | None:
    try:
        batch = decode(text, content_type)
    except BadBody as bad:
        return None if bad.status in (400, 413, 415) and bad.detail.endswith(".") else pytest.fail(repr(bad))
    assert isinstance(batch, Batch)
    json.dumps([refusal.item for refusal in batch.refused])
    return batch


@given(BATCHES, st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")]), st.booleans())
def test_any_object_is_decoded_item_by_item(batch: dict[str, Any], marks: tuple[str, str], ascii_only: bool) -> None:
    text = json.dumps(batch, separators=marks, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    decoded = outcome(text, JSON)
    if decoded is not None:
        for name in ("machines", "runs", "workers", "readings"):
            taken = [item.index for item in getattr(decoded, name)]
            taken += [refusal.index for refusal in decoded.refused if refusal.list == name]
            assert sorted(taken) == list(range(len(batch.get(name, []))))


@given(BATCHES)
def test_both_ways_of_reading_agree(batch: dict[str, Any]) -> None:
    text = json.dumps(batch).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(body, "_quick_json", lambda text: None)
        slow = outcome(text, JSON)
    assert outcome(text, JSON) == slow


@given(st.lists(GOOD | ITEM, max_size=4), st.lists(GOOD, max_size=3))
def test_both_ways_of_reading_lines_agree_and_say_what_json_says(workers: list[Any], readings: list[Any]) -> None:
    workers = [{key: value for key, value in item.items() if key != "list"} for item in workers]
    text = as_lines(workers=workers, readings=readings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(body, "_quick_lines", lambda text: None)
        slow = outcome(text, NDJSON)
    assert outcome(text, NDJSON) == slow
    assert slow == outcome(as_json(workers=workers, readings=readings), JSON)


@given(st.binary(max_size=300), st.sampled_from([JSON, NDJSON]))
@example(b"\xff\xfe", JSON)
def test_any_bytes(text: bytes, content_type: str) -> None:
    outcome(text, content_type)


@given(st.data())
def test_any_damage_to_a_good_body(data: st.DataObject) -> None:
    item = {
        "run": "r",
        "worker": "w",
        "at": "2026-10-01T11:59:00Z",
        "gpu_busy": 87.5,
        "step": 1200,
        "step_seconds": 5.1,
    }
    content_type = data.draw(st.sampled_from([JSON, NDJSON]))
    text = bytearray((as_json if content_type == JSON else as_lines)(readings=[item, item]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        inserted = data.draw(
            st.binary(max_size=6)
            | st.sampled_from(
                [b'"gpu_busy":1,', b"NaN", b"1e400", b"[" * 40, b"\\u0000", b"\\ud800", b'"', b"}", b"true"]
            )
        )
        text[start:end] = inserted
    outcome(bytes(text), content_type)


@given(st.text(st.sampled_from('{}[]",:\\ \n1ae-.'), max_size=60), st.sampled_from([JSON, NDJSON]))
def test_anything_made_of_the_marks_of_json(text: str, content_type: str) -> None:
    outcome(text.encode(), content_type)
