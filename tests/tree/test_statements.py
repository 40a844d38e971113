"""What a statement does, and in which order it answers, it says by itself: no plan decides it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

STATEMENTS = sorted((Path(__file__).parents[2] / "ledger/sql").glob("*.sql"))
UNREAD = re.compile(r"--[^\n]*|'(?:[^']|'')*'|%\(\w+\)s")
INNERMOST = re.compile(r"\(([^()]*)\)")
COLLECTS = re.compile(r"\b(array|string|jsonb?|jsonb?_object)_agg$", re.IGNORECASE)
COUNTS = re.compile(r"\b(row_number|ntile|lag|lead|first_value|last_value|nth_value)\[\] OVER$", re.IGNORECASE)
HELD_ONCE = re.compile(r"(=|\bARRAY|\bMATERIALIZED)$")
ONE_ROW = {"run_alone", "source_lock"}  # found by a key


def parts(statement: str) -> Iterator[tuple[str, str]]:
    """Yield what each pair of parentheses has outside of pairs within it, and the words before; at last the rest."""
    text = UNREAD.sub(" . ", statement)
    while found := INNERMOST.search(text):
        before, after = text[: found.start()], text[found.end() :]
        yield " ".join(before[-200:].split()), found[1]
        text = f"{before}[]{after}"
    yield "", text


def faults(name: str, statement: str) -> Iterator[str]:
    for before, text in parts(statement):
        words = " ".join(text.upper().split())
        is_ordered, locks = "ORDER BY" in words, re.search(r"\bFOR (NO KEY )?UPDATE\b", words)
        if re.search(r"\bLIMIT\b", words):
            if not is_ordered:
                yield "some rows of no order"
            if locks and not HELD_ONCE.search(before):
                yield "found anew, without what it has locked, for each row of an outer side"
        if locks and not is_ordered and name not in ONE_ROW:
            yield "locked in no order"
        if COLLECTS.search(before) and not (is_ordered or "DISTINCT" in words):
            yield "collected in no order"
        if COUNTS.search(before) and not is_ordered:
            yield "counted in no order"


@pytest.mark.parametrize("path", STATEMENTS, ids=lambda path: path.stem)
def test_no_plan_decides(path: Path) -> None:
    assert list(faults(path.stem, path.read_text())) == []


@pytest.mark.parametrize(("statement", "fault"), [
    ("SELECT a FROM t LIMIT %(limit)s", "some rows of no order"),
    ("SELECT (SELECT a FROM t WHERE f(x) LIMIT 1) FROM u ORDER BY a", "some rows of no order"),
    ("DELETE FROM t USING (SELECT a FROM t ORDER BY a LIMIT 5 FOR UPDATE SKIP LOCKED) AS d", "found anew"),
    ("SELECT a FROM t WHERE b = %(b)s FOR NO KEY UPDATE", "locked in no order"),
    ("SELECT array_agg(f(a)) FROM t", "collected in no order"),
    ("SELECT lag(a, 1) OVER (PARTITION BY b) FROM t", "counted in no order"),
])  # fmt: skip
def test_each_fault_is_seen(statement: str, fault: str) -> None:
    (found,) = faults("", statement)
    assert found.startswith(fault)
