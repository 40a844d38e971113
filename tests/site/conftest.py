"""Folders that the account Postgres runs as can enter, unlike pytest's own, which are closed to others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folders() -> Iterator[Path]:
    """For the tests of one file together."""
    yield from open_folder()


@pytest.fixture
def folder() -> Iterator[Path]:
    """For one test."""
    yield from open_folder()


def open_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="goodput-site-") as name:
        Path(name).chmod(0o711)
        yield Path(name)
