"""Which resources are read, under which paths, and what of their objects is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Resource(NamedTuple):
    """A kind as the mapping calls it, and where its objects are: the first of the versions that the server has."""

    kind: str
    group: str
    versions: tuple[str, ...]
    plural: str
    in_namespaces: bool = True

    @property
    def name(self) -> str:
        """The name that a role gives rights to."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, version: str, namespace: str = "") -> str:
        root = f"/apis/{self.group}/{version}" if self.group else f"/api/{version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if namespace else f"{root}/{self.plural}"


KUBEFLOW = "kubeflow.org"
# In the order in which what is seen at once is taken: owners before what they own.
RESOURCES = (
    Resource("Node", "", ("v1",), "nodes", in_namespaces=False),
    Resource("ResourceClaim", "resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "resourceclaims"),
    Resource("TrainJob", "trainer.kubeflow.org", ("v1alpha1", "v1beta1", "v1"), "trainjobs"),
    Resource("JobSet", "jobset.x-k8s.io", ("v1alpha2", "v1beta1", "v1"), "jobsets"),
    Resource("PyTorchJob", KUBEFLOW, ("v1",), "pytorchjobs"),
    Resource("TFJob", KUBEFLOW, ("v1",), "tfjobs"),
    Resource("MPIJob", KUBEFLOW, ("v1", "v2beta1"), "mpijobs"),
    Resource("MXJob", KUBEFLOW, ("v1",), "mxjobs"),
    Resource("PaddleJob", KUBEFLOW, ("v1",), "paddlejobs"),
    Resource("XGBoostJob", KUBEFLOW, ("v1",), "xgboostjobs"),
    Resource("JAXJob", KUBEFLOW, ("v1",), "jaxjobs"),
    Resource("VolcanoJob", "batch.volcano.sh", ("v1alpha1",), "jobs"),
    Resource("Job", "batch", ("v1",), "jobs"),
    Resource("Workload", "kueue.x-k8s.io", ("v1beta1", "v1beta2", "v1"), "workloads"),
    Resource("Pod", "", ("v1",), "pods"),
)
RANK = {resource.kind: place for place, resource in enumerate(RESOURCES)}

NEVER_KEPT = frozenset(
    {
        "args", "command", "env", "envFrom", "lifecycle", "livenessProbe", "managedFields", "readinessProbe",
        "securityContext", "startupProbe", "tolerations", "affinity", "volumeDevices", "volumeMounts", "volumes",
        "imagePullSecrets", "image", "imageID", "containerID", "message",
    }
)  # fmt: skip
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def slim(of: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without what is never read: what programs are given to run with, and the like."""
    metadata = {key: value for key, value in (of.get("metadata") or {}).items() if key != "managedFields"}
    if isinstance(annotations := metadata.get("annotations"), dict) and APPLIED in annotations:
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != APPLIED}
    return {
        "kind": of.get("kind"),
        "metadata": metadata,
        "spec": _without(of.get("spec")),
        "status": _status(of.get("status")),
    }


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(inner) for key, inner in value.items() if key not in NEVER_KEPT}
    return [_without(inner) for inner in value] if isinstance(value, list) else value


def _status(status: Any) -> Any:
    """A job's conditions keep their messages: people are shown them. Those of pods and nodes do not."""
    if not isinstance(status, dict):
        return status
    kept = {key: _without(value) for key, value in status.items() if key not in NEVER_KEPT}
    if "conditions" in status and "containerStatuses" not in status and "nodeInfo" not in status:
        kept["conditions"] = status["conditions"]
    return kept
