"""The table of Slurm's states for the docs, from the mapping's own: `python -m tests.slurm.states`."""

from astra.collect.slurm.words import HELD_BACK, STATES

HEAD = "| Slurm says | the ledger has | ended because of | queued again it waits for | |\n" + "| --- " * 5 + "|\n"


def table() -> str:
    rows = [
        f"| {state} | `{meaning.phase}` | {code(meaning.reason)} | {code(meaning.again)} | {meaning.note} |\n"
        for state, meaning in STATES.items()
    ]
    return HEAD + "".join(rows)


def held_back() -> str:
    return ", ".join(f"`{reason}`" for reason in HELD_BACK)


def code(word: str) -> str:
    return f"`{word}`" if word else ""


if __name__ == "__main__":
    print(table())
    print(held_back())
