"""The commands that bring observations in, ready to be copied into a shell."""

import json
from dataclasses import dataclass
from shlex import quote
from urllib.parse import quote as quote_path

from dashboards.places import ClusterPlace, Place

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


@dataclass(frozen=True)
class Way:
    """How one kind of source is connected: `command` where it runs, `more` is the page of the documentation."""

    name: str
    command: str
    more: str


WAYS = (
    Way("Kubernetes", "astra collect kubernetes", "docs/sources/kubernetes.md"),
    Way("Slurm", "astra collect slurm", "docs/sources/slurm.md"),
    Way("GPU readings (DCGM)", "astra collect dcgm --prometheus http://prometheus:9090", "docs/sources/dcgm.md"),
    Way("Training logs", "astra astraeus logs ship --run RUN --profile megatron-training train.log", "docs/logs.md"),
    Way(
        "Training code",
        "ASTRALYX_RUN=RUN ASTRALYX_WORKER=worker-0 python client/examples/plain_loop.py",
        "docs/tracker.md",
    ),
)


def agents(base: str, organization: str, cluster: str = CLUSTER) -> str:
    """Return shell lines after which every command of WAYS knows where `cluster` is told of."""
    return f"""\
pip install './client[kubernetes]'
./manage.py create_cluster {quote(organization)} {quote(cluster)}
export ASTRALYX_API={quote(base.rstrip("/"))} ASTRALYX_CLUSTER={quote(cluster)}
export ASTRALYX_TOKEN=$(./manage.py create_token --organization {quote(organization)} --scopes ingest,read)"""


def connecting(base: str, place: Place | ClusterPlace) -> dict[str, object]:
    """Return what the empty page of a place says: the first observation by hand, and every kind of source."""
    if isinstance(place, ClusterPlace):
        return {"agents": agents(base, place.organization, place.cluster), "ways": WAYS}
    by_hand = first_observation(base, place.organization, place.workspace)
    return {"connect": by_hand, "agents": agents(base, place.organization), "ways": WAYS}
