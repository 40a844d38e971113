"""The commands that bring the first observation in, ready to be copied into a shell."""

import json
from shlex import quote
from urllib.parse import quote as quote_path

CLUSTER = "main"


def first_observation(base: str, organization: str, workspace: str) -> str:
    """Return shell lines: a cluster, a token, one running worker told to `base`, the address this site has."""
    place = f"--organization {quote(organization)} --workspace {quote(workspace)}"
    address = f"{base.rstrip('/')}/v1/clusters/{quote_path(CLUSTER)}/observations"
    return f"""\
./manage.py create_cluster {quote(organization)} {CLUSTER}
TOKEN=$(./manage.py create_token {place} --scopes ingest)
NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)
curl -sS {quote(address)} -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' --data-binary @- <<END
{{"source": "by-hand", "sent_at": "$NOW",
 "machines": [{{"name": "gpu-1", "pool": "first", "gpus": 8}}],
 "runs": [{{"uid": "first-run", "workspace": {in_heredoc(workspace)}, "name": "first-run", "user": "me"}}],
 "workers": [{{"run": "first-run", "worker": "worker-0", "at": "$NOW",
              "phase": "running", "gpus": 8, "machine": "gpu-1"}}],
 "readings": [{{"run": "first-run", "worker": "worker-0", "at": "$NOW", "gpu_busy": 87.5, "step": 1}}]}}
END"""


def in_heredoc(text: str) -> str:
    """Return a text as JSON in which the shell expands nothing."""
    written = json.dumps(text)
    for sign in ("\\", "$", "`"):
        written = written.replace(sign, "\\" + sign)
    return written


def membership(user: str) -> str:
    """Return the command by which an operator lets `user` into a workspace."""
    return f"./manage.py create_user {quote(user)} --member ORGANIZATION/WORKSPACE"
