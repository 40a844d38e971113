"""Lists reach Postgres as they are: what is written as an array reads back the same."""

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from ledger import sql
from ledger.core.categories import Phase

TEXTS = ["", "NULL", "a,b", "{}", '"', "\\", '\\"', "\t0008000\t=node-1", "\n\r\x01", "Zürich 東京", '{"a": "b\\n"}']


def read_back(values: list[object], kind: str) -> list[object]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT %s::{kind}[]", [sql.array(values)])
        return list(cursor.fetchone()[0])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "bigint"),
        ([1, None, -(2**63), 2**63 - 1], "bigint"),
        ([None, None], "bigint"),
        ([None, None], "text"),
        ([True, None, False], "boolean"),
        ([Phase.RUNNING, Phase.ENDED], "smallint"),
        ([None, *TEXTS], "text"),
    ],
)
def test_lists_read_back_as_they_were(values: list[object], kind: str) -> None:
    assert read_back(values, kind) == values


@pytest.mark.django_db
@given(st.lists(st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\x00")), max_size=5))
def test_any_text_reads_back_as_it_was(values: list[object]) -> None:
    assert read_back(values, "text") == values
