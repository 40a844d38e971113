"""Bodies of which nothing is taken, and the limits of those that are."""

import json
from typing import Any

import pytest

from ledger.batches import Batch
from ledger.decode import BODY_BYTES_MAX, DEPTH_MAX, ITEMS_MAX, BadBody, decode
from tests.api.bodies import HEAD, JSON, NDJSON, READING, WORKER, as_json, as_lines


def refused(body: bytes, content_type: str = JSON) -> tuple[int, str]:
    with pytest.raises(BadBody) as caught:
        decode(body, content_type)
    detail = caught.value.detail
    assert detail.endswith(".")
    assert "\n" not in detail
    assert len(detail) < 300
    return caught.value.status, detail


def lists(batch: Batch) -> tuple[Any, ...]:
    return batch.machines, batch.runs, batch.workers, batch.readings, batch.refused, batch.named


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON; charset=UTF-8",
        'application/json;charset="utf-8"',
        "application/json; profile=x",
    ],
)
def test_content_types_that_are_taken(content_type: str) -> None:
    assert decode(as_json(), content_type).source == HEAD["source"]


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "application/x-ndjson; charset=ascii",
        "application/json, application/json",
    ],
)
def test_other_content_types(content_type: str) -> None:
    assert refused(as_json(), content_type)[0] == 415


@pytest.mark.parametrize("text", ['{"gpus":8,"gpus":80}', '{"gpus":8,"g\\u0070us":80}', '{"gpus":8,"gpus" :80}'])
def test_a_key_said_twice(text: str) -> None:
    """Also where it is a proxy's reading against ours, in an unknown key, in the head, in a line."""
    worker = json.dumps(WORKER)[:-1] + ', "gpus":8, ' + text[text.index(",") + 1 :]
    head = json.dumps(HEAD)[:-1]
    assert refused(f'{head}, "workers": [{worker}]}}'.encode()) == (
        400,
        'The body says the key "gpus" twice in one object.',
    )
    line = worker.replace("{", '{"list":"workers",', 1)
    assert refused(f"{head}}}\n{line}\n".encode(), NDJSON)[0] == 400
    assert refused(f'{head}, "source": "other"}}'.encode())[0] == 400
    assert refused(f'{head}, "workers": [], "workers": []}}'.encode())[0] == 400
    assert refused(f'{head}, "workers": [{{"x": {text}}}]}}'.encode())[0] == 400


def test_a_key_said_twice_is_found_beside_texts_that_look_like_keys() -> None:
    worker = {**WORKER, "worker": '":', "machine": ': "a":', "pool": '\\":'}
    assert not decode(as_json(workers=[worker]), JSON).refused
    twice = json.dumps(worker)[:-1] + ',"pool":"b"}'
    assert refused(f'{json.dumps(HEAD)[:-1]},"workers":[{twice}]}}'.encode())[0] == 400


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 5000, "0x10", "01", "+1", ".5", "1."]
)
def test_what_is_no_number_in_json(number: str) -> None:
    for key in ("gpus", "unknown"):
        body = f'{json.dumps(HEAD)[:-1]}, "machines": [{{"name": "a", "{key}": {number}}}]}}'
        assert refused(body.encode())[0] == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   \n",
        b"{",
        as_json()[:-1],
        as_json(workers=[WORKER])[:-3],
        b"\xef\xbb\xbf" + as_json(),
        as_json().decode().encode("utf-16"),
        as_json().decode().encode("utf-32"),
        as_json(source="caf\u00e9").replace(b"\\u00e9", b"\xe9"),
        as_json(source="X").replace(b"X", b"\xed\xa0\x80"),
        as_json(source="X").replace(b"X", b"\xc0\x80"),
        as_json(source="X").replace(b"X", b"\\ud800"),
        as_json(source="X").replace(b"X", b"\\udc00\\ud800"),
        as_json(source="X").replace(b"X", b"\\u0000"),
        as_json(source="X").replace(b"X", b"\\\\\\u0000"),
        as_json(source="X").replace(b"X", b"\x00"),
        as_json(source="X").replace(b"X", b"\n"),
        as_json() + as_json(),
        as_json() + b",",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"{'source': 'x'}",
        b'{"source": "x",}',
        b"\x1f\x8b\x08\x00",
    ],
)
def test_what_is_no_json_object(body: bytes) -> None:
    assert refused(body)[0] == 400
    assert refused(body, NDJSON)[0] == 400


def test_a_backslash_before_u0000_is_a_text() -> None:
    assert decode(as_json(source="\\u0000"), JSON).source == "\\u0000"
    assert decode(as_json(source="\\\\u0000"), JSON).source == "\\\\u0000"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"source": None}, "source"),
        ({"source": ""}, "source"),
        ({"source": "n" * 254}, "source"),
        ({"source": 7}, "source"),
        ({"sent_at": "2026-10-01T12:00:00"}, "sent_at"),
        ({"sent_at": 1_790_000_000}, "sent_at"),
        ({"seen_from": "yesterday"}, "seen_from"),
        ({"seen_from": "2026-10-01T12:00:00.001Z"}, "seen_from"),
        ({"complete": 1}, "complete"),
        ({"complete": "true"}, "complete"),
        ({"sended_at": 1}, "sended_at"),
        ({"workers": {}}, "workers"),
        ({"machines": 7}, "machines"),
        ({"runs": "abc"}, "runs"),
    ],
)
def test_a_head_that_cannot_be_read_spoils_the_batch(change: dict[str, Any], word: str) -> None:
    status, detail = refused(as_json(**change))
    assert status == 400
    assert word in detail


@pytest.mark.parametrize("missing", ["source", "sent_at"])
def test_a_head_has_a_source_and_an_instant(missing: str) -> None:
    head = {key: value for key, value in HEAD.items() if key != missing}
    assert refused(json.dumps(head).encode()) == (400, f'The batch\'s "{missing}" is missing.')
    assert refused(json.dumps(head).encode(), NDJSON) == (400, f'The batch\'s "{missing}" is missing.')


def test_a_batch_may_be_a_mere_word() -> None:
    batch = decode(as_json(complete=None, seen_from=None, workers=None, readings=[]), JSON)
    assert lists(batch) == ([], [], [], [], [], set())
    assert (batch.complete, batch.seen_from) == (False, None)
    assert decode(as_lines(), NDJSON) == batch


def test_bytes_at_the_limit_and_one_more() -> None:
    body = as_json()
    full = body + b" " * (BODY_BYTES_MAX - len(body))
    assert decode(full, JSON).source == HEAD["source"]
    assert refused(full + b" ") == (413, "A body has at most 8,388,608 bytes; send it in parts.")
    assert refused(full + b" ", NDJSON)[0] == 413


def test_items_at_the_limit_and_one_more() -> None:
    half = [READING] * (ITEMS_MAX // 2)
    for spoilt in ({}, {"step": "x"}):  # read in one pass, and item by item
        mixed = [{**READING, **spoilt}, *half[1:]]
        assert len(decode(as_json(readings=half, workers=[WORKER] * len(half)), JSON).readings) == len(half)
        for body, kind in (
            (as_json(readings=mixed, workers=[*[WORKER] * len(half), WORKER]), JSON),
            (as_lines(readings=mixed, workers=[*[WORKER] * len(half), WORKER]), NDJSON),
        ):
            assert refused(body, kind) == (413, "A batch has at most 20,000 items; send it in parts.")
    assert len(decode(as_lines(readings=half, workers=[WORKER] * len(half)), NDJSON).workers) == len(half)


def test_an_item_that_is_no_object_counts_as_well() -> None:
    body = json.dumps({**HEAD, "readings": [1] * (ITEMS_MAX + 1)}).encode()
    assert refused(body)[0] == 413


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_depth_at_the_limit_and_one_more(opening: str, closing: str) -> None:
    step = opening.count("[") + opening.count("{")
    deep = DEPTH_MAX - 3  # the body, its list and the item are the first three levels

    def body(levels: int) -> bytes:
        value = "1"
        for _ in range(levels // step):
            value = opening + value + closing
        value = value if levels % step == 0 else f"[{value}]"
        return f'{json.dumps(HEAD)[:-1]}, "workers": [{{"x": {value}}}]}}'.encode()

    assert decode(body(deep), JSON).refused[0].field == "x"
    assert refused(body(deep + 1)) == (400, "The body is nested deeper than 32 levels.")
    assert refused(body(100_000)) == (400, "The body is nested deeper than 32 levels.")
    assert refused(opening.encode() * 100_000) == (400, "The body is nested deeper than 32 levels.")


def test_brackets_in_texts_are_no_levels() -> None:
    worker = {**WORKER, "machine": '[[{"\\' * 40, "x": 1}
    batch = decode(as_json(workers=[worker]), JSON)
    assert batch.refused[0].field == "x"
    assert batch.refused[0].item == worker


def test_lines_say_the_same_as_json() -> None:
    machines = [{"name": "gpu-7", "pool": "h100", "gpus": 8, "ready": True}]
    runs = [{"uid": "r", "workspace": "vision"}]
    workers = [
        {**WORKER, "machine": "gpu-7"},
        {**WORKER, "gpus": -1},
        {**WORKER, "gpus": "x"},
        {**WORKER, "phase": "failed"},
    ]
    readings = [{**READING, "gpu_busy": 5}, {**READING, "gpu_busy": 500}]
    for some in (workers[:1], workers[:2], workers):
        batch = decode(as_json(machines=machines, runs=runs, workers=some, readings=readings), JSON)
        assert decode(as_lines(machines=machines, runs=runs, workers=some, readings=readings), NDJSON) == batch


def test_lines_may_come_in_any_order_with_blank_ones_between() -> None:
    first = as_lines(workers=[{**WORKER, "machine": "m"}], machines=[{"name": "m", "pool": "p"}])
    batch = decode(b"\n" + first.replace(b"\n", b"\r\n\n  \n"), NDJSON)
    assert batch.workers[0].pool == "p"
    assert batch.machines[0].index == 0
    assert decode(first.rstrip(b"\n"), NDJSON) == batch


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"list": "workers"', "Line 2"),
        (b"not json", "Line 2"),
        (b"[1]", "Line 2"),
        (b'{"list": "people", "name": "ana"}', "Line 2"),
        (b'{"name": "ana"}', "Line 2"),
        (b'{"list": ["workers"]}', "Line 2"),
        (b'{"list": "machines", "name": "a"} {"list": "machines", "name": "b"}', "Line 2"),
        (b'{"list": "machines",\n"name": "a"}', "Line 2"),
        (b'{"list": "machines", "list": "machines", "name": "a"}', "twice"),
    ],
)
def test_a_line_that_cannot_be_read_spoils_the_batch(line: bytes, words: str) -> None:
    status, detail = refused(as_lines() + line + b"\n", NDJSON)
    assert status == 400
    assert words in detail


def test_the_first_line_has_no_lists_and_an_item_no_list_key_in_json() -> None:
    assert refused(as_lines({"workers": [WORKER]}), NDJSON)[0] == 400
    assert decode(as_json(workers=[{**WORKER, "list": "workers"}]), JSON).refused[0].field == "list"


def test_a_list_names_workers_without_their_states() -> None:
    head = {"source": "s", "sent_at": "2026-10-01T12:00:00Z", "complete": True, "named": {"r": ["a", "b"], "q": []}}
    state = {"run": "r", "worker": "c", "at": "2026-10-01T12:00:00Z", "phase": "running"}
    batch = decode(json.dumps({**head, "workers": [state]}).encode(), "application/json")
    assert batch.named == {("r", "a"), ("r", "b"), ("r", "c")}
    assert [item.worker for item in batch.workers] == ["c"]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({"named": {"r": ["a"]}}, "belongs to a complete list"),
        ({"complete": True, "named": {"": ["a"]}}, "must have 1 to 253 characters"),
        ({"complete": True, "named": {"r": ["\x07"]}}, "control characters"),
        ({"complete": True, "named": ["r"]}, "named"),
    ],
)
def test_what_a_list_cannot_name(head: dict[str, object], said: str) -> None:
    body = {"source": "s", "sent_at": "2026-10-01T12:00:00Z", **head}
    with pytest.raises(BadBody, match=said):
        decode(json.dumps(body).encode(), "application/json")
