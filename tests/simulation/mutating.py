"""Change one line of the real source while a test looks whether anybody notices."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from ledger.sql import sending

ROOT = Path(__file__).parents[2]


class Mutant(NamedTuple):
    """`old` stands once in `file` and becomes `new`."""

    name: str
    file: str
    old: str
    new: str


def mutated_source(mutant: Mutant) -> str:
    """Return the source with its one line changed; fails when the source no longer has it, or has it twice."""
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1, (
        f"{mutant.name}: {mutant.file} has {source.count(mutant.old)} × {mutant.old!r}"
    )
    assert "\n" not in mutant.old + mutant.new, f"{mutant.name}: a mutant is one line"
    return source.replace(mutant.old, mutant.new)


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """The mutant lives within the block, for whoever imported what it changes, whenever."""
    if mutant.file.endswith(".sql"):
        with mutated_statement(mutant):
            yield
        return
    module = importlib.import_module(mutant.file.removesuffix(".py").replace("/", "."))
    changed = list(changed_functions(module, mutant))
    assert changed, f"{mutant.name}: it changes no function"
    before = [(old, old.__code__) for old, _ in changed]
    try:
        for old, new in changed:
            old.__code__ = new.__code__
        yield
    finally:
        for function, code in before:
            function.__code__ = code


@contextmanager
def mutated_statement(mutant: Mutant) -> Iterator[None]:
    changed, name, text = mutated_source(mutant), Path(mutant.file).stem, sending.text
    sending.text = lambda asked: changed if asked == name else text(asked)  # type: ignore[assignment]
    try:
        yield
    finally:
        sending.text = text


def changed_functions(module: ModuleType, mutant: Mutant) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Yield each function of the module whose code is another in the changed source, with that other."""
    changed: dict[str, Any] = {"__name__": module.__name__, "__file__": module.__file__}
    exec(compile(mutated_source(mutant), str(module.__file__), "exec"), changed)
    olds, news = functions(vars(module), module.__name__), functions(changed, module.__name__)
    assert olds.keys() == news.keys()
    for name, old in olds.items():
        if old.__code__ != news[name].__code__:
            yield old, news[name]


def functions(namespace: dict[str, Any], module: str) -> dict[str, FunctionType]:
    """Return the functions and methods that were defined in a module, by name."""
    found = {}
    for name, value in namespace.items():
        plain = getattr(value, "__wrapped__", value)
        if isinstance(plain, FunctionType) and plain.__module__ == module:
            found[name] = plain
        if isinstance(value, type) and value.__module__ == module:
            for inner, member in vars(value).items():
                method = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if isinstance(method, FunctionType) and method.__module__ == module:
                    found[f"{name}.{inner}"] = method
    return found
