"""How fast logs are read, for each built-in profile: MB/s beside Python's re on the same lines, and beside grep.

    python bench/logs.py [--mb 16]

The lines are those of a real log of its kind (../shared/data), or its examples, between other lines as
trainers print them: one line of them in ten is of the profile. `re` tries the same patterns in the same order on each
line; grep counts the lines that any of them matches (grep -P): it captures nothing,
so it is the floor. CPU seconds of this process and of its children, the best of three.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ledger.logs.builtin import BUILTIN, matcher  # noqa: E402
from ledger.logs.reader import read_lines  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
REAL = {
    "megatron-training": "logs/megatron_meg_ds_3d_gpt2_perf_n16_ds_off.log",
    "mlperf": "mlperf/eos_n64_ngc24.04_nemo__gpt3__result_0.txt",
    "hf-trainer": "logs/hf_trainer_hf_ds_gpt2_base_n4_1832555.log",
}
NOISE = (
    b"[2025-05-25 06:38:26,358] [INFO] [utils.py:589:see_memory_usage] MA 5.87 GB         Max_MA 6.63 GB\n",
    b"time (ms) | forward-compute: 28125.05 | backward-compute: 74898.52 | optimizer: 77.43 | batch-generator: 194\n",
    b"  warnings.warn(msg, DeprecatedFeatureWarning)\n",
    b"NCCL INFO Trees [0] -1/-1/-1->3->2 [1] -1/-1/-1->3->2\n",
)


def text_of(name: str, megabytes: int) -> bytes:
    """Return so many MB of a log of this kind."""
    if name in REAL:
        unit = (DATA / REAL[name]).read_bytes()
    else:
        examples = [p["example"].encode() for p in BUILTIN[name]["spec"]["patterns"].values()]
        unit = b"".join(example + b"\n" + b"".join(NOISE[n % 4] for n in range(9)) for example in examples)
    return unit * (megabytes * 1024 * 1024 // len(unit) + 1)


def cpu(work: Callable[[], object]) -> float:
    """Return the fewest CPU seconds of three runs, children included."""

    def spent() -> float:
        both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in both)

    found = []
    for _ in range(3):
        before = spent()
        work()
        found.append(spent() - before)
    return min(found)


def by_re(patterns: list[tuple[str, re.Pattern[bytes]]], lines: list[bytes]) -> int:
    """Read the lines as the reader does, line by line with Python's re."""
    events = 0
    for line in lines:
        for name, pattern in patterns:
            match = pattern.search(line)
            if match is not None:
                match.groupdict()
                events += 1
                if name != "applicationStart":
                    break
    return events


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--mb", type=int, default=8)
    megabytes = asked.parse_args().mb
    print(f"{'PROFILE':18}{'EVENTS':>9}{'MB/s':>9}{'re MB/s':>9}{'× re':>7}{'grep MB/s':>11}")
    for name in BUILTIN:
        text = text_of(name, megabytes)
        size = len(text) / 1024 / 1024
        reader = matcher(name)
        lines = text.split(b"\n")
        events = len(read_lines(reader, lines).events)
        ours = cpu(lambda text=text, reader=reader: read_lines(reader, text.split(b"\n")))
        specs = BUILTIN[name]["spec"]["patterns"]
        order = [pattern.name for _, pattern, _ in reader.in_order]
        patterns = [(key, re.compile(specs[key]["regex"].encode())) for key in order]
        theirs = cpu(lambda text=text, patterns=patterns: by_re(patterns, text.split(b"\n")))
        with tempfile.NamedTemporaryFile() as file:
            file.write(text)
            file.flush()
            nameless = "|".join(re.sub(r"\(\?P<\w+>", "(?:", specs[key]["regex"]) for key in order)
            command = ["grep", "-a", "-c", "-P", nameless, file.name]
            floor = cpu(lambda command=command: subprocess.run(command, stdout=subprocess.DEVNULL, check=False))
        print(
            f"{name:18}{events:>9,}{size / ours:>9.0f}{size / theirs:>9.0f}{theirs / ours:>7.1f}{size / floor:>11.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
