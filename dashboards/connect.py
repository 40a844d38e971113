"""The commands that bring the first observation in, ready to be copied into a shell."""

import json
from collections.abc import Mapping
from shlex import quote
from urllib.parse import quote as quote_path

CLUSTER = "main"


def first_observation(base: str, organization: str, workspace: str) -> str:
    """Return shell lines: a cluster, a token, one running worker told to `base`, the address this site has."""
    batch = {
        "source": "by-hand",
        "sent_at": "$NOW",
        "machines": [{"name": "gpu-1", "pool": "first", "gpus": 8}],
        "runs": [{"workspace": workspace, "uid": "first-run", "name": "first-run", "user": "me"}],
        "workers": [
            {
                "run": "first-run",
                "worker": "worker-0",
                "at": "$NOW",
                "phase": "running",
                "gpus": 8,
                "machine": "gpu-1",
            }
        ],
        "readings": [{"run": "first-run", "worker": "worker-0", "at": "$NOW", "gpu_busy": 87.5, "step": 1}],
    }
    place = f"--organization {quote(organization)} --workspace {quote(workspace)}"
    address = f"{base.rstrip('/')}/v1/clusters/{quote_path(CLUSTER)}/observations"
    return "\n".join(
        (
            f"./manage.py create_cluster {quote(organization)} {CLUSTER}",
            f"TOKEN=$(./manage.py create_token {place} --scopes ingest)",
            "NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)",
            f'curl -sS {quote(address)} -H "Authorization: Bearer $TOKEN" \\',
            "  -H 'Content-Type: application/json' --data-binary @- <<END",
            in_heredoc(batch),
            "END",
        )
    )


def in_heredoc(batch: Mapping[str, object]) -> str:
    """Return JSON, a list a line, in which the shell expands $NOW and nothing else."""
    lines = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in batch.items())
    for sign in ("\\", "$", "`"):
        lines = lines.replace(sign, "\\" + sign)
    return "{" + lines.replace("\\$NOW", "$NOW") + "}"


def membership(user: str) -> str:
    """Return the command by which an operator lets `user` into a workspace."""
    return f"./manage.py create_user {quote(user)} --member ORGANIZATION/WORKSPACE"
