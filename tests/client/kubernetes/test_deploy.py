"""What is shipped to run the agent in a cluster: it may read what it reads, and change nothing but its lease."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from astra.collect.kubernetes.reading import RULE
from astra.collect.kubernetes.resources import RESOURCES

FOLDER = Path(__file__).parents[3] / "deploy" / "kubernetes"


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def kind(name: str, of: str) -> list[dict[str, Any]]:
    return [one for one in documents(name) if one["kind"] == of]


def test_the_role_has_each_resource_that_is_read_and_no_other() -> None:
    (role,) = kind("rbac.yaml", "ClusterRole")
    given = {
        (group, resource) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]
    }
    assert given == {(one.group, one.plural) for one in RESOURCES}


def test_the_agent_may_read_only() -> None:
    (role,) = kind("rbac.yaml", "ClusterRole")
    assert all(rule["verbs"] == ["get", "list", "watch"] for rule in role["rules"])
    (own,) = kind("rbac.yaml", "Role")
    assert own["rules"] == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}
    ]
    told = (FOLDER / "rbac.yaml").read_text()
    assert "*" not in told
    assert "secrets" not in told


def test_the_right_to_read_logs_is_given_by_itself_and_bound_to_the_same_account() -> None:
    (role,), (binding,) = kind("logs.yaml", "ClusterRole"), kind("logs.yaml", "ClusterRoleBinding")
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}]
    assert RULE in (FOLDER / "logs.yaml").read_text()
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == kind("rbac.yaml", "ClusterRoleBinding")[0]["subjects"]


def test_the_roles_are_bound_to_the_account_that_the_agent_runs_as() -> None:
    (account,) = kind("rbac.yaml", "ServiceAccount")
    (stateful,) = documents("deployment.yaml")
    named = (account["metadata"]["name"], account["metadata"]["namespace"])
    pod = stateful["spec"]["template"]["spec"]
    assert (pod["serviceAccountName"], stateful["metadata"]["namespace"]) == named
    bindings = kind("rbac.yaml", "ClusterRoleBinding") + kind("rbac.yaml", "RoleBinding")
    assert len(bindings) == 2
    for binding in bindings:
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == named
        assert any(
            role["metadata"]["name"] == binding["roleRef"]["name"]
            for role in kind("rbac.yaml", binding["roleRef"]["kind"])
        )


def test_the_pod_is_closed_and_ends_in_time() -> None:
    (stateful,) = documents("deployment.yaml")
    pod = stateful["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (
        stateful["spec"]["selector"]["matchLabels"].items()
        <= stateful["spec"]["template"]["metadata"]["labels"].items()
    )
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert pod["terminationGracePeriodSeconds"] > 30, "an agent flushes for at most 30 s"
    mounts = {mount["name"] for mount in container["volumeMounts"]}
    volumes = {one["name"] for one in pod["volumes"]}
    assert mounts == volumes | {one["metadata"]["name"] for one in stateful["spec"]["volumeClaimTemplates"]}
    env = {one["name"]: one for one in container["env"]}
    assert env["ASTRALYX_SPOOL"]["value"] == "/spool"
    assert "value" not in env["ASTRALYX_TOKEN"], "it comes from a secret"
    assert container["args"] == ["collect", "kubernetes"]


def test_the_image_is_of_this_package_and_not_of_root() -> None:
    lines = (FOLDER / "Containerfile").read_text().splitlines()
    assert "COPY client /client" in lines
    assert any('"/client[kubernetes]"' in line for line in lines)
    assert "USER 65532:65532" in lines
    assert 'ENTRYPOINT ["/astra/bin/astra"]' in lines
