"""Log files of `make run` do not grow for ever."""

from pathlib import Path

from goodput_site.log_files import rotate


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_log_that_grew_too_large_is_turned_and_three_are_kept(tmp_path: Path) -> None:
    (tmp_path / "web.log").write_text("")
    for number in range(6):
        with (tmp_path / "web.log").open("a") as log:
            log.write(f"{number}" * 11)
        rotate(tmp_path, most=10)
    assert texts(tmp_path) == {"web.log": "", "web.log.1": "5" * 11, "web.log.2": "4" * 11, "web.log.3": "3" * 11}


def test_one_that_is_small_stays(tmp_path: Path) -> None:
    (tmp_path / "beat.log").write_text("x" * 10)
    assert rotate(tmp_path, most=10) == []
    assert texts(tmp_path) == {"beat.log": "x" * 10}


def test_who_has_it_open_goes_on_at_its_end(tmp_path: Path) -> None:
    with (tmp_path / "web.log").open("ab", buffering=0) as log:
        log.write(b"x" * 20)
        rotate(tmp_path, most=10)
        log.write(b"y")
    assert texts(tmp_path) == {"web.log": "y", "web.log.1": "x" * 20}
