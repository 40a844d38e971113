"""The terms as text tables: logs of attempts on the left, each `time what`; the terms in seconds on the right."""

import re
from fractions import Fraction

import pytest

from ledger.logs.matching import Matcher
from ledger.logs.profiles import parse
from ledger.logs.quantities import fixed
from ledger.logs.status import Terms, status
from ledger.logs.terms import Attempt
from tests.logs.reading import at, measured

PLAIN = {
    "timestamp": {"layout": "RFC3339"},
    "patterns": {
        "applicationStart": {"regex": r"^start$"},
        "trainingStep": {
            "regex": r"^step (?P<globalStep>\d+)(?: took (?P<stepTiming>[\d.]+))?(?: loss (?P<loss>\S+))?"
        },
        "checkpointSave": {"regex": r"^save (?P<step>\d+)"},
        "checkpointDone": {"regex": r"^done (?P<step>\d+)(?: in (?P<saveDuration>[\d.]+))?"},
    },
}
TERMS = ("training", "lost", "reschedule", "resume", "saving")

TABLE = """
one attempt without trouble
    12:00:00 start; 12:02:00 step 1; 12:30:00 step 100; end 13:00:00
    training 3600 resume 120
no start: the first step stands for it
    12:02:00 step 1; 12:30:00 step 100; end 13:00:00
    training 3480
a step begins its own duration before its line
    12:00:00 start; 12:02:00 step 1 took 60; end 13:00:00
    training 3600 resume 60
a save from its beginning to its end
    12:00:00 start; 12:00:00 step 1; 12:10:00 save 50; 12:10:30 done 50; end 13:00:00
    training 3600 saving 30
a printed duration wins
    12:00:00 start; 12:00:00 step 1; 12:10:00 save 50; 12:10:30 done 50 in 12.5; end 13:00:00
    training 3600 saving 12.5
several saves in one sample all count, each once
    12:00:00 start; 12:00:00 step 1; 12:10:00 save 50; 12:10:10 done 50; 12:10:10 done 50; 12:20:00 save 60; 12:20:05 done 60; end 13:00:00
    training 3600 saving 15
a new attempt: lost since the last checkpoint, rescheduled, resumed
    12:00:00 start; 12:01:00 step 1; 12:10:00 done 50; 12:20:00 step 100
    12:25:00 start; 12:28:00 step 51; end 13:00:00
    training 3600 resume 240 lost 600 reschedule 300
no checkpoint yet: all of it is lost, since the first step
    12:00:00 start; 12:01:00 step 1; 12:20:00 step 100
    12:25:00 start; 12:28:00 step 1; end 13:00:00
    training 3600 resume 240 lost 1140 reschedule 300
a checkpoint of an earlier attempt does not lose its time twice
    12:00:00 start; 12:01:00 step 1; 12:10:00 done 50; 12:20:00 step 100
    12:25:00 start; 12:28:00 step 51; 12:30:00 step 60
    12:40:00 start; 12:41:00 step 51; end 13:00:00
    training 3600 resume 300 lost 720 reschedule 900
the last line's own time is the interruption, whatever it says
    12:00:00 start; 12:01:00 step 1; 12:20:00 step 100; 12:22:00 Traceback (most recent call last):
    12:25:00 start; 12:28:00 step 1; end 13:00:00
    training 3600 resume 240 lost 1260 reschedule 180
without any time the attempt ends when its source says
    12:00:00 start; 12:01:00 step 1; - step 100; source 12:00:00 to 12:23:00
    12:25:00 start; 12:28:00 step 1; end 13:00:00
    training 3600 resume 240 lost 0 reschedule 1440
an attempt that never trains is start-up to its end
    12:00:00 start; 12:01:00 step 1; 12:20:00 step 100
    12:25:00 start; 12:30:00 out of memory
    12:40:00 start; 12:41:00 step 1; end 13:00:00
    training 3600 resume 420 lost 1140 reschedule 900
a step that comes again in its attempt is an interruption
    12:00:00 start; 12:00:00 step 1; 12:10:00 done 50; 12:20:00 step 100; 12:21:00 step 51; 12:22:00 step 52; end 13:00:00
    training 3600 lost 600
the process restarts in its attempt
    12:00:00 start; 12:01:00 step 1; 12:10:00 done 50; 12:20:00 step 100; 12:22:00 start; 12:24:00 step 51; end 13:00:00
    training 3600 resume 180 lost 600 reschedule 120
a restart that goes on where it was loses nothing but its time
    12:00:00 start; 12:01:00 step 1; 12:20:00 step 100; 12:22:00 start; 12:24:00 step 101; end 13:00:00
    training 3600 resume 180 reschedule 120
a late line is no interruption
    12:00:00 start; 12:00:00 step 1; 12:10:01 step 11; 12:10:00 step 10; 12:11:00 step 12; end 13:00:00
    training 3600
ranks that print the same steps, out of step
    12:00:00 start; 12:00:00 step 1 loss 9; 12:10:00 step 10 loss 8; 12:10:01 step 11 loss 7; 12:10:01 step 10 loss 8; 12:10:01 step 11 loss 7; 12:11:00 step 12 loss 6; end 13:00:00
    training 3600
the end of a failed run is an interruption
    12:00:00 start; 12:00:00 step 1; 12:10:00 done 50; 12:40:00 step 100; failed 13:00:00
    training 3600 lost 1800
a clock that is behind: nothing is negative, the skew is told
    12:00:00 start; 12:00:00 step 1; 12:10:00 done 50; 12:20:00 step 100
    12:18:00 start; 12:19:00 step 51; end 13:00:00
    training 3600 resume 60 lost 600 skew 120
"""  # noqa: E501


def cases() -> list[tuple[str, list[str], str]]:
    found: list[tuple[str, list[str], str]] = []
    for line in TABLE.strip("\n").splitlines():
        if not line.startswith(" "):
            found.append((line, [], ""))
        elif re.match(r" +training ", line):
            found[-1] = (found[-1][0], found[-1][1], line.strip())
        else:
            found[-1][1].append(line.strip())
    return found


@pytest.mark.parametrize(
    ("title", "attempts", "wanted"), cases(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_terms(title: str, attempts: list[str], wanted: str) -> None:
    logs: list[list[bytes]] = []
    known: dict[int, Attempt] = {}
    end, failed = None, False
    for number, attempt in enumerate(attempts, 1):
        logs.append([])
        for what in attempt.split("; "):
            first, _, rest = what.partition(" ")
            if first in ("end", "failed"):
                end, failed = at(rest), first == "failed"
            elif first == "source":
                began, _, ended = rest.partition(" to ")
                known[number] = Attempt(at(began), at(ended))
            else:
                stamp = "" if first == "-" else f"2026-10-01T{first}Z "
                logs[-1].append(f"{stamp}{rest}".encode())
    found = measured(Matcher(parse(PLAIN)), *logs, end=end, known=known, failed=failed)
    words = wanted.split()
    expected = {name: float(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    skew = expected.pop("skew", 0.0)
    assert {name: (getattr(found.terms, name) or 0) / 1e6 for name in TERMS} == dict.fromkeys(TERMS, 0.0) | expected
    assert float(status(found, ended=True)["skewSec"]) == skew


@pytest.mark.parametrize(
    ("terms", "result"),
    [
        ((3600, 0, 0, 120, 36), "0.956667"),
        ((7200, 600, 300, 420, 72), "0.841739"),
        ((100, 0, 100, 0, 0), None),
        ((1000, 0, 0, 0, 0), "1.000000"),
        ((1000, 1000, 0, 0, 0), "0.000000"),
        ((None, 0, 0, 0, 0), None),
    ],
)
def test_the_formula(terms: tuple[int | None, int, int, int, int], result: str | None) -> None:
    training, lost, reschedule, resume, saving = terms
    us = [value * 1_000_000 for value in (lost, reschedule, resume, saving)]
    found = Terms(None if training is None else training * 1_000_000, *us).result
    assert (None if found is None else fixed(found)) == result


def test_the_formula_is_exact() -> None:
    assert Terms(3_600_000_000, 0, 0, 120_000_000, 36_000_000).result == Fraction(3444, 3600)


def test_a_profile_that_never_matches_gives_no_ratio() -> None:
    """5,000 lines, none of them a step, and the job succeeded: no result and not 0 %."""
    lines = [b"2026-10-01T12:00:00Z epoch %d of many" % number for number in range(5_000)]
    found = status(measured(Matcher(parse(PLAIN)), lines), ended=True, outcome="Succeeded")
    assert "result" not in found
    assert found["conditions"][1] == {
        "type": "Complete",
        "status": "True",
        "reason": "NoDataCollected",
        "message": "no line matched trainingStep",
    }


def test_nothing_useful_is_zero_and_not_nothing() -> None:
    lines = [b"2026-10-01T12:00:00Z start", b"2026-10-01T12:00:00Z step 1", b"2026-10-01T13:00:00Z step 2"]
    found = measured(Matcher(parse(PLAIN)), lines, failed=True)
    assert status(found, ended=True, outcome="Failed")["result"] == "0.000000"
