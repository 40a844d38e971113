"""What the commands on a cluster share: which clusters, which window, and how to say that a name is wrong."""

import argparse
from datetime import UTC, datetime

from django.core.management.base import CommandError
from django.db.models import QuerySet

from ledger.models import Cluster


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--organization", help="only the clusters of this organization")
    parser.add_argument("--cluster", help="only clusters of this name")


def chosen_clusters(organization: str | None, cluster: str | None) -> QuerySet[Cluster]:
    """Return the clusters that were asked for. Raises CommandError when there is none, naming those there are."""
    clusters = Cluster.objects.select_related("organization").order_by("organization__name", "name")
    found = clusters
    if organization:
        found = found.filter(organization__name=organization)
    if cluster:
        found = found.filter(name=cluster)
    if not found.exists():
        names = ", ".join(str(each) for each in clusters) or "none yet: make one with create_cluster ORG NAME"
        raise CommandError(f"There is no such cluster. Clusters: {names}.")
    return found


def instant(text: str) -> int:
    """Return an ISO 8601 instant as ms; one without a zone is UTC. Raises argparse's error when it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no instant such as 2026-11-01T12:00:00Z") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
