"""Where things go: folders that Postgres can reach, socket paths that fit, nobody's permissions changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from goodput_site.places import CHECKOUT, SOCKET_NAME, places, places_of, socket_path_fits


def test_the_state_folder_is_the_named_one_or_lies_in_the_checkout() -> None:
    assert places({}).state == CHECKOUT / ".state"
    assert places({"GOODPUT_STATE": ""}).state == CHECKOUT / ".state"
    assert places({"GOODPUT_STATE": "/tmp/a"}).state == Path("/tmp/a")
    assert places({"GOODPUT_STATE": "relative"}).state == Path.cwd() / "relative"


@pytest.mark.parametrize(("length", "fits"), [(107, True), (108, False)])
def test_a_socket_path_has_at_most_107_bytes(length: int, fits: bool) -> None:
    folder = Path("/" + "a" * (length - len(SOCKET_NAME) - 2))
    assert len(os.fsencode(folder / SOCKET_NAME)) == length
    assert socket_path_fits(folder) is fits


@pytest.mark.parametrize("name", ["with space", "with'quote", "with\\slash", "wïth-umlaut"])
def test_a_socket_path_can_stand_unquoted_in_a_connection_string(name: str) -> None:
    assert not socket_path_fits(Path("/tmp") / name)
    assert socket_path_fits(Path("/tmp/plain-1.0_x+y"))


def test_sockets_move_out_of_a_folder_that_is_too_deep(folder: Path) -> None:
    deep = places_of(folder / ("d" * 60) / ("e" * 60), uid=1000)
    assert deep.data.is_relative_to(deep.state)
    assert deep.sockets.parent == Path("/tmp")
    other = places_of(folder / ("d" * 60) / ("f" * 60), uid=1000)
    assert other.sockets != deep.sockets


def test_as_root_postgres_moves_out_of_a_folder_that_others_may_not_enter(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    moved = places_of(closed / "state", uid=0)
    assert moved.moved
    assert moved.data.is_relative_to("/var/lib/goodput")
    assert moved.demo == closed / "state" / "demo.json"
    assert not places_of(closed / "state", uid=1000).moved
    assert closed.stat().st_mode & 0o777 == 0o700
    closed.chmod(0o711)
    assert not places_of(closed / "state", uid=0).moved
