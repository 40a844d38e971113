"""A bar as a PNG, for mail, whose programs seldom show SVG; plain colours need nothing but the standard library."""

import struct
import zlib
from collections.abc import Sequence

from ledger.core.categories import Category

COLOURS = {
    Category.PRODUCTIVE: (0x00, 0x9E, 0x73),
    Category.IDLE: (0xF0, 0xE4, 0x42),
    Category.STALLED: (0xD5, 0x5E, 0x00),
    Category.STARTING: (0x56, 0xB4, 0xE9),
    Category.RESTART: (0x00, 0x72, 0xB2),
    Category.FAILURE: (0x88, 0x22, 0x55),
    Category.PREEMPTION: (0xCC, 0x79, 0xA7),
    Category.WAITING: (0xBB, 0xBB, 0xBB),
}
WIDTH, HEIGHT = 1_120, 28
GROUND = (0xFF, 0xFF, 0xFF)


def edges(amounts: Sequence[int], width: int = WIDTH) -> list[int]:
    """Return where each amount ends, in pixels: rounded once each, the last at the end."""
    whole, sums, total = sum(amounts), [], 0
    for amount in amounts:
        total += amount
        sums.append((2 * total * width + whole) // (2 * whole) if whole else 0)
    return sums


def bar(amounts: Sequence[int]) -> bytes:
    """Return a PNG of a bar in which each category has the width of its amount, a white line between them."""
    row: list[tuple[int, int, int]] = []
    for category, end in zip(Category, edges(amounts), strict=True):
        part = end - len(row)
        row += [COLOURS[category]] * part
        if part > 2:
            row[-1] = GROUND
    row += [GROUND] * (WIDTH - len(row))
    line = b"\0" + bytes(channel for pixel in row for channel in pixel)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(line * HEIGHT, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
