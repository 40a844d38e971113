"""Go's layouts: a text on the left, the instant that it is on the right."""

import pytest

from ledger.logs.layouts import BadLayout, compiled
from ledger.logs.quantities import fixed, millionths, step_of
from ledger.logs.status import rfc3339


@pytest.mark.parametrize(
    ("layout", "zone", "text", "instant"),
    [
        ("2006-01-02 15:04:05", "", "2021-05-23 08:41:04", "2021-05-23T08:41:04.000Z"),
        ("2006-01-02 15:04:05,000", "", "2021-05-25 06:38:26,284", "2021-05-25T06:38:26.284Z"),
        ("2006-01-02 15:04:05", "", "2021-05-25 06:38:26,284", "2021-05-25T06:38:26.284Z"),
        ("2006-01-02 15:04:05", "Europe/Paris", "2021-05-25 06:38:26", "2021-05-25T04:38:26.000Z"),
        ("RFC3339Nano", "", "2026-10-01T12:00:00.123456789Z", "2026-10-01T12:00:00.123456Z"),
        ("RFC3339", "", "2026-10-01T12:00:00+02:00", "2026-10-01T10:00:00.000Z"),
        ("2006-01-02T15:04:05-0700", "Asia/Tokyo", "2026-10-01T12:00:00-0330", "2026-10-01T15:30:00.000Z"),
        ("Mon Jan _2 15:04:05 2006", "", "Thu Oct  1 12:00:00 2026", "2026-10-01T12:00:00.000Z"),
        ("Jan 2, 2006 3:04PM", "", "Oct 1, 2026 12:30AM", "2026-10-01T00:30:00.000Z"),
        ("02/01/06 15:04:05.000 MST", "", "01/10/26 12:00:00.250 UTC", "2026-10-01T12:00:00.250Z"),
        ("2006 002 15:04", "", "2026 274 12:00", "2026-10-01T12:00:00.000Z"),
        ("UnixMilli", "", "1709183678851", "2024-02-29T05:14:38.851Z"),
        ("Unix", "", "1709183678.5", "2024-02-29T05:14:38.500Z"),
        ("UnixNano", "", "1709183678851000999", "2024-02-29T05:14:38.851Z"),
    ],
)
def test_a_text_in_a_layout(layout: str, zone: str, text: str, instant: str) -> None:
    assert rfc3339(compiled(layout, zone)(text)) == instant


@pytest.mark.parametrize("layout", ["", "15:04:05", "2006-01-02", "2006-01-02 15:04 15", "yyyy-MM-dd", "2" * 200])
def test_a_layout_that_names_no_instant(layout: str) -> None:
    with pytest.raises(BadLayout):
        compiled(layout)


@pytest.mark.parametrize(
    "text", ["", "2021-02-30 08:41:04", "2021-05-23 25:41:04", "2021-05-23T08:41:04", "٢٠٢١-٠٥-٢٣ 08:41:04"]
)
def test_a_text_that_is_no_instant(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        compiled("2006-01-02 15:04:05")(text)


@pytest.mark.parametrize(
    ("text", "scale", "found"),
    [
        ("22306.6", 1_000, 22_306_600), ("5.1E-01", 1_000_000, 510_000), ("3.1e+4", 1, 31_000),
        ("1.5", 1, 2), ("2.5", 1, 2),
        ("0.0000005", 1_000_000, 0), ("-1", 1, None), ("NaN", 1, None), ("1e400", 1, None),
        ("", 1, None), ("1,5", 1, None),
    ],
)  # fmt: skip
def test_numbers_are_exact(text: str, scale: int, found: int | None) -> None:
    assert millionths(text, scale) == found


def test_steps_are_integers() -> None:
    assert [step_of(text) for text in ("7", "2e+3", "7.5", "-1", "9" * 20)] == [7, 2000, None, None, None]
    assert [fixed(value) for value in (0, 1, -1)] == ["0.000000", "1.000000", "-1.000000"]
