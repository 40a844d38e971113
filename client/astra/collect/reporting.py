"""What an agent says of itself: a line of log a minute, and metrics for Prometheus on the loopback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from astra.collect.items import now
from astra.collect.outbox import Outbox
from astra.collect.spool import SpoolBroken

log = logging.getLogger("astra.collect")
LINE_SECONDS = 60.0
PREFIX = "astra_collect_"


class Reporting:
    """Says the difference to the last line."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.items = self.batches = 0

    def line(self) -> None:
        """Write one line: what was sent since the last, what waits, and since when."""
        told = self.outbox.told
        items, batches = told.items - self.items, told.batches - self.batches
        self.items, self.batches = told.items, told.batches
        try:
            held = self.outbox.spool.held()
        except SpoolBroken:
            return
        age = 0.0 if held.oldest is None else (now() - held.oldest).total_seconds()
        log.info(
            "%s: %d new items in %d batches; %d batches wait (%d bytes, oldest %.0f s old); refused %d, dropped %d.",
            self.outbox.name, items, batches, held.records, held.size, age, told.refused,
            told.dropped_readings + told.dropped_states,
        )  # fmt: skip


def serve(port: int, outbox: Outbox) -> Any:
    """Serve the agent's metrics at http://127.0.0.1:PORT/metrics; return its server and thread.

    Raises OSError when the port is taken.
    """
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(outbox))
    return start_http_server(port, addr="127.0.0.1", registry=registry)


class _Collector:
    """The agent's figures at the instant of a scrape."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        told, held = self.outbox.told, self.outbox.spool.held()
        age = 0.0 if held.oldest is None else max(0.0, (now() - held.oldest).total_seconds())
        dropped = told.dropped_readings + told.dropped_states
        yield GaugeMetricFamily(f"{PREFIX}spool_bytes", "Bytes that wait on the disk.", value=held.size)
        yield GaugeMetricFamily(f"{PREFIX}spool_batches", "Batches that wait on the disk.", value=held.records)
        yield GaugeMetricFamily(f"{PREFIX}spool_oldest_seconds", "Age of the oldest that waits.", value=age)
        for name, what, value in (
            ("items", "Items that were new to the server.", told.items),
            ("batches", "Batches that the server took.", told.batches),
            ("late_items", "Readings that came after a newer one.", told.late),
            ("refused_items", "Items that the server refused.", told.refused),
            ("refused_batches", "Batches that the server refused and that were put aside.", told.aside),
            ("dropped_items", "Items that went because the spool was full.", dropped),
            ("failures", "Deliveries that failed and are tried again.", told.failures),
        ):
            yield CounterMetricFamily(f"{PREFIX}{name}", what, value=value)
        if told.succeeded_at is not None:
            at = told.succeeded_at.timestamp()
            yield GaugeMetricFamily(f"{PREFIX}last_success_timestamp_seconds", "The last taken batch.", value=at)
