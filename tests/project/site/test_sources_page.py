"""docs/sources.yaml has what the sources state, and docs/reference/sources/ leads from each statement to what shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.docs_programs import docs_program

# Ids that the tests below invent stand in strings: in docstrings or comments they would count as citations.

COUNTS = {"S0": 38, "S1": 50, "S2": 84, "S3": 26, "S4": 29}
"""How many statements each source has: a statement leaves docs/sources.yaml only together with its number here."""

RULES = """
sources: {S8: "A source, long", S9: Another}
areas: {QQ: Questions}
pages: {asked: {title: Asked, areas: [QQ]}}
terms: Words.
versions: {columns: ["1"], rows: []}
traces: Everything.
rules:
  - {id: QQ-1, title: "First, of all", kind: behaviour, sources: [S8, S9], status: built, text: One.}
  - {id: QQ-2, title: Second, kind: format, sources: [S8], status: built, text: Two.}
"""
SMALL = """
S8:
  - subject: Things
    place: the list
    statements:
      - {id: S8.1, text: It is so., rules: [QQ-1], scenarios: [plain, taught]}
      - {id: S8.2, text: It is otherwise., rules: [QQ-2], scenarios: none, differs: {text: It is not., case: 2}}
S9:
  - subject: More
    place: the end
    statements:
      - {id: S9.1, same: S8.1}
      - {id: S9.2, text: It is shown., rules: [QQ-1], scenarios: none, commands: [pflab state]}
"""
FILES = {
    "docs/rules.yaml": RULES,
    "docs/sources.yaml": SMALL,
    "docs/reference/disagreements.md": "# Cases\n\n### 2. The other case\n\nWords.\n",
    "scenarios/plain.yaml": "title: Plain\nrules: [QQ-1]\nsteps: []\n",
    "scenarios/taught.yaml": "title: Taught\ncourse: {number: 7}\nrules: [QQ-1]\nsteps: []\n",
    "scenarios/other.yaml": "title: Other\nrules: [QQ-2]\nsteps: []\n",
}

Plant = Callable[[str], Path]


@pytest.fixture(scope="module")
def page() -> ModuleType:
    return docs_program("sources_page")


@pytest.fixture
def make_project(tmp_path: Path) -> Plant:
    """Write a small project with these statements."""

    def planted(statements: str) -> Path:
        for name, text in {**FILES, "docs/sources.yaml": statements}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return planted


# --- this project


def test_every_statement_of_the_sources_is_there(page: ModuleType, project_root: Path) -> None:
    """Each source has all its statements, and the rules, scenarios and cases that they name exist and fit."""
    sources = page.load_sources(project_root, page.load_project(project_root))
    counts = dict.fromkeys(sources.root, 0)
    for source, _ in sources.said():
        counts[source] += 1
    assert counts == COUNTS


def test_every_rule_of_a_source_has_a_statement(page: ModuleType, project_root: Path) -> None:
    """For each rule and each of its sources, a statement of this source names the rule."""
    project = page.load_project(project_root)
    missing = docs_program("source_statements").missing
    assert missing(page.load_sources(project_root, project), project) == []


def test_a_statement_without_a_scenario_has_another_way_to_be_seen_or_differs(
    page: ModuleType, project_root: Path
) -> None:
    """What pflab does as a source says is shown by a scenario or by a command."""
    sources = page.load_sources(project_root, page.load_project(project_root))
    bare = [each for each in sources.own.values() if each.scenarios == "none"]
    assert [each.id for each in bare if not each.commands and each.differs is None] == []


def test_the_pages_of_this_project_are_up_to_date(page: ModuleType, project_root: Path) -> None:
    """docs/reference/sources/ is what the statements give."""
    assert page.main(["--check"], project_root) == 0


# --- the page


def test_a_statement_leads_to_its_rule_its_scenario_and_its_lesson(page: ModuleType, make_project: Plant) -> None:
    """A row has links to the rules and to the scenarios, and the number of a lesson. A repetition names the statement."""
    root = make_project(SMALL)
    assert page.main([], root) == 0
    first, second = ((root / page.FOLDER / name).read_text("utf-8") for name in ("s8.md", "s9.md"))
    shown = "[plain](../../../scenarios/plain.yaml), [taught](../../../scenarios/taught.yaml) (lesson 7)"
    rule = "[QQ-1](../rules/asked.md#qq-1-first-of-all)"
    assert f'\n| <a id="s8.1"></a>S8.1 | It is so. | {rule} | {shown} |\n' in first
    assert f'\n| <a id="s9.1"></a>S9.1, as [S8.1](s8.md#s8.1) | It is so. | {rule} | {shown} |\n' in second
    assert f'\n| <a id="s9.2"></a>S9.2 | It is shown. | {rule} | `pflab state` |\n' in second


def test_what_differs_is_said_and_counted(page: ModuleType, make_project: Plant) -> None:
    """A difference has its text and its case, and the page counts differences and statements that no scenario shows."""
    root = make_project(SMALL)
    page.main([], root)
    index, text = ((root / page.FOLDER / name).read_text("utf-8") for name in ("index.md", "s8.md"))
    assert "S8.2 | It is otherwise. *Differs.* |" in text
    assert "**S8.2 differs.** It is not. [Case 2](../disagreements.md#2-the-other-case)" in text
    assert "| [S8: A source](s8.md) | 2 | 1 | 1 | 0 |" in index
    assert "| [S9: Another](s9.md) | 2 | 0 | 1 | 1 |" in index
    assert "1 of 3 statements differ: [S8.2](s8.md#s8.2)." in index


def test_check_finds_a_stale_page(page: ModuleType, make_project: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    """--check writes nothing, and fails without the pages or if a statement has changed since they were written."""
    root = make_project(SMALL)
    assert page.main(["--check"], root) == 1
    assert not (root / page.FOLDER).exists()
    assert page.main([], root) == 0
    assert page.main(["--check"], root) == 0
    make_project(SMALL.replace("It is so.", "It is always so."))
    assert page.main(["--check"], root) == 1
    assert "make rules" in capsys.readouterr().err


# --- faults of the statements


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("S8.2, text", "S8.3, text", "S8.3: the next id is S8.2"),
        ("It is so.", "so " * 23, "S8.1: the text has more than 22 words"),
        ("It is so.", '"this | that"', "S8.1: a text has no vertical bar"),
        ("rules: [QQ-1], scenarios: [plain", "rules: [], scenarios: [plain", "S8.1: names no rule"),
        ("rules: [QQ-1], scenarios: [plain", "rules: [QQ-1, QQ-9], scenarios: [plain", "S8.1: QQ-9 is no rule"),
        ("[plain, taught]", "[plain, absent]", "S8.1: absent is no scenario"),
        ("[plain, taught]", "[plain, other]", "S8.1: the scenario other cites none of QQ-1"),
        ("[plain, taught]", "[]", "S8.1: write scenarios: none"),
        ("[plain, taught]", "never", "scenarios"),
        ("case: 2", "case: 3", "S8.2: docs/reference/disagreements.md has no case 3"),
        ("same: S8.1", "same: S8.9", "S9.1: S8.9 is no statement of another source"),
        ("same: S8.1", "same: S9.2", "S9.1: S9.2 is no statement of another source"),
        ("S9:", "S7:", "S7: not a source of docs/rules.yaml"),
        ("rules: [QQ-2]", "rules: [QQ-1]", "QQ-2: no statement of S8 names it"),
        ("place: the end", "where: the end", "where"),
        ("S8:", "S8: [", "not YAML"),
    ],
)
def test_a_fault_of_the_statements_is_reported(
    page: ModuleType, make_project: Plant, capsys: pytest.CaptureFixture[str], right: str, wrong: str, said: str
) -> None:
    """Faulty statements give no page, and a line that names the fault."""
    assert right in SMALL
    root = make_project(SMALL.replace(right, wrong, 1))
    assert page.main([], root) == 1
    assert said in capsys.readouterr().err
    assert not (root / page.FOLDER).exists()
