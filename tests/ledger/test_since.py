"""Since when a worker is in its category: as long as nothing else was between, whatever else of it changed."""

from ledger import queries
from ledger.access import scope_of_organization
from ledger.models import Run, Span
from tests.ledger.conftest import East, reading, state
from tests.tables import at


def test_a_stall_began_with_the_last_progress_also_when_nobody_looks_any_more(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1, machine="gpu-1"))
    for moment, step in (("00:05", 1), ("00:10", 2), ("00:20", 2), ("00:40", 2)):
        east.send(moment, readings=[reading(moment, gpu_busy=1, step=step)])
    east.categorize("02:30")
    assert stalled(east) == [at("00:10")]
    assert Span.objects.filter(category=2).count() > 2  # observed, and not
    assert now(east) == {"w0": ("stalled", at("00:10"))}


def test_time_between_two_times_of_a_category_is_an_end_of_the_first(east: East) -> None:
    east.say("00:00", state("00:00", "pending", gpus=1), state("00:00", "pending", worker="w1", gpus=1))
    east.say("00:20", state("00:20", "ended"), state("00:20", "pending", worker="w1", gpus=2))
    east.say("00:30", state("00:30", "pending", gpus=1))
    east.categorize("00:31")
    assert now(east) == {"w0": ("waiting", at("00:30")), "w1": ("waiting", at("00:00"))}


def stalled(east: East) -> list[int]:
    return [worker.since for worker in queries.stalled_now(scope_of_organization(east.cluster.organization))]


def now(east: East) -> dict[str, tuple[str, int | None]]:
    run = queries.find_run(scope_of_organization(east.cluster.organization), Run.objects.get().uid)
    assert run is not None
    found = queries.run_workers(run)
    return {of.name: (of.category.label if of.category is not None else "", of.since) for of in found}
