"""Expositions as the reference parsers read them."""

from collections import Counter
from math import isfinite

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from ledger.core.totals import GPU_US_PER_HOUR

Key = tuple[str, frozenset[tuple[str, str]]]
Samples = dict[Key, float]


def samples(text: str) -> Samples:
    """Samples by name and labels, of text 0.0.4 or, with its last line, of OpenMetrics."""
    parse = (
        openmetrics_parser.text_string_to_metric_families
        if text.endswith("# EOF\n")
        else parser.text_string_to_metric_families
    )
    found = [
        ((sample.name, frozenset(sample.labels.items())), sample.value)
        for family in parse(text)
        for sample in family.samples
    ]
    twice = [key for key, count in Counter(key for key, _ in found).items() if count > 1]
    assert twice == []
    assert all(isfinite(value) and value >= 0 for _, value in found)
    return dict(found)


def key(name: str, /, **labels: str) -> Key:
    return name, frozenset(labels.items())


def by(of: Samples, name: str, label: str, /, **labels: str) -> dict[str, float]:
    """The samples of a metric that have these labels, by another label."""
    wanted = set(labels.items())
    return {
        dict(of_labels)[label]: value
        for (of_name, of_labels), value in of.items()
        if of_name == name and wanted <= of_labels
    }


def gpu_us(hours: float) -> int:
    """The integer that an amount of GPU-hours was made of."""
    return round(hours * GPU_US_PER_HOUR)
