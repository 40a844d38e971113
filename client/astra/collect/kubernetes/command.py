"""`astra collect kubernetes`."""

from __future__ import annotations

import os
import socket

import click

from astra.api import Api
from astra.asking import Trouble, checked_address, checked_token
from astra.collect.agent import Agent, folder_of
from astra.collect.commands import agent_options
from astra.collect.kubernetes.access import Access, Wish, find_access
from astra.collect.kubernetes.agent import Kubernetes, Settings
from astra.collect.kubernetes.leases import LeaseName
from astra.collect.kubernetes.mapping import Mapping
from astra.collect.kubernetes.memory import Memory
from astra.collect.kubernetes.nodes import POOL_LABELS
from astra.collect.kubernetes.places import Places
from astra.collect.kubernetes.podlogs import PodLogs
from astra.collect.source import SourceError

USER_LABELS = ("user", "owner", "created-by", "hub.jupyter.org/username")
MEMORY = "workers.jsonl"
PLACES = "logs.jsonl"


@click.command("kubernetes")
@agent_options
@click.option(
    "--kubeconfig", default="", help="A kubeconfig file; else KUBECONFIG, the cluster around it, ~/.kube/config."
)
@click.option("--context", default="", help="The kubeconfig's context; else its current one.")
@click.option("--namespace", "namespaces", multiple=True, help="Only this namespace; may be said again.")
@click.option(
    "--pool-label",
    "pools",
    multiple=True,
    envvar="ASTRALYX_POOL_LABELS",
    help="A node label whose value is the pool, before the well-known ones; may be said again.",
)
@click.option(
    "--user-label",
    "users",
    multiple=True,
    envvar="ASTRALYX_USER_LABELS",
    help="A label or annotation of jobs whose value is the user, before the well-known ones; may be said again.",
)
@click.option("--gpu-resource", "resources", multiple=True, help="One more resource name that counts GPUs.")
@click.option(
    "--lease",
    default="",
    envvar="ASTRALYX_LEASE",
    metavar="[NAMESPACE/]NAME",
    help="Who holds this Lease speaks, others stand by; in a cluster astra-collect-CLUSTER, elsewhere none.",
)
@click.option("--no-lease", is_flag=True, help="Speak without a lease.")
@click.option("--logs/--no-logs", "pod_logs", default=True, help="Read the logs of pods whose runs have a log profile.")
def command(
    agent: Agent,
    kubeconfig: str,
    context: str,
    namespaces: tuple[str, ...],
    pools: tuple[str, ...],
    users: tuple[str, ...],
    resources: tuple[str, ...],
    lease: str,
    no_lease: bool,
    pod_logs: bool,
) -> None:
    """Watch a cluster's pods, nodes and training jobs."""
    try:
        access = find_access(Wish(kubeconfig, context), os.environ)
    except SourceError as error:
        raise Trouble(str(error)) from None
    name = f"kubernetes/{agent.cluster}"
    passing = agent.once or agent.dry_run

    def mapping() -> Mapping:
        return Mapping(
            pool_labels=_first(pools, POOL_LABELS),
            resources=resources,
            user_labels=_first(users, USER_LABELS),
            workspace=agent.workspaces.of,
            memory=Memory(None if passing else folder_of(agent.spool, name) / MEMORY),
        )

    at = None if no_lease or passing else lease_name(lease, access, agent.cluster)
    settings = Settings(namespaces, at, f"{socket.gethostname()}_{os.getpid()}")
    logs = None
    if pod_logs and not passing and agent.token:
        server = Api(checked_address(agent.api), checked_token(agent.token), patience=0)
        logs = PodLogs(access, server, lambda: Places(folder_of(agent.spool, name) / PLACES))
    agent.work(Kubernetes(name, access, mapping, settings, logs=logs))


def _first(said: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that were said, each maybe several with commas between, before the known ones."""
    own = [label.strip() for one in said for label in one.split(",")]
    return tuple(dict.fromkeys((*filter(None, own), *known)))


def lease_name(said: str, access: Access, cluster: str) -> LeaseName | None:
    """Return the lease that was said; in a cluster one in the agent's own namespace; else none."""
    namespace, _, name = said.rpartition("/")
    if not name and access.namespace:
        name = f"astra-collect-{cluster}".lower()
    if not name:
        return None
    return LeaseName(namespace or access.namespace or "default", name)
