"""What statements take of a scope."""

from typing import Any

from ledger.access import Scope


def seen(scope: Scope) -> dict[str, Any]:
    """Return the workspaces, and the cluster of those that are in one alone."""
    return {"workspaces": sorted(scope.workspaces), "cluster": scope.cluster, "in_cluster": scope.cluster != 0}
