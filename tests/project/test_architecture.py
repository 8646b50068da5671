"""The layout: folders of one subject, a map that names each folder, and test modules that do not import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PRODUCT = ("pflab", "node", "transport", "topology", "traces", "analytics")
MOST_MODULES = 15


def packages(root: Path, *tops: str) -> Iterator[Path]:
    """Return every folder with modules below these, parents first."""
    for top in tops:
        for init in sorted((root / top).rglob("__init__.py")):
            yield init.parent


def modules(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("__"))


@pytest.mark.parametrize("top", [*PRODUCT, "tests"])
def test_a_folder_has_at_most_fifteen_modules(project_root: Path, top: str) -> None:
    """A folder has one subject, and so at most 15 modules; tests may have a conftest.py beside them."""
    crowded = {
        str(folder.relative_to(project_root)): len(modules(folder))
        for folder in packages(project_root, top)
        if folder.name != "support" and len(set(modules(folder)) - {"conftest"}) > MOST_MODULES
    }
    assert crowded == {}


@pytest.mark.parametrize("top", PRODUCT)
def test_every_package_states_its_subject(project_root: Path, top: str) -> None:
    """A package's `__init__` begins with a docstring that says what the folder is about."""
    silent = [
        str(folder.relative_to(project_root))
        for folder in packages(project_root, top)
        if len(ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or "") < 40
    ]
    assert silent == []


@pytest.mark.parametrize("top", PRODUCT)
def test_the_map_names_every_folder(project_root: Path, top: str) -> None:
    """ARCHITECTURE.md names each folder of the product by its path, such as `node/agent/`."""
    page = (project_root / "ARCHITECTURE.md").read_text("utf-8")
    unnamed = [
        name
        for folder in packages(project_root, top)
        if f"`{(name := folder.relative_to(project_root).as_posix())}/`" not in page
    ]
    assert unnamed == []


@cache
def imports(path: Path) -> list[str]:
    """Return every module of the tests that this file imports, and every name it imports from one, with dots."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("tests"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests":
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_module_imports_a_test_module_or_a_conftest(project_root: Path) -> None:
    """Test modules share helpers through tests/support/ and fixtures through conftest.py, which pytest reads by itself."""
    wrong = [
        f"{path.relative_to(project_root)} imports {name}"
        for path in sorted((project_root / "tests").rglob("*.py"))
        for name in imports(path)
        if any(part == "conftest" or part.startswith("test_") for part in name.split("."))
    ]
    assert wrong == []


def test_every_module_of_support_is_used(project_root: Path) -> None:
    """A module in tests/support/ that no test, conftest.py or other helper imports is dead."""
    used = {name for path in (project_root / "tests").rglob("*.py") for name in imports(path)}
    assert [name for name in modules(project_root / "tests" / "support") if f"tests.support.{name}" not in used] == []
