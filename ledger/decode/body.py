"""From the bytes of a body to its head and items, still unjudged.

A body without fault is read in one typed pass. Anything that this pass does not like is read again, slowly, to
tell a fault of the body (nothing is taken) from faults of single items (the rest is taken).
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple

from ledger.decode import wire

BODY_BYTES_MAX = 8 * 1024 * 1024
ITEMS_MAX = 20_000
DEPTH_MAX = 32
JSON = "application/json"
NDJSON = "application/x-ndjson"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+', re.DOTALL)
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SPACED_COLONS = (b" :", b"\t:", b"\n:", b"\r:")
_AT_FIELD = re.compile(r"(.*) - at `\$\.(\w+)(?:[.\[][^`]*)?`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`(?: - at `\$\.[^`]*`)?")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`(?: - at `\$\.[^`]*`)?", re.DOTALL)
_FIELD_CHARACTERS_MAX = 64

_BODY = msgspec.json.Decoder(wire.Body)
_HEAD = msgspec.json.Decoder(wire.Head)
_LINE = msgspec.json.Decoder(wire.Line)
_ANY = msgspec.json.Decoder()
_TYPES: dict[str, type[wire.Item]] = {
    "machines": wire.Machine,
    "runs": wire.Run,
    "workers": wire.Worker,
    "readings": wire.Reading,
}


class BadBody(Exception):
    """A body of which nothing is taken: the HTTP status (400, 413 or 415) and one sentence that says why."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class Broken(NamedTuple):
    """An item that has not the shape of its list."""

    raw: Any
    field: str
    error: str


@dataclass(slots=True)
class Parsed:
    """A body that can be read: its head, and the items of each list in their order."""

    head: wire.Head
    items: dict[str, list[Any]] = field(default_factory=dict)


def parse(body: bytes, content_type: str) -> Parsed:
    """Read a body; an item is a type of `wire` or Broken. Raises BadBody."""
    media = media_type(content_type)
    if len(body) > BODY_BYTES_MAX:
        refuse_size()
    if b"\\u0000" in body and _NUL.search(body):
        raise BadBody(400, "The body has a NUL character in a text.")
    parsed = (_quick_json if media == JSON else _quick_lines)(body)
    if parsed is None:
        _refuse_depth(body)
        parsed = (_slow_json if media == JSON else _slow_lines)(body)
    return parsed


def refuse_size() -> NoReturn:
    """Raise the BadBody of a body that is too large."""
    raise BadBody(413, f"A body has at most {BODY_BYTES_MAX:,} bytes; send it in parts.")


def _refuse_many(count: int) -> None:
    """Refuse more items than a batch may have, before each is looked at."""
    if count > ITEMS_MAX:
        raise BadBody(413, f"A batch has at most {ITEMS_MAX:,} items; send it in parts.")


def media_type(content_type: str) -> str:
    """Return which of the two media types it is. Raises BadBody."""
    kind, *parameters = (part.strip() for part in content_type.lower().split(";"))
    if kind not in (JSON, NDJSON):
        raise BadBody(415, f"The content type must be {JSON} or {NDJSON}.")
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "charset" and value.strip(' "') not in ("utf-8", "utf8"):
            raise BadBody(415, "The charset must be utf-8.")
    return kind


def _quick_json(body: bytes) -> Parsed | None:
    """Read a JSON body in one typed pass; None when something about it needs a closer look."""
    try:
        whole = _BODY.decode(body)
    except (ValueError, RecursionError):
        return None
    lists = {name: getattr(whole, name) or [] for name in wire.LISTS}
    _refuse_many(sum(map(len, lists.values())))
    fields = [whole, *(item for items in lists.values() for item in items)]
    return Parsed(whole, lists) if _keys_are_unique(body, fields, 0) else None


def _quick_lines(body: bytes) -> Parsed | None:
    """Read an NDJSON body in one typed pass; None when something about it needs a closer look."""
    try:
        first, *rest = (line for line in body.split(b"\n") if line and not line.isspace())
        _refuse_many(len(rest))
        head = _HEAD.decode(first)
        items = list(map(_LINE.decode, rest))
    except (ValueError, RecursionError):
        return None
    parsed = Parsed(head, {name: [] for name in wire.LISTS})
    for item in items:
        parsed.items[item.__struct_config__.tag].append(item)  # type: ignore[index]
    return parsed if _keys_are_unique(body, [head, *items], len(items)) else None


def _keys_are_unique(body: bytes, structs: Iterable[msgspec.Struct], tags: int) -> bool:
    """Return whether the body has as many keys as the structs took from it; False also when that is not certain.

    A key is a quote before a colon. A text may hold the same two characters, which makes the count too high, never
    too low; a colon set apart from its quote is left to the closer look.
    """
    if any(spaced in body for spaced in _SPACED_COLONS):
        return False
    taken = tags
    for struct in structs:
        values = astuple(struct)
        taken += len(values) - values.count(UNSET)
        if isinstance(struct, wire.Head) and struct.named:
            taken += len(struct.named)
        if isinstance(struct, wire.Run) and struct.conditions:
            inner = [value for condition in struct.conditions for value in astuple(condition)]
            taken += len(inner) - inner.count(UNSET)
    return body.count(b'":') == taken


def _refuse_depth(body: bytes) -> None:
    """Refuse what is nested too deeply, before a parser that recurses sees it."""
    brackets = _STRING.sub(b"", body).translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(DEPTH_MAX):
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets or b"[" * (DEPTH_MAX + 1) in brackets:
        raise BadBody(400, f"The body is nested deeper than {DEPTH_MAX} levels.")


def _slow_json(body: bytes) -> Parsed:
    """Read a JSON body item by item. Raises BadBody."""
    whole = _object(body, "The body")
    lists: dict[str, list[Any]] = {}
    for name in wire.LISTS:
        items = whole.pop(name, None)
        lists[name] = [] if items is None else items
        if not isinstance(lists[name], list):
            raise BadBody(400, f"The batch's {name} must be a list.")
    _refuse_many(sum(map(len, lists.values())))
    return Parsed(_head(whole), {name: [_item(name, raw) for raw in items] for name, items in lists.items()})


def _slow_lines(body: bytes) -> Parsed:
    """Read an NDJSON body item by item. Raises BadBody."""
    lines = [(number, line) for number, line in enumerate(body.split(b"\n"), 1) if line and not line.isspace()]
    if not lines:
        raise BadBody(400, "The body is empty.")
    _refuse_many(len(lines) - 1)
    parsed = Parsed(_head(_object(lines[0][1], f"Line {lines[0][0]}")), {name: [] for name in wire.LISTS})
    for number, line in lines[1:]:
        raw = _object(line, f"Line {number}")
        name = raw.pop("list", None)
        if not isinstance(name, str) or name not in _TYPES:
            raise BadBody(400, f'Line {number} must say its "list": machines, runs, workers or readings.')
        parsed.items[name].append(_item(name, raw))
    return parsed


def _object(text: bytes, what: str) -> dict[str, Any]:
    """Parse one JSON object strictly. Raises BadBody."""
    if not text or text.isspace():
        raise BadBody(400, f"{what} is empty.")
    try:
        value = _ANY.decode(text)
        refuse_twice(text)
    except BadBody:
        raise
    except RecursionError:
        raise BadBody(400, f"{what} is nested deeper than {DEPTH_MAX} levels.") from None
    except ValueError as error:
        reason = str(error).partition(" - at ")[0]
        raise BadBody(400, f"{what} is not valid JSON in UTF-8: {reason}.") from None
    if not isinstance(value, dict):
        raise BadBody(400, f"{what} must be a JSON object.")
    return value


def refuse_twice(text: bytes) -> None:
    """Refuse JSON that was parsed already and says a key twice in one object. Raises BadBody."""
    json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object that says a key twice; what it holds is not kept."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise BadBody(400, f"The body says the key {shown(key)} twice in one object.")
        seen.add(key)


def _head(raw: dict[str, Any]) -> wire.Head:
    try:
        return msgspec.convert(raw, wire.Head)
    except msgspec.ValidationError as error:
        where, what = explain(error)
        raise BadBody(400, f"The batch's {shown(where)} {what}.") from None


def _item(name: str, raw: Any) -> wire.Item | Broken:
    try:
        return msgspec.convert(raw, _TYPES[name])
    except msgspec.ValidationError as error:
        return Broken(raw, *explain(error))


def explain(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return the field that does not fit its type ("" = the item itself) and what is wrong with it."""
    text = str(error)
    if match := _MISSING.fullmatch(text):
        return match[1], "is missing"
    if match := _UNKNOWN.fullmatch(text):
        return match[1][:_FIELD_CHARACTERS_MAX], "is not a known key"
    match = _AT_FIELD.fullmatch(text)
    where, what = (match[2], match[1]) if match else ("", text)
    return where, "has the wrong type: " + what.replace("`", "").replace("Expected", "expected")


def shown(key: str) -> str:
    """Return a key as it may stand in a sentence."""
    return json.dumps(key[:_FIELD_CHARACTERS_MAX], ensure_ascii=True)
