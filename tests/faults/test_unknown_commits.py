"""The line to Postgres is cut around a COMMIT: nobody knows whether it counted, so the step runs from the start."""

from itertools import count

import pytest
from django.db import InterfaceError, OperationalError, connection

from ledger.models import Cluster
from tests.faults import scene
from tests.faults.proxy import Proxy, through_a_proxy, type_cut
from tests.faults.steps import categorize, take
from tests.faults.test_crashes import AFTER, set_out, told

STEPS = {"take": take, "categorize": categorize}


def runs_through(step: str, given: tuple[object, ...], proxy: Proxy) -> bool:
    """Run the step and return whether it was not cut."""
    try:
        STEPS[step](*given)
    except (OperationalError, InterfaceError):
        return False
    finally:
        connection.close()
    return proxy.cuts == 0


@pytest.mark.parametrize("cut", ["before", "sent", "answered"])
@pytest.mark.parametrize("step", STEPS)
def test_a_commit_whose_outcome_is_unknown_is_run_again(transactional_db: None, step: str, cut: type_cut) -> None:
    for place in count(1):
        given = set_out(step)
        with through_a_proxy() as proxy:
            proxy.arm(cut, place)
            done = runs_through(step, given, proxy)
            assert proxy.cuts == (not done)
        STEPS[step](*given)
        scene.prove(Cluster.objects.get(pk=given[0]), told(step), AFTER, f"{step} cut at COMMIT {place}, {cut}")
        if done:
            break
    assert place > (1 if step == "take" else 5)
