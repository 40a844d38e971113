"""The weekly digest: once a week, the same numbers as the page, and a bar that mail programs show."""

import struct
import zlib
from typing import Any

import pytest

from ledger.core.categories import Category
from ledger.core.pictures import COLOURS, HEIGHT, WIDTH, bar, edges
from ledger.core.windows import DAY, HOUR, WEEK
from ledger.models import Channel, Delivery, DirtyDay
from ledger.notify.digest import put_digests
from ledger.notify.outbox import send_due
from tests.alerts.hours import GPU_HOUR, Judged
from tests.alerts.servers import LOOPBACK, postbox
from tests.postgres_world import moment
from tests.worlds import MONDAY

NEXT = MONDAY + WEEK


@pytest.fixture
def judged(db: None) -> Judged:
    return Judged()


def channel(judged: Judged, made: int = MONDAY, kind: str = "email", **more: Any) -> Channel:
    made_at = moment(made)
    return Channel.objects.create(
        workspace=judged.workspace, kind=kind, name=kind, target="ana@example.com", made_at=made_at,
        **{"digest": True, **more},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("now", "count"),
    [(NEXT - 1, 0), (NEXT + 7 * HOUR - 1, 0), (NEXT + 7 * HOUR, 1), (NEXT + 6 * DAY, 1)],
)
def test_it_is_sent_on_monday_morning_once(judged: Judged, now: int, count: int) -> None:
    channel(judged, made=NEXT - DAY)
    assert put_digests(now) == count
    assert put_digests(now) == 0
    assert Delivery.objects.filter(event="digest 2026-09-28").count() == count


def test_who_did_not_ask_gets_none(judged: Judged) -> None:
    channel(judged, digest=False)
    channel(judged, kind="webhook")
    assert put_digests(NEXT + 8 * HOUR) == 0


def test_who_asked_on_tuesday_gets_none_of_the_week_before(judged: Judged) -> None:
    channel(judged, made=NEXT + DAY)
    assert put_digests(NEXT + DAY) == 0


def test_what_stands_in_it(judged: Judged, settings: Any) -> None:
    judged.day(0.75)
    judged.set_final(24 * 8)
    DirtyDay.objects.create(cluster=judged.cluster, day=moment(MONDAY))  # its hours were written as they are
    channel(judged)
    put_digests(NEXT + 8 * HOUR)
    with postbox() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        assert send_due(LOOPBACK) == 1
    assert Delivery.objects.get().error == ""
    ((_, mail),) = box.mails
    assert mail["Subject"] == "Goodput of vision: 75.0 % in the week from 2026-09-28"
    parts = {part.get_content_type(): part for part in mail.walk()}
    assert {"multipart/related", "multipart/alternative", "text/plain", "text/html", "image/png"} <= set(parts)
    text = parts["text/plain"].get_payload(decode=True).decode()
    assert "75.0 % (– the week before)" in text
    assert "held 240.0, productive 180.0" in text
    assert "idle: 60.0 GPU-hours" in text
    assert "llm: 60.0 GPU-hours" in text
    assert "start=2026-09-28T00:00:00Z&end=2026-10-05T00:00:00Z" in text
    html = parts["text/html"].get_payload(decode=True).decode()
    assert 'src="cid:bar"' in html
    assert parts["image/png"]["Content-ID"] == "<bar>"
    amounts = [0] * len(Category)
    amounts[Category.PRODUCTIVE], amounts[Category.IDLE] = 180 * GPU_HOUR, 60 * GPU_HOUR
    assert parts["image/png"].get_payload(decode=True) == bar(amounts)


def pixels(png: bytes) -> list[tuple[int, ...]]:
    """Return the first line of a PNG of 8-bit RGB."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, size = 8, b"", (0, 0)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + body),)
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    assert size == (WIDTH, HEIGHT)
    raw = zlib.decompress(data)
    assert len(raw) == HEIGHT * (1 + 3 * WIDTH)
    return [tuple(raw[1 + 3 * x : 4 + 3 * x]) for x in range(WIDTH)]


def test_the_bar_has_the_width_of_each_category() -> None:
    line = pixels(bar([3, 1, 0, 0, 0, 0, 0, 0]))
    assert line.count(COLOURS[Category.PRODUCTIVE]) == WIDTH * 3 // 4 - 1
    assert line.count(COLOURS[Category.IDLE]) == WIDTH // 4 - 1
    assert len(pixels(bar([0] * 8))) == WIDTH


@pytest.mark.parametrize("amounts", [[1] * 8, [7, 0, 0, 3, 0, 0, 1, 10**15], [0, 0, 0, 0, 0, 0, 0, 1]])
def test_the_edges_close(amounts: list[int]) -> None:
    found = edges(amounts)
    assert found == sorted(found)
    assert found[-1] == WIDTH
