"""The weekly digest: the goodput of the week that is over, its biggest losses, and its bar."""

from datetime import UTC, datetime, timedelta

from django.template.loader import render_to_string

from ledger import queries
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.pictures import bar
from ledger.core.totals import Ledger
from ledger.core.windows import HOUR, WEEK, Window, floor_week
from ledger.models import Channel, Delivery
from ledger.notify.message import Message
from ledger.writing.alerts import gpu_hours, percent

SENT_AFTER = 7 * HOUR  # Monday 07:00 UTC: every hour of the week is final, and people come to work
RUNS = 5


def put_digests(now: int) -> int:
    """Note the digest of the week that is over for each channel that wants it, once; return how many."""
    monday = floor_week(now)
    if now - monday < SENT_AFTER:
        return 0
    begin = datetime.fromtimestamp(monday // 1000, UTC)
    wanted = Channel.objects.filter(kind="email", digest=True, made_at__lt=begin + timedelta(milliseconds=SENT_AFTER))
    event = event_of(monday - WEEK)
    missing = wanted.exclude(delivery__event=event).order_by("pk")
    made = [Delivery(channel=channel, event=event) for channel in missing]
    Delivery.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)


def event_of(monday: int) -> str:
    """Return the name of a week's digest, with its first day: "digest 2026-09-21"."""
    return f"digest {datetime.fromtimestamp(monday // 1000, UTC):%Y-%m-%d}"


def window_of(event: str) -> Window:
    start = int(datetime.fromisoformat(f"{event.removeprefix('digest ')}T00:00:00+00:00").timestamp() * 1000)
    return Window(start, start + WEEK)


def digest_of(key: str, event: str, workspace: str, scope: Scope, base: str) -> Message:
    """Return the digest of a week of a workspace; `base` is the address of its pages ("": not known)."""
    window = window_of(event)
    answer = queries.goodput(scope, window, by="run", limit=RUNS)
    before = queries.goodput(scope, window.before(), limit=1).total
    week = event.removeprefix("digest ")
    told = {
        "workspace": workspace,
        "week": week,
        "goodput": goodput(answer.total),
        "before": goodput(before),
        "held": gpu_hours(answer.total.allocated),
        "productive": gpu_hours(answer.total.productive),
        "waiting": gpu_hours(answer.total.waiting),
        "losses": losses(answer.total),
        "runs": [(row.name, gpu_hours(row.ledger.asked - row.ledger.productive)) for row in answer.rows],
        "link": f"{base}/goodput?start={week}T00:00:00Z&end={iso_day(window.end)}T00:00:00Z" if base else "",
    }
    return Message(
        key=key,
        event="digest",
        title=f"Goodput of {workspace}: {told['goodput']} in the week from {week}",
        text=render_to_string("notify/digest.txt", told).strip(),
        html=render_to_string("notify/digest.html", told),
        images={"bar": bar(answer.total.amounts)},
    )


def goodput(of: Ledger) -> str:
    return percent(of.productive, of.allocated) if of.allocated else "–"


def losses(of: Ledger) -> list[tuple[str, str]]:
    """Return the three categories that took the most, the largest first."""
    lost = [(amount, category) for category, amount in zip(Category, of.amounts, strict=True)]
    largest = sorted((pair for pair in lost if pair[0] and pair[1] is not Category.PRODUCTIVE), reverse=True)
    return [(category.label, gpu_hours(amount)) for amount, category in largest[:3]]


def iso_day(at: int) -> str:
    return f"{datetime.fromtimestamp(at // 1000, UTC):%Y-%m-%d}"
