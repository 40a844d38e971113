"""The rows of a ledger page as its table shows them.

A row's cells are made by f-string like its bar; what others have named is escaped.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.utils.html import escape

from dashboards.bars import Markup, bar
from dashboards.filters import Shown
from dashboards.numbers import ABSENT, grouped, hours, money, share
from dashboards.places import Place, Spots
from ledger.core.categories import DEFINITIONS, Category
from ledger.core.costs import Cost
from ledger.core.totals import Ledger, percent
from ledger.queries import Answer, Costs, Row

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
NO_PAGE = (*NO_MACHINE, "none")  # and of what is in no pool
UID_SHOWN = 12
LEADS_TO = {"run": "machine", "machine": "run", "pool": "machine", "workspace": "run", "user": "run"}


@dataclass(frozen=True)
class Numbers:
    """A ledger's figures as texts; `picked` is that of the category the rows are sorted by, `rest` as in NUMBERS.

    `cost` of what was held, and `wasted` of it on what was not productive: "" where no price is set.
    """

    held: str
    used: str
    goodput: str
    lost: str
    picked: str
    rest: tuple[str, ...]
    cost: str = ""
    wasted: str = ""


@dataclass(frozen=True)
class ShownRow:
    """A row ready to be shown; `href` is "" where there is nothing to go to, `key` stays the same over refreshes.

    `full`: GPU-microseconds that take the whole width of its bar; `deeper`: where the parts of the bar lead; `pk` is
    that of what it is of, 0 for a sum.
    """

    key: str
    name: str
    detail: str
    href: str
    numbers: Numbers
    ledger: Ledger
    full: int
    deeper: str
    pk: int = 0

    @property
    def bar(self) -> Markup:
        return bar(self.ledger, self.full, self.deeper)

    @property
    def named(self) -> Markup:
        """Its name, which leads where there is something to go to, and what tells it apart."""
        name = escape(self.name)
        to = f'<a id="name-{self.key}" href="{escape(self.href)}">{name}</a>' if self.href else name
        detail = f' <span class="detail">{escape(self.detail)}</span>' if self.detail else ""
        return Markup(f'<span class="name" title="{name}">{to}</span>{detail}')

    @property
    def bars_cells(self) -> Markup:
        """The cells of its line in a table of bars, after its name."""
        of = self.numbers
        columns = (("held", of.held), ("productive", of.used), ("goodput", of.goodput))
        picked = number("picked", of.picked) if of.picked else ""
        wasted = number("wasted", of.wasted) if of.wasted else ""
        before = "".join(number(name, text) for name, text in columns)
        return Markup(f'{before}<td class="went">{self.bar}</td>{picked}{number("lost", of.lost)}{wasted}')

    @property
    def numbers_cells(self) -> Markup:
        """The same in a table of numbers."""
        of = self.numbers
        rest = (number("zero" if text == "0.0" else "", text) for text in of.rest)
        cells = [number("", text) for text in (of.held, of.used, of.goodput)] + [*rest, number("", of.lost)]
        return Markup("".join(cells) + (number("", of.cost) + number("", of.wasted) if of.wasted else ""))


@dataclass(frozen=True)
class Leads:
    """Where rows of the page at `address` ("": this one) lead, seen from `place`.

    A run, a machine and a pool lead to their own pages; so does a workspace where `among` those of an organization.
    `narrows`: the page can be narrowed to what the parts of a bar are of. `several`: the organization has several
    clusters, in which machines and pools of one name are to be told apart.
    """

    organization: str
    place: Spots | None = None
    address: str = ""
    among: bool = False
    narrows: bool = True
    several: bool = False

    def cluster(self, row: Row, shown: Shown) -> str:
        """Return the cluster of a machine or a pool where it has to be said; "" where all of the page is in one."""
        return row.cluster if self.several and isinstance(self.place, Place) and not shown.cluster else ""

    def to(self, row: Row, shown: Shown) -> str:
        """Return the address of what a row is made of, "" where there is nothing to go to."""
        if shown.by == "run":
            return Place(self.organization, row.workspace).run(row.uid)
        if shown.by == "workspace" and self.among:
            return self.into(Place(self.organization, row.name), shown)
        if shown.by in ("machine", "pool") and row.name not in NO_PAGE and self.place:
            return self.place.spot(shown.by, row.name) + shown.elsewhere(self.cluster(row, shown) or shown.cluster)
        found = self.target(row, shown)
        return self.address + found if found else ""

    def into(self, workspace: Place, shown: Shown) -> str:
        """Return the address of the same page in a workspace, of the same cluster where there are others."""
        cluster = getattr(self.place, "cluster", "") if self.several else ""
        for kind, name in (("machine", shown.within.machine), ("pool", shown.within.pool)):
            if name:
                return workspace.spot(kind, name) + shown.elsewhere(cluster)
        return workspace.address + shown.link(by="run", q="", sort="-lost", cluster=cluster)

    def target(self, row: Row, shown: Shown) -> str:
        """Return the address of what a row is made of, on a page like this one; "" where there is nothing to go to."""
        deeper = LEADS_TO[shown.by]
        if shown.by == "workspace":
            return shown.link(by=deeper, q="", sort="-lost")
        if shown.by == "user" and row.name == NOBODY:
            return ""
        only = {shown.by: row.uid or row.name, "cluster": self.cluster(row, shown) or shown.cluster}
        return shown.link(**{"by": deeper, "q": "", "sort": "-lost", **only})

    def deeper(self, row: Row, shown: Shown) -> str:
        """Return where the parts of a row's bar lead, which sort by their category there."""
        return self.address + ((self.target(row, shown) if self.narrows else "") or shown.link(sort="-lost"))


def shown_rows(answer: Answer, shown: Shown, leads: Leads) -> tuple[ShownRow, ...]:
    """Return the answer's rows; on the scale "same" the longest of them takes the whole width."""
    longest = max((row.ledger.asked for row in answer.rows), default=0)
    leads = replace(leads, several=answer.clusters > 1)
    return rows_on_scale(answer.rows, shown, leads, longest, costs=answer.costs, start=answer.window.start)


def rows_on_scale(
    rows: Sequence[Row],
    shown: Shown,
    leads: Leads,
    longest: int,
    key: str = "",
    costs: Costs | None = None,
    start: int = 0,
) -> tuple[ShownRow, ...]:
    """Return rows; on the scale "same" `longest` GPU-microseconds take the whole width, `key` begins their keys."""
    alike: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        alike[row.name].append(row.uid)
    return tuple(
        ShownRow(
            key=key
            + sha256(repr((shown.by, row.workspace, row.uid, row.pool, row.cluster, row.name)).encode()).hexdigest()[
                :12
            ],
            pk=row.pk,
            name=row.name,
            detail=detail(row, alike[row.name], leads.cluster(row, shown)),
            href=leads.to(row, shown),
            numbers=numbers(row.ledger, shown.category, costs.of(row.pk, row.name, start) if costs else None),
            ledger=row.ledger,
            full=longest if shown.scale == "same" else row.ledger.asked,
            deeper=leads.deeper(row, shown),
        )
        for row in rows
    )


def total_row(answer: Answer, shown: Shown) -> ShownRow:
    """Return the row of all rows; its bar has the whole width to itself."""
    detail = f"of all {grouped(str(answer.count))}" if answer.count > len(answer.rows) else ""
    cost = answer.costs.whole if answer.costs else None
    return sum_row(answer.total, "Total", "total", shown, answer.total.asked, detail=detail, cost=cost)


def sum_row(
    total: Ledger,
    name: str,
    key: str,
    shown: Shown,
    full: int,
    *,
    detail: str = "",
    href: str = "",
    address: str = "",
    cost: Cost | None = None,
) -> ShownRow:
    """Return a row of a sum, on whose bar `full` GPU-microseconds take the whole width; its parts lead to `address`."""
    return ShownRow(
        key=key,
        name=name,
        detail=detail,
        href=href,
        numbers=numbers(total, shown.category, cost),
        ledger=total,
        full=full,
        deeper=address + shown.link(sort="-lost"),
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


def number(name: str, text: str) -> str:
    """Return a cell of a column of that name."""
    return f'<td class="num{" " if name else ""}{name}" data-n>{text}</td>'


def numbers(ledger: Ledger, category: Category | None, cost: Cost | None = None) -> Numbers:
    return Numbers(
        cost="" if cost is None else in_money(cost, cost.held),
        wasted="" if cost is None else in_money(cost, cost.not_productive),
        held=hours(ledger.allocated),
        used=hours(ledger.productive),
        goodput=percent(ledger.goodput, ABSENT),
        lost=hours(ledger.lost),
        picked="" if category is None else hours(of_category(ledger, category)),
        rest=tuple(hours(of_category(ledger, Category[name.upper()])) for name, _ in NUMBERS),
    )


def in_money(cost: Cost, amount: int) -> str:
    """Return an amount of it; absent where all that was held has no price, for that is not free."""
    return ABSENT if cost.unpriced and not cost.held else money(amount)


def of_category(ledger: Ledger, category: Category) -> int:
    """Return a column's amount: WAITING stands for every wait, the other columns for their category."""
    return ledger.waiting if category is Category.WAITING else ledger.amounts[category]


def detail(row: Row, alike: Sequence[str], cluster: str = "") -> str:
    """Tell apart what has one name: a machine's pool and its `cluster`, of runs their uids, which are `alike`."""
    if not row.uid:
        of = ("" if row.name in NO_MACHINE else row.pool, cluster)
        return " · ".join(filter(None, of))
    return apart(row.uid, alike) if len(alike) > 1 else ""


def apart(uid: str, alike: Sequence[str]) -> str:
    """Return so many signs of a uid that no other of `alike` has the same: of its beginning, else of its end."""
    if len({other[:UID_SHOWN] for other in alike}) == len(alike):
        return uid[:UID_SHOWN]
    ends = {other[-UID_SHOWN:] for other in alike}
    return f"…{uid[-UID_SHOWN:]}" if len(ends) == len(alike) and len(uid) > UID_SHOWN else uid
