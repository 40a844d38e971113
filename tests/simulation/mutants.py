"""What could be wrong with the core: one line each. A test of the simulation must notice every one of them."""

from tests.simulation.mutating import Mutant

SPANS, TIMELINE, STREAMS = "ledger/core/spans.py", "ledger/core/timeline.py", "ledger/core/streams.py"
STALLS, POSTINGS, CATEGORIES = "ledger/core/stalls.py", "ledger/core/postings.py", "ledger/core/categories.py"

IN_MEMORY = (
    # amounts
    Mutant("amounts sent again", SPANS, "[s for s in spans if s not in before]", "spans"),
    Mutant("nothing taken back", SPANS, "return [s for s in old if s not in after],", "return [],"),
    Mutant("no hour split", POSTINGS, "gpus * (min(end, hour + HOUR) - max(begin, hour))", "gpus * (end - begin)"),
    Mutant(
        "rounded to seconds", POSTINGS, "lines, -gpus * (at - self.open_hour))",
        "lines, -gpus * ((at - self.open_hour) // 1000 * 1000))",
    ),
    Mutant("a float", POSTINGS, "_add(self.closed, (hour, cell), lines, amount)",
           "_add(self.closed, (hour, cell), lines, int(amount / 3.6e9 * 1e6) * 3600)"),
    Mutant("whole GPUs", POSTINGS, "sign * span.gpus_milli,", "sign * (span.gpus_milli // 1000 * 1000),"),
    Mutant("held flag dropped", SPANS, "if held else UNPLACED", "if True else UNPLACED"),
    Mutant("pool of now", SPANS, "pool = NO_POOL if folded.pool is None else folded.pool", "pool = NO_POOL"),
    Mutant("counting past the end", TIMELINE, "before._replace(at=at, phase=Phase.ENDED, reason", "before._replace(at=at, reason"),
    Mutant("unplaced time dropped", SPANS, "stretch.folded.alive and", "stretch.folded.phase in HELD and"),
    Mutant("GPUs of now for the whole gap", TIMELINE, "return _stretches(marks), afters",
           "return _stretches([mark._replace(gpus_milli=settled.gpus_milli) for mark in marks]), afters"),
    Mutant("category of now for the whole gap", SPANS, "return left.flips[place - 1].busy if place else None",
           "return left.flips[-1].busy if place else None"),
    # the order of states
    Mutant("states in the order of arrival", "ledger/core/facts.py", "return (self.at, self.attempt or 0, self.phase, self.content)",
           "return (self.at, 0, 0, '')"),
    Mutant("attempts do not matter", "ledger/core/facts.py", "(self.at, self.attempt or 0, self.phase, self.content)",
           "(self.at, 0, self.phase, self.content)"),
    Mutant("a late reading overwrites", STREAMS, "if newest is None or at > newest:", "if True:"),
    # the table
    Mutant("each wait is the first", CATEGORIES, "    if not placed:", "    if True:"),
    Mutant("a restart is a start", CATEGORIES, "if attempt == 1 else", "if attempt >= 1 else"),
    Mutant("unknown is 0 %", SPANS, "busy=_busy(left, begin) if running", "busy=bool(_busy(left, begin)) if running"),
    Mutant("5 % is idle", STREAMS, "busy = value >= limits", "busy = value > limits"),
    Mutant("the cause of a wait forgotten", TIMELINE, "        return before.cause", "        return ''"),
    Mutant("placed for ever", TIMELINE, "placed=(before.alive and before.placed)", "placed=(before.placed)"),
    Mutant("the setting of now for all time", SPANS, "return rules[place - 1] if place else", "return rules[-1] if rules else"),
    # stalls
    Mutant("a stay broken by an instant", TIMELINE, "goes_on = before.stay_since is not None and before.attempt == after.attempt",
           "goes_on = False"),
    Mutant("a stay over attempts", TIMELINE, "goes_on = before.stay_since is not None and before.attempt == after.attempt",
           "goes_on = before.stay_since is not None"),
    Mutant("a stall without proof", STREAMS, "proves = not stream.proven and reading.at - stream.progress_at > limit",
           "proves = not stream.proven"),
    Mutant("<= for < at the limit", STREAMS, "reading.at - stream.progress_at > limit", "reading.at - stream.progress_at >= limit"),
    Mutant("<= for < at the end of a stay", STALLS, "stall.proof_at < end", "stall.proof_at <= end"),
    Mutant("the step's own time forgotten", STREAMS, "limit = max(limits.stall_after, 5 * (step_ms or 0))", "limit = limits.stall_after"),
    Mutant("an evaluation proves a stall", STREAMS, "if step != stream.step or reading.doing or stream.doing:",
           "if step != stream.step or stream.doing:"),
    Mutant("what was before an evaluation counts after it", STREAMS, "if step != stream.step or reading.doing or stream.doing:",
           "if step != stream.step or reading.doing:"),
    Mutant("a gang never hangs", STALLS, "        if 0 < stuck == told:", "        if 0 < stuck == told < 0:"),
    Mutant("a gang hangs with one", STALLS, "        if 0 < stuck == told:", "        if 0 < stuck:"),
    # lists and coverage
    Mutant("<= for < at the last proof", TIMELINE, "gone.missing_since < at <= gone.at", "gone.missing_since <= at <= gone.at"),
    Mutant("gone when it was missed", TIMELINE, "death = max(gone.proof, last)", "death = max(gone.missing_since, last)"),
    Mutant("coverage clamped", STREAMS, "lower = reading.at if reading.since is None else reading.since", "lower = reading.at"),
    Mutant("silence is in order", SPANS, "unobserved = not covers(watched, begin)", "unobserved = False"),
    Mutant("words cover what runs", SPANS, "by_readings = running and rule.readings_expected", "by_readings = False"),
    # time
    Mutant("the future is counted", SPANS, "for span in spans if span.since <= now]", "for span in spans]"),
    Mutant("trusting the wall", "ledger/core/steady.py", "if monotonic - self._doubted[1] < CONFIRM_AFTER:",
           "if monotonic - self._doubted[1] < 0:"),
)  # fmt: skip
