"""`astra collect dcgm`."""

from __future__ import annotations

import click

from astra.asking import Asking
from astra.collect.agent import Agent
from astra.collect.commands import agent_options
from astra.collect.dcgm.ledger import HoldersNow
from astra.collect.dcgm.reading import Exporters, Prometheus, Reader
from astra.collect.dcgm.source import INTERVAL_SECONDS, Dcgm


@click.command("dcgm")
@agent_options
@click.option("--prometheus", envvar="ASTRALYX_PROMETHEUS", help="Address of a Prometheus that scrapes the exporters.")
@click.option("--prometheus-token", envvar="ASTRALYX_PROMETHEUS_TOKEN", default="", help="A bearer token for it.")
@click.option("--selector", default="", help='Only series with these labels, like cluster="east".')
@click.option("--exporter", "exporters", multiple=True, help="Address of an exporter, read directly; repeatable.")
@click.option(
    "--exporters",
    "behind",
    multiple=True,
    help="A name that stands for many exporters (a headless service), each read.",
)
@click.option(
    "--interval", envvar="ASTRALYX_INTERVAL", type=click.FloatRange(5, 240), default=INTERVAL_SECONDS,
    show_default=True, help="Seconds between readings.",
)  # fmt: skip
def command(
    agent: Agent, prometheus: str | None, prometheus_token: str, selector: str, exporters: tuple[str, ...],
    behind: tuple[str, ...], interval: float,
) -> None:  # fmt: skip
    """Read how busy GPUs are, from DCGM or AMD exporters or from the Prometheus that scrapes them."""
    if bool(prometheus) == bool(exporters or behind):
        raise click.UsageError("Say where GPUs are read: --prometheus, or --exporter and --exporters.")
    reader: Reader = Prometheus(prometheus, selector, prometheus_token) if prometheus else Exporters(exporters, behind)
    with Asking(agent.api, agent.token) as asking:
        holders = HoldersNow(asking, agent.cluster)
        agent.work(Dcgm(f"dcgm/{agent.cluster}", reader, holders.get, interval))
