"""What a log profile says, checked: from the document of a Kubernetes resource to a Profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledger.logs.layouts import BadLayout, compiled
from ledger.logs.quantities import UNITS

REGEX_BYTES_MAX = 1_024
LINE_BYTES_MAX = 8_192
PATTERNS_MAX = 32
DOCUMENT_BYTES_MAX = 64 * 1024
NAME_CHARACTERS_MAX = 253
WARMUP_STEPS_MAX = 1_000_000
LOG_INTERVAL_MAX = 1_000_000
KIND = "LogProfile"
CAPTURES: dict[str, frozenset[str]] = {
    "applicationStart": frozenset({"timestamp"}),
    "trainingStep": frozenset(
        {"timestamp", "globalStep", "iteration", "epoch", "stepTiming", "loss", "tflops", "elapsedTime"}
    ),
    "checkpointDone": frozenset({"timestamp", "step", "path", "saveDuration"}),
    "checkpointSave": frozenset({"timestamp", "step", "path", "saveDuration"}),
    "checkpointRestore": frozenset({"timestamp", "path", "step"}),
    "checkpointLoaded": frozenset({"timestamp", "path", "step"}),
    "warmupStep": frozenset(),
    "bandwidthResult": frozenset({"timestamp", "size", "algBW", "busBW"}),
    "networkTransport": frozenset({"timestamp", "transport"}),
}
TIMED = ("stepTiming", "elapsedTime", "saveDuration")
SPEC_KEYS = frozenset(
    {"timestamp", "patterns", "workerStrategy", "lifecyclePod", "trainingStepPod", "replicatedJobName",
     "containerName", "warmupSteps", "logInterval", "timeZone", "description"}
)  # fmt: skip


class BadProfile(ValueError):
    """A profile that cannot be taken. `field` is where, like patterns.trainingStep.regex; the text says why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression of RE2, a line that it matches, and the unit of each duration that it captures."""

    name: str
    regex: str
    example: str = ""
    units: tuple[tuple[str, str], ...] = ()

    def scale(self, capture: str) -> int:
        """Return the µs of one unit of a captured duration."""
        return UNITS[dict(self.units).get(capture, "s")]


@dataclass(frozen=True, slots=True)
class Strategy:
    """Whose lines count: `Single` reads one worker; of `Multi` each kind of event is read of the first or the last."""

    kind: str = "Single"
    lifecycle: str = "first"
    steps: str = "first"
    replicated_job: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A checked profile; its patterns compile and match their examples (`ledger.logs.matching`)."""

    layout: str
    zone: str
    patterns: tuple[Pattern, ...]
    strategy: Strategy = Strategy()
    container: str = ""
    warmup_steps: int = 0
    log_interval: int = 1

    def pattern(self, name: str) -> Pattern | None:
        return next((pattern for pattern in self.patterns if pattern.name == name), None)


def spec_of(document: Any) -> Mapping[str, Any]:
    """Return the spec of a resource, or the document itself when it is a bare spec. Raises BadProfile."""
    if not isinstance(document, Mapping):
        raise BadProfile("profile", "must be an object")
    if "spec" not in document and "kind" not in document:
        return document
    if document.get("kind", KIND) != KIND:
        raise BadProfile("kind", f"must be {KIND}")
    spec = document.get("spec")
    if not isinstance(spec, Mapping):
        raise BadProfile("spec", "must be an object")
    return spec


def name_of(document: Any) -> str:
    """Return the name that a resource gives itself, "" when it gives none."""
    metadata = document.get("metadata") if isinstance(document, Mapping) else None
    name = metadata.get("name", "") if isinstance(metadata, Mapping) else ""
    return name if isinstance(name, str) else ""


def parse(document: Any) -> Profile:
    """Return the profile of a document as JSON or YAML gave it. Raises BadProfile; patterns are not compiled yet."""
    spec = spec_of(document)
    _known(spec, SPEC_KEYS, "spec")
    layout, zone = _timestamp(spec)
    patterns = _patterns(spec.get("patterns"))
    return Profile(
        layout, zone, patterns, _strategy(spec), _text(spec, "containerName", "spec"),
        _count(spec, "warmupSteps", 0, 0, WARMUP_STEPS_MAX), _count(spec, "logInterval", 1, 1, LOG_INTERVAL_MAX),
    )  # fmt: skip


def _known(given: Mapping[str, Any], keys: frozenset[str] | set[str], field: str) -> None:
    for key in given:
        if key not in keys:
            raise BadProfile(f"{field}.{key}"[:200], f"is not known; there are {', '.join(sorted(keys))}")


def _text(given: Mapping[str, Any], key: str, field: str, most: int = NAME_CHARACTERS_MAX) -> str:
    text = given.get(key, "")
    text = "" if text is None else text
    if not isinstance(text, str) or "\0" in text:
        raise BadProfile(f"{field}.{key}", "must be a text")
    if len(text.encode("utf-8", "surrogatepass")) > most:
        raise BadProfile(f"{field}.{key}", f"must have at most {most:,} bytes")
    if not _encodable(text):
        raise BadProfile(f"{field}.{key}", "must be Unicode text")
    return text


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _count(given: Mapping[str, Any], key: str, default: int, least: int, most: int) -> int:
    value = given.get(key, default)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadProfile(f"spec.{key}", f"must be an integer from {least} to {most:,}")
    return value


def _timestamp(spec: Mapping[str, Any]) -> tuple[str, str]:
    given = spec.get("timestamp")
    if not isinstance(given, Mapping):
        raise BadProfile("spec.timestamp", "must be an object with a layout, like 2006-01-02 15:04:05")
    _known(given, {"layout", "timeZone"}, "spec.timestamp")
    layout = _text(given, "layout", "spec.timestamp")
    zone = _text(given, "timeZone", "spec.timestamp") or _text(spec, "timeZone", "spec")
    try:
        compiled(layout, zone)
    except BadLayout as error:
        raise BadProfile("spec.timestamp.layout", f"{error}") from None
    return layout, zone


def _patterns(given: Any) -> tuple[Pattern, ...]:
    if not isinstance(given, Mapping):
        raise BadProfile("spec.patterns", "must be an object")
    if len(given) > PATTERNS_MAX:
        raise BadProfile("spec.patterns", f"must be at most {PATTERNS_MAX}")
    _known(given, set(CAPTURES), "spec.patterns")
    found = [_pattern(name, given[name]) for name in CAPTURES if given.get(name) is not None]
    if not any(pattern.name in ("trainingStep", "bandwidthResult") for pattern in found):
        raise BadProfile("spec.patterns", "needs a trainingStep or a bandwidthResult")
    return tuple(found)


def _pattern(name: str, given: Any) -> Pattern:
    field = f"spec.patterns.{name}"
    if not isinstance(given, Mapping):
        raise BadProfile(field, "must be an object with a regex")
    _known(given, {"regex", "example", "units"}, field)
    regex = _text(given, "regex", field, REGEX_BYTES_MAX)
    if not regex:
        raise BadProfile(f"{field}.regex", "is missing")
    return Pattern(name, regex, _text(given, "example", field, LINE_BYTES_MAX), _units(name, given.get("units"), field))


def _units(name: str, given: Any, field: str) -> tuple[tuple[str, str], ...]:
    """`units` is one unit for every duration that the pattern captures, or a unit for each by name."""
    timed = [capture for capture in TIMED if capture in CAPTURES[name]]
    if given is None:
        return ()
    units = dict.fromkeys(timed, given) if isinstance(given, str) else given
    if not isinstance(units, Mapping):
        raise BadProfile(f"{field}.units", f"must be one of {', '.join(UNITS)}, or one for each duration by name")
    _known(units, set(timed), f"{field}.units")
    for capture, unit in units.items():
        if not isinstance(unit, str) or unit not in UNITS:
            raise BadProfile(f"{field}.units.{capture}", f"must be one of {', '.join(UNITS)}")
    return tuple(sorted(units.items()))


def _strategy(spec: Mapping[str, Any]) -> Strategy:
    given = spec.get("workerStrategy")
    where: Mapping[str, Any] = spec
    if isinstance(given, Mapping):
        _known(given, {"type", "lifecyclePod", "trainingStepPod", "replicatedJobName"}, "spec.workerStrategy")
        where, given = given, given.get("type")
    kind = "Single" if given is None else given
    if kind not in ("Single", "Multi"):
        raise BadProfile("spec.workerStrategy", "must be Single or Multi")
    ends = []
    for key in ("lifecyclePod", "trainingStepPod"):
        end = where.get(key) or "first"
        if end not in ("first", "last"):
            raise BadProfile(f"spec.{key}", "must be first or last")
        ends.append(end)
    return Strategy(kind, ends[0], ends[1], _text(where, "replicatedJobName", "spec"))
