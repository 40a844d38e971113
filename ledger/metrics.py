"""Ledgers as metrics: families of gauges, and how they are written for Prometheus and for OpenMetrics.

They are written here and not by prometheus-client, which takes thirty times as long for the 36,000 samples of 2,000
machines. Names are kept as they are and escaped. There is no sample of a ratio where nothing was held.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from prometheus_client.exposition import choose_encoder

from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR
from ledger.queries.scrape import KINDS, WINDOWS, Judged, Name, Scrape, Spent

NAMES_MAX = 5_000
OTHER = "_other"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
C1, C2, C3, C4, C5, C6, C7, C8 = (f',category="{category.label}"}} ' for category in Category)


@dataclass(slots=True)
class Family:
    """A gauge and its samples as they are written, no two with the same labels."""

    name: str
    help: str
    lines: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        self.lines.append(f"{self.name}{{{labels}}} {value!r}\n")

    def add_all(self, labels: Iterable[str], values: list[float | None]) -> None:
        """Add samples, but none of what is None: all at once, for there are many."""
        opening = f"{self.name}{{"
        figures = zip(labels, numbers(values), strict=True)
        self.lines += [f"{opening}{of}}} {figure}\n" for of, figure in figures if figure != "null"]

    def add_categories(self, labels: Iterable[str], amounts: Iterable[Sequence[int]]) -> None:
        """Add a sample of each category, GPU-hours of GPU-microseconds: all at once, for there are many more."""
        openings = [f"{self.name}{{{of}" for of in labels]
        columns = [gpu_hours(column) for column in amounts]
        self.lines += [
            f"{o}{C1}{a}\n{o}{C2}{b}\n{o}{C3}{c}\n{o}{C4}{d}\n{o}{C5}{e}\n{o}{C6}{f}\n{o}{C7}{g}\n{o}{C8}{h}\n"
            for o, a, b, c, d, e, f, g, h in zip(openings, *columns, strict=True)
        ]


def gpu_hours(amounts: Sequence[int]) -> Sequence[str]:
    """Return GPU-microseconds as GPU-hours; many a column is nothing but zeros."""
    return numbers([amount / GPU_US_PER_HOUR for amount in amounts]) if any(amounts) else ["0.0"] * len(amounts)


def numbers(values: Sequence[float | None]) -> list[str]:
    """Return numbers in the fewest digits that tell each from all others, as `repr` does in six times the time."""
    return msgspec.json.encode(values)[1:-1].decode().split(",") if values else []


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
        kept = largest(seen.spent[kind, "day"], names_max)
        dropped[kind] = len(seen.spent[kind, "day"].names) - len(kept)
        for window in WINDOWS:
            spent = seen.spent[kind, window]
            shown = spent.under([of if of in kept else OTHER for of in spent.names]) if dropped[kind] else spent
            add(ratio, hours, [f'scope="{kind}",name="{escaped(of)}",window="{window}"' for of in shown.names], shown)
    yield from (ratio, hours)
    runs = seen.runs.under(called(seen.runs.names))
    kept_runs = largest(runs, names_max)
    yield from of_runs(runs.under([of if of in kept_runs else (of[0], OTHER) for of in runs.names]))
    yield stalled(seen.stalled)
    yield straggling(seen.straggling)
    yield judged(seen.judged)
    yield not_shown({**dropped, "run": len(runs.names) - len(kept_runs)})


def of_runs(runs: Spent[tuple[str, str]]) -> Iterator[Family]:
    """Yield the families of runs, by (workspace, label)."""
    hours = Family(
        "astraeus_run_goodput_gpu_hours",
        "GPU-hours by category of a run that goes on, since it was submitted.",
    )
    ratio = Family(
        "astraeus_run_goodput_ratio",
        "Productive / held GPU time of a run that goes on, since it was submitted.",
    )
    add(ratio, hours, [f'namespace="{escaped(of)}",run="{escaped(run)}"' for of, run in runs.names], runs)
    yield from (hours, ratio)


def add(ratio: Family, hours: Family, labels: Sequence[str], spent: Spent[Any]) -> None:
    """Add the samples of what was spent, each with its labels."""
    ratio.add_all(labels, spent.goodput)
    hours.add_categories(labels, spent.amounts)


def largest(spent: Spent[Name], most: int) -> set[Name]:
    """Return the `most` names with the most GPU time asked for."""
    if len(spent.names) <= most:
        return set(spent.names)
    ranked = sorted(zip(spent.asked, spent.names, strict=True), key=lambda of: (-of[0], of[1]))
    return {name for _, name in ranked[:most]}


def called(runs: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return the (workspace, label) of runs: the name, or name/uid where several of one workspace share a name."""
    shared = Counter((workspace, name) for workspace, name, _ in runs)
    return [(of, name if shared[of, name] == 1 else f"{name}/{uid}") for of, name, uid in runs]


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


def exposition(of: Iterable[Family], accept: str) -> tuple[bytes, str]:
    """Return (text, content type) of families, in the form that an Accept header asks for."""
    content_type = choose_encoder(accept)[1]
    end = "# EOF\n" if content_type.startswith("application/openmetrics-text") else ""
    return "".join([*map(written, of), end]).encode(), content_type


def written(family: Family) -> str:
    """Return the lines of a family; both formats write gauges alike."""
    return "".join([f"# HELP {family.name} {family.help}\n# TYPE {family.name} gauge\n", *family.lines])
