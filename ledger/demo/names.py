"""The made-up people, workspaces, run names and machines of the demo. Nothing here is from the trace."""

from typing import NamedTuple


class Team(NamedTuple):
    """A workspace, who works in it, what its runs are called, and how its runs behave.

    `share` of the jobs are theirs; busy and idle stretches have these mean lengths in minutes; `forgets` is the
    share of long runs whose owner leaves them idle at the end; `pools` is their order of preference.
    """

    workspace: str
    users: tuple[str, ...]
    runs: tuple[str, ...]
    share: int
    busy_minutes: int
    idle_minutes: int
    forgets: float
    pools: tuple[str, ...]


class PoolOfMachines(NamedTuple):
    name: str
    machines: int
    gpus: int


SHORT = "llm"  # a name that is used again and again, as people do; the interface and `astra` find the newest by it

TEAMS = (
    Team(
        "language",
        ("ana", "bruno", "chen", "dora"),
        ("llm-pretrain-7b", "llm-pretrain-13b", "llm-sft-7b", "reward-model-3b", "long-context-8b", SHORT),
        34, 300, 9, 0.02, ("h100", "a100", "l40s"),
    ),
    Team(
        "vision",
        ("emil", "farah", "goran"),
        ("vit-large", "diffusion-xl", "detector-finetune", "video-tokens", "depth-estimation"),
        30, 190, 16, 0.05, ("a100", "h100", "l40s"),
    ),
    Team(
        "speech",
        ("hana", "ivo"),
        ("asr-conformer", "tts-multilingual", "wav-encoder", "diarization"),
        16, 170, 19, 0.06, ("a100", "l40s", "h100"),
    ),
    Team(
        "research",
        ("jana", "kofi", "lena", "mateo", "nadia"),
        ("sweep", "ablation-depth", "probe-layers", "optimizer-study", "scaling-small", "notebook"),
        20, 110, 24, 0.16, ("l40s", "a100", "h100"),
    ),
)  # fmt: skip
POOLS = (PoolOfMachines("h100", 28, 8), PoolOfMachines("a100", 40, 8), PoolOfMachines("l40s", 32, 4))
TROUBLED = frozenset({"h100-07", "a100-23", "l40s-11"})  # machines that break far more often than the others
