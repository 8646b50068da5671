"""The project's own files agree with each other."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.generated_pages import generated_pages

FLOORS = ["pflab", "node", "transport", "topology", "traces"]


@pytest.fixture(scope="module")
def pyproject(project_root: Path) -> dict[str, Any]:
    return tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))


def normalized(name: str) -> str:
    """Return a distribution's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(project_root: Path) -> dict[str, str]:
    lines = (project_root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = (line.partition("==") for line in lines if line and not line.startswith("#"))
    return {normalized(name): version for name, _, version in found}


def test_every_constraint_is_an_exact_pin(project_root: Path) -> None:
    """A line of constraints.txt is a comment or name==version: no hosts, paths, options or ranges."""
    for line in (project_root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line), line


def test_every_dependency_is_pinned(project_root: Path, pyproject: dict[str, Any]) -> None:
    """Each dependency of pyproject.toml, for use and for development, has its version in constraints.txt."""
    project = pyproject["project"]
    asked = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = {normalized(re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0]) for one in asked}
    assert names <= pins(project_root).keys() | {"pflab"}


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", "Makefile", ".ci/run", "package.json"])
def test_nothing_says_where_packages_come_from(project_root: Path, name: str) -> None:
    """No file of the build names a package index; that is the configuration of the machine."""
    text = (project_root / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links|--trusted-host", text)


def contracts(pyproject: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for one in pyproject["tool"]["importlinter"]["contracts"] if one["type"] == kind]


def test_the_layers_are_enforced(pyproject: dict[str, Any]) -> None:
    """One contract orders the layers, one orders the folders inside each layer, and one forbids cycles."""
    layers = contracts(pyproject, "layers")
    assert layers[0]["layers"] == FLOORS
    assert {one["containers"][0] for one in layers[1:]} == {*FLOORS, "analytics"}
    assert all(one["exhaustive"] for one in layers[1:])
    (acyclic,) = contracts(pyproject, "acyclic_siblings")
    assert set(acyclic["ancestors"]) == {*FLOORS, "analytics"}


@pytest.mark.parametrize(
    ("floor", "outward"),
    [
        ("transport", {"smtp", "connecting", "file_handles", "resources"}),
        ("node", {"host", "api", "imap", "process", "__main__"}),
    ],
)
def test_agents_do_no_input_or_output(
    project_root: Path, pyproject: dict[str, Any], floor: str, outward: set[str]
) -> None:
    """A contract forbids clocks, random numbers, sockets and web libraries in all folders except those for input and output."""
    inside = {path.stem for path in (project_root / floor).iterdir() if path.suffix == ".py" or path.is_dir()}
    inward = {f"{floor}.{name}" for name in inside - outward - {"__init__", "__pycache__", "py"}}
    inward -= {f"{floor}.py.typed"}
    world = {"asyncio", "time", "random", "uuid", "socket", "os", "threading", "http"}
    world |= {"aiosmtpd", "aiosmtplib", "uvicorn"}
    assert any(
        inward <= set(one["source_modules"]) and world <= set(one["forbidden_modules"])
        for one in contracts(pyproject, "forbidden")
    )


def test_every_package_is_typed(project_root: Path) -> None:
    """Each top-level package has py.typed, so that users' type checkers read its types."""
    assert [name for name in [*FLOORS, "analytics"] if not (project_root / name / "py.typed").exists()] == []


def test_make_help_lists_the_targets(project_root: Path) -> None:
    """`make help` has every target that README or CONTRIBUTING names."""
    makefile = (project_root / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    explained = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert explained == set(phony.group(1).split())
    assert explained >= {"install", "demo", "test", "check", "bench", "simulate", "rules", "clean", "help"}


def test_make_install_says_what_it_does_and_what_comes_next(project_root: Path) -> None:
    """`make install` says in one line what it does and how long it takes, and at its end what to do next."""
    command = ["make", "--no-print-directory", "--dry-run", "--what-if=pyproject.toml", "install"]
    made = subprocess.run(command, cwd=project_root, capture_output=True, text=True, check=True)
    told = made.stdout.splitlines()
    (begins,) = [line for line in told if line.startswith("echo") and "Installing" in line]
    assert "minutes" in begins
    assert "1.4 GB" in begins
    assert told.index(begins) < next(number for number, line in enumerate(told) if "pip install" in line)
    assert told[-1].startswith("echo")
    assert "make demo" in told[-1]
    assert ".venv/bin/activate" in told[-1]


def test_ci_is_runnable_and_strict(project_root: Path) -> None:
    """.ci/run is executable, stops at the first failure, and checks, tests, simulates and runs the demo."""
    script = project_root / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text
    places = [text.index(step) for step in ("make check\n", "make test\n", "pflab simulate", "make demo HEADLESS=1")]
    assert places == sorted(places)


def test_the_index_lists_every_page(project_root: Path) -> None:
    """docs/index.md links every other page of docs/. Of a divided page it links the first part, which links the others."""
    docs = project_root / "docs"
    index = (docs / "index.md").read_text(encoding="utf-8")
    parts = {path for first in docs.rglob("*/index.md") for path in first.parent.glob("*.md") if path != first}
    written = set(docs.rglob("*.md")) - {docs / "index.md"} - parts
    pages = sorted({path.relative_to(docs).as_posix() for path in written} | generated_pages().keys())
    assert [name for name in pages if f"({name})" not in index] == []


def test_each_row_of_a_table_is_one_line(project_root: Path) -> None:
    """Each row has as many cells as its table's head; a row that is wrapped into a second line would lose its last cells."""
    broken = []
    for page in [*project_root.glob("*.md"), *(project_root / "docs").rglob("*.md")]:
        in_code, columns = False, 0
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
            in_code ^= line.lstrip().startswith("```")
            bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") and not in_code else 0
            if bars and columns and bars != columns:
                broken.append(f"{page.relative_to(project_root)}:{number}: {line}")
            columns = bars and (columns or bars)
    assert broken == []


def test_nouns_agree_with_their_numbers(project_root: Path) -> None:
    """No text says `1 mails` or `mail(s)`; the function `counted` forms the number and the noun."""
    found = []
    for path in (each for floor in ("pflab", "analytics") for each in sorted((project_root / floor).rglob("*.py"))):
        for text in (each for each in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(each, ast.JoinedStr)):
            for value, after in pairwise(text.values):
                if not isinstance(after, ast.Constant):
                    continue
                of_length = isinstance(value, ast.FormattedValue) and ast.unparse(value.value).startswith("len(")
                if re.match(r" [a-z]*\(s\)", str(after.value)) or (of_length and _MANY.match(str(after.value))):
                    found.append(f"{path.name}:{text.lineno}")
    assert found == []


_MANY = re.compile(r" (?!is |as |was |has |of )(more )?[a-z]+s\b")


def test_an_unknown_benchmark_is_refused(project_root: Path) -> None:
    """`python -m bench` refuses an unknown name with the list of benchmarks, and exit status 2."""
    command = [sys.executable, "-m", "bench", "nothing-of-the-kind"]
    done = subprocess.run(command, cwd=project_root, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "no benchmark is named nothing-of-the-kind; there are: ceilings, cnset" in done.stderr


def test_an_environment_works_in_any_folder_and_locale(project_root: Path, tmp_path: Path) -> None:
    """With LC_ALL=C, Python starts in the environment of a folder whose name is not ASCII, and finds pflab there."""
    folder = tmp_path / "Prüflabor"
    venv = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python3*/site-packages")
    (packages / "_pflab.pth").write_text(f"{folder}\n", "utf-8")  # as pip writes it
    shutil.copy(project_root / "Makefile", folder)
    subprocess.run(["make", "--silent", "relative-path"], check=True, cwd=folder)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON"))}
    order = [str(venv / "bin" / "python"), "-c", "import os, sys; print(ascii(os.path.realpath(sys.path[-1])))"]
    done = subprocess.run(order, check=False, capture_output=True, text=True, env={**inherited, "LC_ALL": "C"})
    assert (done.stdout.strip(), done.stderr) == (ascii(str(folder.resolve())), "")
