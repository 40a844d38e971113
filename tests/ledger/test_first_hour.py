"""The first hour in which anything was counted: by the roll-ups, and where a day has yet to be rolled up."""

import pytest

from ledger import queries, sql
from ledger.access import Scope, scope_of_organization, scope_of_workspace
from ledger.alerts import moment
from ledger.categorizer import categorize
from ledger.core.windows import DAY, HOUR, Window
from ledger.models import DirtyDay
from ledger.queries.seen import seen
from tests.dashboards.world import World, make_world


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def alone(scope: Scope) -> int | None:
    """What the roll-ups alone tell."""
    found = sql.value("first_hour", **seen(scope))
    return None if found is None else int(found)


def test_it_is_the_same_rolled_up_and_not(world: World) -> None:
    scope, begin = scope_of_workspace(world.vision), world.edge - 2 * DAY
    assert (alone(scope), queries.first_hour(scope)) == (None, begin)
    categorize(world.east)
    assert (alone(scope), queries.first_hour(scope)) == (begin, begin)
    whole = scope_of_organization(world.vision.organization, world.east.pk)
    assert (alone(whole), queries.first_hour(whole)) == (begin, begin)


def test_a_day_that_is_to_be_rolled_up_again_is_looked_into(world: World) -> None:
    scope, begin = scope_of_workspace(world.vision), world.edge - 2 * DAY
    categorize(world.east)
    day = begin - begin % DAY
    for later in (DAY, 0):
        DirtyDay.objects.create(cluster=world.east, day=moment(day + later))
        assert (alone(scope), queries.first_hour(scope)) == (begin if later else None, begin)


def test_it_is_the_first_of_all_hours(world: World) -> None:
    window = Window(world.edge - 9 * DAY, world.edge + HOUR)
    for room in (world.vision, world.speech):
        scope = scope_of_workspace(room)
        assert queries.first_hour(scope) == min(told.start for told in queries.hourly(scope, window))
    assert queries.first_hour(scope_of_workspace(world.hidden)) is None
