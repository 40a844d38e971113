"""Rules of the tree that the import contracts in pyproject.toml cannot say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("bench", "client", "dashboards", "goodput_site", "ledger", "tests", "manage.py")
LINES_MAX, FUNCTION_LINES_MAX, TEMPLATE_LINES_MAX = 400, 60, 150
# the shells: whoever is called from outside and may ask what time it is and how the site is set up
SHELLS = re.compile(
    r"^(goodput_site/|ledger/(tasks\.py|api/|management/|migrations/|apps\.py)|dashboards/(views/|templatetags/))"
)
# the spool of an agent is a file of its own, not the ledger
SQL_PLACES = re.compile(r"^(goodput_site/|ledger/(sql/|migrations/)|client/astra/collect/spool\.py|tests/|bench/)")


def files(*suffixes: str) -> list[Path]:
    """What belongs to the project: tracked, or new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *CODE, "templates"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    return [ROOT / name for name in sorted(set(listed)) if name.endswith(suffixes) and (ROOT / name).is_file()]


def modules(pattern: str = "") -> Iterator[tuple[str, ast.Module]]:
    for path in files(".py"):
        name = str(path.relative_to(ROOT))
        if name.startswith(pattern):
            yield name, ast.parse(path.read_text(), name)


def imported(tree: ast.Module) -> Iterator[str]:
    """Full names of what is imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_rules_see_the_tree() -> None:
    names = [name for name, _ in modules()]
    assert len(names) > 100
    assert "ledger/core/categories.py" in names
    assert files(".html")


def test_the_core_needs_the_standard_library_alone() -> None:
    foreign = [
        f"{name}: {module}"
        for name, tree in modules("ledger/core/")
        for module in imported(tree)
        if module.split(".")[0] not in sys.stdlib_module_names and not module.startswith("ledger.core")
    ]
    assert foreign == []


def test_only_shells_ask_for_the_time_or_the_settings() -> None:
    asked = [
        f"{name}: {module}"
        for package in ("ledger/", "dashboards/")
        for name, tree in modules(package)
        for module in imported(tree)
        if module in ("django.conf.settings", "django.utils.timezone")
        if not SHELLS.match(name) and not name.startswith("ledger/models/")
    ]
    assert asked == []


def test_models_use_the_settings_for_the_user_alone() -> None:
    used = {
        f"{name}: {node.attr}"
        for name, tree in modules("ledger/models/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "settings"
    }
    assert {line.split(": ")[1] for line in used} <= {"AUTH_USER_MODEL"}


def test_sql_is_written_in_sql_files() -> None:
    statement = re.compile(r"^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s+\S", re.IGNORECASE)
    shape = re.compile(r"\b(FROM|SET|VALUES|AS)\b")
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules()
        if not SQL_PLACES.match(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if statement.match(node.value) and shape.search(node.value)
    ]
    assert found == []


def talks_to_cursors(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "RawSQL"
    if not isinstance(node, ast.Attribute):
        return False
    of_manager = isinstance(node.value, ast.Attribute) and node.value.attr == "objects"
    return node.attr in ("cursor", "executemany", "RawSQL") or (node.attr == "raw" and of_manager)


def test_only_the_sql_package_talks_to_cursors() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules()
        if not SQL_PLACES.match(name)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Name, ast.Attribute)) and talks_to_cursors(node)
    ]
    assert found == []


def test_files_functions_and_templates_stay_short() -> None:
    long = [f"{path.relative_to(ROOT)}" for path in files(".py") if len(path.read_text().splitlines()) > LINES_MAX]
    long += [str(p.relative_to(ROOT)) for p in files(".html") if len(p.read_text().splitlines()) > TEMPLATE_LINES_MAX]
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    long.append(f"{name}:{node.name} {lines}")
    assert [name for name in long if "/migrations/" not in name] == []


def test_no_template_writes_script_style_or_unescaped_text() -> None:
    forbidden = re.compile(
        r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|\|\s*safe\b|autoescape\s+off", re.IGNORECASE
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files(".html")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if forbidden.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK"])
def test_nothing_is_left_for_later(word: str) -> None:
    here = str(Path(__file__).relative_to(ROOT))
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files(".py", ".html", ".sql")
        if str(path.relative_to(ROOT)) != here
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(rf"\b{word}\b", line)
    ]
    assert found == []
