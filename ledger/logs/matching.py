"""Patterns compiled by RE2, which takes time linear in the line, and what a line of a log says by them."""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from ledger.logs.events import Event, Kind
from ledger.logs.layouts import Reader, compiled
from ledger.logs.profiles import CAPTURES, BadProfile, Pattern, Profile
from ledger.logs.quantities import millionths, step_of

MEMORY_BYTES_MAX = 1 << 20
PROGRAM_MAX = 300  # instructions: what bounds the time of a line on which RE2 must give up its fast way
KINDS = {
    "applicationStart": Kind.START,
    "trainingStep": Kind.STEP,
    "checkpointDone": Kind.DONE,
    "checkpointSave": Kind.SAVE,
    "checkpointRestore": Kind.RESTORE,
    "checkpointLoaded": Kind.LOADED,
    "bandwidthResult": Kind.BANDWIDTH,
    "networkTransport": Kind.TRANSPORT,
}
SEARCH_BYTES_MAX = 8 << 20
WHOLE_TEXT = re.compile(r"\\[AzC]|\(\?[a-zA-Z]*-[a-zA-Z]*m|\\\(\?P<")  # what means something else in many lines at once
GONE = ("(?=", "(?!", "(?<=", "(?<!")


class Match(NamedTuple):
    """A pattern that a line matched, what it captured as text, and the event that this is."""

    pattern: str
    captured: dict[str, str]
    event: Event


def options() -> Any:
    """Bytes are characters: a line need not be valid UTF-8, and RE2's programs stay small."""
    chosen = re2.Options()
    chosen.max_mem = MEMORY_BYTES_MAX
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.log_errors = False
    return chosen


def compile_pattern(name: str, regex: str) -> Any:
    """Return the compiled expression. Raises BadProfile that names the pattern and says what RE2 said."""
    field = f"spec.patterns.{name}.regex"
    try:
        expression = re2.compile(regex.encode(), options())
    except re2.error as error:
        said = error.args[0] if error.args else b""
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        if any(part in regex for part in GONE):
            text = "look-ahead and look-behind are not part of RE2"
        raise BadProfile(field, f"does not compile: {text}") from None
    if expression.programsize > PROGRAM_MAX or expression.reverseprogramsize > PROGRAM_MAX:
        raise BadProfile(field, f"is too large: {expression.programsize} instructions, at most {PROGRAM_MAX}")
    for group in (group.decode("utf-8", "replace") for group in expression.groupindex):
        if group not in CAPTURES[name]:
            known = ", ".join(sorted(CAPTURES[name])) or "nothing"
            raise BadProfile(field, f"captures {group}, which {name} has not; it captures {known}")
    return expression


class Matcher:
    """A profile ready to read lines. Raises BadProfile for a pattern that does not compile or miss its example."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.instant: Reader = compiled(profile.layout, profile.zone)
        self.expressions = {p.name: compile_pattern(p.name, p.regex) for p in profile.patterns}
        self.in_order = [(KINDS[p.name], p, self.expressions[p.name]) for p in profile.patterns if p.name in KINDS]
        self.warmup = self.expressions.get("warmupStep")
        self.any = self._any()
        for pattern in profile.patterns:
            self._check_example(pattern)

    def _any(self) -> Any:
        """One expression for all patterns, which finds the lines that are worth a closer look; None: not possible."""
        parts = [pattern.regex for _, pattern, _ in self.in_order]
        if any(WHOLE_TEXT.search(regex) for regex in parts):
            return None
        chosen = options()
        chosen.max_mem = SEARCH_BYTES_MAX
        chosen.never_nl = True
        whole = "|".join(f"(?:{nameless(regex)})" for regex in parts)
        try:
            return re2.compile(f"(?m:{whole})".encode(), chosen)
        except re2.error:
            return None

    def _check_example(self, pattern: Pattern) -> None:
        if not pattern.example:
            return
        field = f"spec.patterns.{pattern.name}.example"
        line = pattern.example.encode()
        found = self.expressions[pattern.name].search(line)
        if found is None:
            raise BadProfile(field, f"is not matched by the regex of {pattern.name}")
        for name, value in captured(found).items():
            if problem := self.problem(name, value):
                raise BadProfile(field, f"{name} {value!r} {problem}")

    def problem(self, name: str, value: str) -> str:
        """Say why a captured text is not what its name promises, "" when it is."""
        if name == "timestamp":
            try:
                self.instant(value)
            except (ValueError, OverflowError) as error:
                return f"{error}"
        elif name in ("globalStep", "iteration", "step"):
            return "" if step_of(value) is not None else "is not a step, an integer from 0 on"
        elif name in ("stepTiming", "elapsedTime", "saveDuration", "tflops", "algBW", "busBW", "size"):
            return "" if millionths(value) is not None else "is not a number from 0 on"
        return ""

    def matches(self, line: bytes, stamp: int | None = None, number: int = 0, part: int = 0) -> list[Match]:
        """Return what a line says: the first pattern that matches, and before it the start of the application."""
        found = []
        for kind, pattern, expression in self.in_order:
            match = expression.search(line)
            if match is None:
                continue
            texts = captured(match)
            found.append(Match(pattern.name, texts, self.event(kind, pattern, texts, line, stamp, number, part)))
            if kind is not Kind.START:
                break
        return found

    def event(
        self,
        kind: Kind,
        pattern: Pattern,
        texts: dict[str, str],
        line: bytes,
        stamp: int | None,
        number: int,
        part: int,
    ) -> Event:
        at = self.at(texts.get("timestamp"), stamp)
        if kind is Kind.START:
            return Event(number, part, kind, at)
        if kind is Kind.STEP:
            timing = "stepTiming" if texts.get("stepTiming") else "elapsedTime"
            step = step_of(texts.get("globalStep", ""))
            return Event(
                number, part, kind, at,
                step_of(texts.get("iteration", "")) if step is None else step,
                millionths(texts.get(timing, ""), pattern.scale(timing)),
                self.warmup is not None and self.warmup.search(line) is not None,
                texts.get("loss", "")[:32], millionths(texts.get("tflops", "")),
            )  # fmt: skip
        if kind is Kind.BANDWIDTH:
            size, alg, bus = (texts.get(name, "") for name in ("size", "algBW", "busBW"))
            return Event(number, part, kind, at, size=step_of(size), alg=millionths(alg), bus=millionths(bus))
        if kind is Kind.TRANSPORT:
            return Event(number, part, kind, at, text=texts.get("transport", "")[:64])
        took = millionths(texts.get("saveDuration", ""), pattern.scale("saveDuration")) if kind >= Kind.SAVE else None
        return Event(number, part, kind, at, step_of(texts.get("step", "")), took)

    def at(self, text: str | None, stamp: int | None) -> int | None:
        """Return the captured instant, else the reader's own, else none."""
        if text:
            try:
                return self.instant(text)
            except (ValueError, OverflowError):
                return stamp
        return stamp


def captured(match: Any) -> dict[str, str]:
    """Return what the named groups captured, as text, in the order of the groups, without those that took no part."""
    groups = match.groups()
    return {
        name: value.decode("utf-8", "replace").strip()
        for name, index in names_of(match.re)
        if (value := groups[index - 1]) is not None
    }


@lru_cache(maxsize=4_096)
def names_of(expression: Any) -> tuple[tuple[str, int], ...]:
    """Return the named groups of an expression, in their order."""
    named = ((name.decode(), index) for name, index in expression.groupindex.items())
    return tuple(sorted(named, key=lambda pair: pair[1]))


def nameless(regex: str) -> str:
    """Return the expression without the names of its groups, which may not stand twice in one."""
    parts = []
    for index, part in enumerate(regex.split("(?P<")):
        parts.append(part if index == 0 else part.partition(">")[2])
    return "(?:".join(parts)
