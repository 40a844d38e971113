"""How many statements each page takes: a recorded number that does not grow with what there is to show.

Where the days are not rolled up it is one or two more: the first hour, and a machine that nobody holds now, are looked
for among the hours, too.
"""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.categorizer import categorize
from tests.dashboards.conftest import Get
from tests.dashboards.world import World, more_runs

ROOM, EAST = "/w/acme/vision", "/organizations/acme/clusters/east"
STATEMENTS: dict[tuple[str, str], int] = {
    ("ana", f"{ROOM}/goodput"): 12,
    ("ana", f"{ROOM}/goodput?by=machine&run=uid-llm&q=gpu"): 17,
    ("ana", f"{ROOM}/goodput/weekly"): 8,
    ("ana", f"{ROOM}/runs"): 7,
    ("ana", f"{ROOM}/runs/uid-llm"): 21,
    ("ana", f"{ROOM}/machines"): 10,
    ("ana", f"{ROOM}/machines/gpu-5"): 13,
    ("ana", f"{ROOM}/pools"): 9,
    ("ana", f"{ROOM}/pools/h100"): 12,
    ("adam", f"{EAST}/goodput"): 16,
    ("adam", f"{EAST}/goodput/weekly"): 10,
    ("adam", f"{EAST}/machines"): 12,
    ("adam", f"{EAST}/machines/gpu-5"): 15,
    ("adam", f"{EAST}/pools"): 11,
    ("adam", f"{EAST}/pools/h100"): 14,
}


def count(get: Get, who: str, path: str) -> int:
    get(path, who)
    with CaptureQueriesContext(connection) as asked:
        assert get(path, who).status_code == 200
    return len(asked)


def test_pages_take_so_many_statements_whatever_there_is(world: World, get: Get) -> None:
    categorize(world.east)
    assert {asked: count(get, *asked) for asked in STATEMENTS} == STATEMENTS
    more_runs(world, 60)
    categorize(world.east)
    assert {asked: count(get, *asked) for asked in STATEMENTS} == STATEMENTS
