"""Ledgers as metrics: families of gauges, and how they are written for Prometheus and for OpenMetrics.

They are written here and not by prometheus-client, which takes eight times as long for the 36,000 samples of 2,000
machines. Names are kept as they are and escaped. There is no sample of a ratio where nothing was held.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from prometheus_client.exposition import choose_encoder

from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR
from ledger.queries.scrape import KINDS, WINDOWS, GoingRun, Judged, Scrape, Spent

NAMES_MAX = 5_000
OTHER = "_other"
CATEGORIES = tuple(f',category="{category.label}"}} ' for category in Category)
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Key = TypeVar("Key", str, tuple[str, str])


@dataclass(slots=True)
class Family:
    """A gauge and its samples as they are written, no two with the same labels."""

    name: str
    help: str
    lines: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        self.lines.append(f"{self.name}{{{labels}}} {value!r}\n")

    def add_categories(self, labels: str, amounts: Iterable[int]) -> None:
        """Add a sample of each category, GPU-hours of GPU-microseconds: all at once, for there are many."""
        opening = f"{self.name}{{{labels}"
        self.lines += [
            f"{opening}{category}{amount / GPU_US_PER_HOUR!r}\n" if amount else f"{opening}{category}0.0\n"
            for category, amount in zip(CATEGORIES, amounts, strict=True)
        ]


def families(seen: Scrape, names_max: int = NAMES_MAX) -> Iterator[Family]:
    """Yield what a scrape shows: of each kind the `names_max` names with the most GPU time, the rest as `_other`."""
    ratio = Family(
        "astraeus_goodput_ratio",
        "Productive / held GPU time, in the running UTC hour or in the 24 hours that end with it.",
    )
    hours = Family(
        "astraeus_goodput_gpu_hours",
        "GPU-hours by category, held and waited for, in the running UTC hour or in the 24 hours that end with it.",
    )
    dropped = {}
    for kind in KINDS:
        of_day = seen.spent.get((kind, "day"), {})
        kept = largest(of_day, names_max)
        dropped[kind] = len(of_day) - len(kept)
        for window in WINDOWS:
            for name, spent in folded(seen.spent.get((kind, window), {}), kept).items():
                add(ratio, hours, labels(scope=kind, name=name, window=window), spent)
    yield from (ratio, hours)
    runs = by_label(seen.runs)
    kept_runs = largest(runs, names_max)
    yield from of_runs(folded_runs(runs, kept_runs))
    yield stalled(seen.stalled)
    yield straggling(seen.straggling)
    yield judged(seen.judged)
    yield not_shown({**dropped, "run": len(runs) - len(kept_runs)})


def of_runs(runs: Mapping[tuple[str, str], Spent]) -> Iterator[Family]:
    """Yield the families of runs, by (workspace, label)."""
    hours = Family(
        "astraeus_run_goodput_gpu_hours",
        "GPU-hours by category of a run that goes on, since it was submitted.",
    )
    ratio = Family(
        "astraeus_run_goodput_ratio",
        "Productive / held GPU time of a run that goes on, since it was submitted.",
    )
    for (workspace, run), spent in runs.items():
        add(ratio, hours, labels(namespace=workspace, run=run), spent)
    yield from (hours, ratio)


def add(ratio: Family, hours: Family, labels: str, spent: Spent) -> None:
    """Add the samples of one name."""
    if spent.goodput is not None:
        ratio.add(labels, spent.goodput)
    hours.add_categories(labels, spent.amounts)


def labels(**values: str) -> str:
    """Return labels as they are written, whatever is in their values."""
    return ",".join([f'{name}="{escaped(value)}"' for name, value in values.items()])


def escaped(value: str) -> str:
    """Return the value of a label as it is written; hardly one has anything to escape."""
    return value.translate(ESCAPES) if "\\" in value or '"' in value or "\n" in value else value


def stalled(workers: Mapping[str, int]) -> Family:
    family = Family("astraeus_workers_stalled", "Workers that hold GPUs and are stalled now.")
    for name, count in workers.items():
        family.add(labels(namespace=name), count)
    return family


def straggling(runs: Mapping[str, int]) -> Family:
    family = Family("astraeus_runs_with_straggler", "Runs with a worker that is slower than its gang now.")
    for name, count in runs.items():
        family.add(labels(namespace=name), count)
    return family


def judged(figures: Iterable[Judged]) -> Family:
    family = Family(
        "astraeus_run_threshold_met",
        "Whether a run that ended within a day reached what it had to reach by its logs: 1 or 0.",
    )
    written_once = set()
    for workspace, name, uid, figure, met in figures:
        of = labels(namespace=workspace, run=name, figure=figure)
        if of in written_once:
            of = labels(namespace=workspace, run=f"{name}/{uid}", figure=figure)
        written_once.add(of)
        family.add(of, int(met))
    return family


def not_shown(counts: Mapping[str, int]) -> Family:
    family = Family(
        "astraeus_goodput_dropped_names",
        "Names without samples of their own, for there are too many: they are summed as _other.",
    )
    for kind, count in counts.items():
        family.add(labels(scope=kind), count)
    return family


def by_label(runs: Iterable[GoingRun]) -> dict[tuple[str, str], Spent]:
    """Return the runs by (workspace, label): the name, or name/uid where several of one workspace share a name."""
    of = list(runs)
    shared = Counter((run.workspace, run.name) for run in of)
    labelled: dict[tuple[str, str], Spent] = {}
    for run in of:
        label = run.name if shared[run.workspace, run.name] == 1 else f"{run.name}/{run.uid}"
        add_up(labelled, (run.workspace, label), run.spent)
    return labelled


def add_up(found: dict[Key, Spent], key: Key, spent: Spent) -> None:
    """Add what was spent to what stands under a key."""
    found[key] = found[key].together(spent) if key in found else spent


def largest(spent: Mapping[Key, Spent], most: int) -> set[Key]:
    """Return the `most` names with the most GPU time asked for."""
    if len(spent) <= most:
        return set(spent)
    return set(sorted(spent, key=lambda name: (-spent[name].asked, name))[:most])


def folded(spent: Mapping[str, Spent], kept: set[str]) -> dict[str, Spent]:
    """Return what was spent by name, in their order, by those that are not kept together."""
    found: dict[str, Spent] = {}
    for name in sorted(spent):
        add_up(found, name if name in kept else OTHER, spent[name])
    return found


def folded_runs(runs: Mapping[tuple[str, str], Spent], kept: set[tuple[str, str]]) -> dict[tuple[str, str], Spent]:
    """Return what was spent by runs, in their order, by those of a workspace that are not kept together."""
    found: dict[tuple[str, str], Spent] = {}
    for workspace, label in sorted(runs):
        add_up(found, (workspace, label if (workspace, label) in kept else OTHER), runs[workspace, label])
    return found


def exposition(of: Iterable[Family], accept: str) -> tuple[bytes, str]:
    """Return (text, content type) of families, in the form that an Accept header asks for."""
    content_type = choose_encoder(accept)[1]
    end = "# EOF\n" if content_type.startswith("application/openmetrics-text") else ""
    return "".join([*map(written, of), end]).encode(), content_type


def written(family: Family) -> str:
    """Return the lines of a family; both formats write gauges alike."""
    return "".join([f"# HELP {family.name} {family.help}\n# TYPE {family.name} gauge\n", *family.lines])
