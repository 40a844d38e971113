"""How many statements each page takes: a recorded number that does not grow with what there is to show.

But for one or two: the days of this world are not rolled up, so the first hour, and a machine that nobody holds now,
are looked for among the hours, too.
"""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.dashboards.conftest import Get
from tests.dashboards.world import World, more_runs

ROOM, EAST = "/w/acme/vision", "/organizations/acme/clusters/east"
STATEMENTS: dict[tuple[str, str], int] = {
    ("ana", f"{ROOM}/goodput"): 13,
    ("ana", f"{ROOM}/goodput?by=machine&run=uid-llm&q=gpu"): 18,
    ("ana", f"{ROOM}/goodput/weekly"): 9,
    ("ana", f"{ROOM}/runs"): 7,
    ("ana", f"{ROOM}/runs/uid-llm"): 21,
    ("ana", f"{ROOM}/machines"): 11,
    ("ana", f"{ROOM}/machines/gpu-5"): 15,
    ("ana", f"{ROOM}/pools"): 10,
    ("ana", f"{ROOM}/pools/h100"): 13,
    ("adam", f"{EAST}/goodput"): 17,
    ("adam", f"{EAST}/goodput/weekly"): 11,
    ("adam", f"{EAST}/machines"): 13,
    ("adam", f"{EAST}/machines/gpu-5"): 16,
    ("adam", f"{EAST}/pools"): 12,
    ("adam", f"{EAST}/pools/h100"): 15,
}


def count(get: Get, who: str, path: str) -> int:
    get(path, who)
    with CaptureQueriesContext(connection) as asked:
        assert get(path, who).status_code == 200
    return len(asked)


def test_pages_take_so_many_statements_whatever_there_is(world: World, get: Get) -> None:
    assert {asked: count(get, *asked) for asked in STATEMENTS} == STATEMENTS
    more_runs(world, 60)
    assert {asked: count(get, *asked) for asked in STATEMENTS} == STATEMENTS
