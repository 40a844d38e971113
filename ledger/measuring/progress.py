"""Steps that a log tells of, as readings: what feeds stalls and stragglers."""

from collections.abc import Iterable, Iterator

from ledger.batches import Batch, ReadingItem
from ledger.core.streams import Doing
from ledger.core.windows import DAY
from ledger.decode.values import STEP_SECONDS_MAX
from ledger.logs.events import Event, Kind
from ledger.models import Worker

RECENT = 5
APART_MS = 10_000
KEPT_DAYS = 399
AHEAD_MS = 60_000


def batch(uid: str, worker: str, events: Iterable[Event], now: int, seen_at: int | None, run: int) -> Batch:
    """Return the readings of a worker's steps: the newest few, and before them one each ten seconds; and its saves.

    `seen_at` (ms): its process was still seen then, so the last step it told is told again.
    """
    told = [(at, event) for at, event in stepped(events) if now - KEPT_DAYS * DAY <= at <= now + AHEAD_MS]
    found = Batch(f"logs/{uid}"[:253], now)
    last, index, step = -1, 0, step_of(run, worker)
    for place, (at, event) in enumerate(told):
        saving = event.kind is Kind.SAVE
        step = step if saving else event.step
        if step is not None and at > last and (saving or at - last >= APART_MS or place >= len(told) - RECENT):
            doing = Doing.CHECKPOINT if saving else Doing.NONE
            took = None if saving else step_ms(event)
            found.readings.append(ReadingItem(index, uid, worker, at, None, None, step, took, doing=doing))
            last, index = at, index + 1
    if seen_at is not None and seen_at > last and seen_at <= now + AHEAD_MS:
        doing = found.readings[-1].doing if found.readings else doing_of(run, worker)
        if step is not None:
            found.readings.append(ReadingItem(index, uid, worker, seen_at, None, None, step, None, doing=doing))
    return found


def stepped(events: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Yield the training steps that have a number and the beginnings of checkpoints, by their instants in ms.

    No progress is expected while a checkpoint is saved; the next step says that it is over.
    """
    told = [
        e for e in events if e.at is not None and (e.kind is Kind.SAVE or (e.kind is Kind.STEP and e.step is not None))
    ]
    for event in sorted(told, key=lambda one: (one.at or 0, one.kind is Kind.SAVE, one.step or 0)):
        yield (event.at or 0) // 1_000, event


def step_ms(event: Event) -> int | None:
    if event.took is None or event.took > STEP_SECONDS_MAX * 1_000_000:
        return None
    return round(event.took / 1_000)


def step_of(run: int, worker: str) -> int | None:
    """Return the last step that a worker told."""
    return Worker.objects.filter(run=run, name=worker).values_list("step", flat=True).first()


def doing_of(run: int, worker: str) -> Doing:
    """Return what a worker said it was doing when it told its last step."""
    found = Worker.objects.filter(run=run, name=worker).values_list("doing", flat=True).first()
    return Doing(found or 0)
