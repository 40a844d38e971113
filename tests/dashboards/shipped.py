"""A log for a run of the world: two attempts, checkpoints, a rank that prints twice, and a threshold."""

from ledger.logs.layouts import EPOCH, MICROSECOND
from ledger.measuring.begin import Wish, begin
from ledger.measuring.delivery import deliver
from ledger.measuring.windows import Window
from ledger.models import Run

STEP = "completed step: {}, seconds: {:.1f}, TFLOP/s/device: {:.1f}, loss: 3.1"


def stamp(ms: int) -> str:
    moment = EPOCH + ms * 1_000 * MICROSECOND
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ship(uid: str, now: int) -> Run:
    """Ship four hours of a run's log, up to `now` (ms)."""
    run = Run.objects.get(uid=uid)
    begin(run.pk, Wish("maxtext", thresholds={"goodputRatio": "value >= 0.85"}))
    begun = now - 4 * 3_600_000
    first = [(0, "System Information: Jax Version: 0.4.30")]
    first += [(600 + 30 * n, STEP.format(n, 29 + n % 5, 130 + n % 7)) for n in range(200)]
    first += [(600 + 30 * n + 20, f"saved a checkpoint at step {n}") for n in range(50, 200, 50)]
    second = [(7200, "System Information: Jax Version: 0.4.30"), (7205, "restoring from this run's directory step 150")]
    second += [(7500 + 30 * n, STEP.format(151 + n, 29 + n % 4, 133 + n % 7)) for n in range(200)]
    for attempt, lines in enumerate((sorted(first), sorted(second)), 1):
        texts = [f"{stamp(begun + 1_000 * at)} {line}".encode() for at, line in lines]
        deliver(run.pk, uid, run.cluster_id, Window(attempt, "worker-0", texts, 0), None, None, now)
    return run
