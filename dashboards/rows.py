"""The rows of a ledger page as its table shows them."""

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256

from dashboards.bars import Markup, bar, breakdown
from dashboards.filters import Shown
from dashboards.numbers import ABSENT, grouped, hours, share
from ledger.core.categories import DEFINITIONS, Category
from ledger.core.totals import Ledger, percent
from ledger.queries import Answer, Row

COLUMNS = (
    ("held", "Held", "GPU time on a machine"),
    ("productive", "Used", "productive: running, and its GPUs are busy"),
    ("goodput", "Goodput", "used / held"),
)
NUMBERS = (
    ("idle", "Idle"),
    ("stalled", "Stalled"),
    ("starting", "Start"),
    ("restart", "Restart"),
    ("failure", "Failure"),
    ("preemption", "Preempt"),
    ("waiting", "Waiting"),
)
NOBODY = "none"  # the row of all runs that name no user
NO_MACHINE = ("unplaced", "unknown")  # the rows of what is on no machine, or on one that nobody named
UID_SHOWN = 12
LEADS_TO = {"run": "machine", "machine": "run", "pool": "machine", "workspace": "run", "user": "run"}


@dataclass(frozen=True)
class Numbers:
    """A ledger's figures as texts; `picked` is that of the category the rows are sorted by, `rest` as in NUMBERS."""

    held: str
    used: str
    goodput: str
    lost: str
    picked: str
    rest: tuple[str, ...]


@dataclass(frozen=True)
class ShownRow:
    """A row ready to be shown; `href` is "" where there is nothing to go to, `key` stays the same over refreshes."""

    key: str
    name: str
    detail: str
    href: str
    numbers: Numbers
    bar: Markup
    breakdown: Markup


def shown_rows(answer: Answer, shown: Shown) -> tuple[ShownRow, ...]:
    """Return the answer's rows; on the scale "same" the longest of them takes the whole width."""
    names = Counter(row.name for row in answer.rows)
    longest = max((row.ledger.asked for row in answer.rows), default=0)
    return tuple(shown_row(row, shown, longest, repeated=names[row.name] > 1) for row in answer.rows)


def shown_row(row: Row, shown: Shown, longest: int, *, repeated: bool) -> ShownRow:
    ledger, href = row.ledger, target(row, shown)
    key = sha256(repr((shown.by, row.workspace, row.uid, row.pool, row.name)).encode()).hexdigest()[:12]
    return ShownRow(
        key=key,
        name=row.name,
        detail=detail(row, repeated=repeated),
        href=href,
        numbers=numbers(ledger, shown.category),
        bar=bar(ledger, longest if shown.scale == "same" else ledger.asked, key),
        breakdown=breakdown(ledger, href or shown.link(sort="-lost")),
    )


def total_row(answer: Answer, shown: Shown) -> ShownRow:
    """Return the row of all rows; its bar has the whole width to itself."""
    total = answer.total
    return ShownRow(
        key="total",
        name="Total",
        detail=f"of all {grouped(str(answer.count))}" if answer.count > len(answer.rows) else "",
        href="",
        numbers=numbers(total, shown.category),
        bar=bar(total, total.asked, "total"),
        breakdown=breakdown(total, shown.link(sort="-lost")),
    )


@dataclass(frozen=True)
class Part:
    """A category of the whole: its place in the legend, what it means, how much it was."""

    label: str
    definition: str
    fill: str
    hours: str
    share: str
    is_sorted: bool


def parts(whole: Ledger, shown: Shown) -> tuple[Part, ...]:
    """Return the eight categories in their order."""
    return tuple(
        Part(
            label=category.label,
            definition=DEFINITIONS[category],
            fill=f"{'unheld' if category is Category.WAITING else 'held'}-{category.label}",
            hours=hours(whole.amounts[category]),
            share=share(whole.amounts[category], whole.asked),
            is_sorted=shown.sort.lstrip("-") == category.label,
        )
        for category in Category
    )


def numbers(ledger: Ledger, category: Category | None) -> Numbers:
    return Numbers(
        held=hours(ledger.allocated),
        used=hours(ledger.productive),
        goodput=percent(ledger.goodput, ABSENT),
        lost=hours(ledger.lost),
        picked="" if category is None else hours(of_category(ledger, category)),
        rest=tuple(hours(of_category(ledger, Category[name.upper()])) for name, _ in NUMBERS),
    )


def of_category(ledger: Ledger, category: Category) -> int:
    """Return a column's amount: WAITING stands for every wait, the other columns for their category."""
    return ledger.waiting if category is Category.WAITING else ledger.amounts[category]


def detail(row: Row, *, repeated: bool) -> str:
    """Tell apart what has one name: a machine's pool, and the uid of runs that share theirs."""
    if not row.uid:
        return "" if row.name in NO_MACHINE else row.pool
    return row.uid[:UID_SHOWN] if repeated else ""


def target(row: Row, shown: Shown) -> str:
    """Return the address of what a row is made of."""
    deeper = LEADS_TO[shown.by]
    if shown.by == "workspace":
        return shown.link(by=deeper, q="", sort="-lost")
    if shown.by == "user" and row.name == NOBODY:
        return ""
    return shown.link(**{"by": deeper, "q": "", "sort": "-lost", shown.by: row.uid or row.name})
