"""The catalogue of rules, and the pages that shows where each rule is obeyed and tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.support.docs_programs import docs_program

# Ids that the tests below invent stand in strings: in docstrings or comments they would count as citations.

SMALL = """
sources: {S9: A source}
areas: {QQ: Questions, ZZ: Rests}
pages: {asked: {title: Asked, areas: [QQ]}, rest: {title: The rest, areas: [ZZ]}}
terms: Words.
versions: {columns: ["1"], rows: [{aspect: size, rules: [QQ-1], values: [small]}]}
traces: Everything.
rules:
  - {id: QQ-1, title: First, kind: behaviour, sources: [S9], status: built, text: As in QQ-2.}
  - {id: QQ-2, title: Second, kind: format, sources: [S9], status: built, text: One.}
  - {id: ZZ-1, title: Third, kind: surface, sources: [S9], status: planned, text: Two.}
"""

STATEMENTS = """
S9:
  - subject: Things
    place: the list
    statements:
      - {id: S9.1, text: It is so., rules: [QQ-1], scenarios: none}
      - {id: S9.2, text: It is so too., rules: [QQ-1, ZZ-1], scenarios: none}
"""

INDEX = "docs/reference/rules/index.md"
ASKED = "docs/reference/rules/asked.md"

Plant = Callable[[dict[str, str]], Path]


@pytest.fixture(scope="module")
def page() -> ModuleType:
    return docs_program("rules_page")


@pytest.fixture
def make_project(tmp_path: Path) -> Plant:
    """Write a small project: the catalogue above unless another is given, and these files."""

    def planted(files: dict[str, str]) -> Path:
        for name, text in {"docs/rules.yaml": SMALL, "docs/sources.yaml": STATEMENTS, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return planted


# --- this project's catalogue


def test_the_catalogue_is_well_formed(page: ModuleType, project_root: Path) -> None:
    """Every rule has all its fields; ids are unique and in order; sources and references resolve."""
    catalogue = page.load_catalogue(project_root / page.CATALOGUE)
    assert {rule.area for rule in catalogue.rules} == set(catalogue.areas)
    assert all(rule.sources for rule in catalogue.rules)


def test_the_catalogue_has_no_gap_in_its_numbers(page: ModuleType, project_root: Path) -> None:
    """Within an area the numbers run from 1 without a gap, because a dropped rule keeps its entry."""
    catalogue = page.load_catalogue(project_root / page.CATALOGUE)
    for area in catalogue.areas:
        numbers = [int(rule.id.partition("-")[2]) for rule in catalogue.rules if rule.area == area]
        assert numbers == list(range(1, len(numbers) + 1)), area


@pytest.fixture(scope="module")
def scanned(page: ModuleType, project_root: Path) -> tuple[Any, Any]:
    """The catalogue of this project, and where its tree cites the rules."""
    catalogue = page.load_catalogue(project_root / page.CATALOGUE)
    return catalogue, page.scan(project_root, catalogue)


@pytest.mark.long
def test_the_pages_of_this_project_are_deterministic(
    page: ModuleType, scanned: tuple[Any, Any], project_root: Path
) -> None:
    """No citation in the tree is refused. Two renderings of one tree are the same, and every rule is on one page."""
    catalogue, coverage = scanned
    statements = page.read_sources(project_root).by_rule()
    first, second = (
        page.render(catalogue, each, statements) for each in (coverage, page.scan(project_root, catalogue))
    )
    assert first == second
    assert all(sum(f"### {rule.id} {rule.title}\n" in text for text in first.values()) == 1 for rule in catalogue.rules)


# --- faults of a catalogue


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("id: QQ-2", "id: QQ-1", "unique and in the order"),
        ("areas: [QQ]", "areas: [QQ, ZZ]", "each of the areas QQ, ZZ is on one page"),
        ("title: The rest, areas: [ZZ]", "title: The rest, areas: []", "each of the areas QQ, ZZ is on one page"),
        ("id: QQ-2", "id: XX-2", "not an id of one of the areas QQ, ZZ"),
        ("id: ZZ-1", "id: ZZ-one", "not an id"),
        ("kind: format", "kind: form", "kind"),
        ("kind: format", "kind: format, untraced: never sent", "untraced is for behaviours"),
        ("status: planned", "status: later", "status"),
        ("status: planned", "status: planned, planned_part: some", "planned_part is for built rules"),
        ("sources: [S9], status: planned", "sources: [S8], status: planned", "source S8 is none of S9"),
        ("text: One.", "text: ''", "text"),
        ("text: One.", "text: One., note: more", "note"),
        ("As in QQ-2.", "As in QQ-7.", "refers to QQ-7"),
        ("rules: [QQ-1]", "rules: [QQ-9]", "QQ-9 is no rule"),
        ("values: [small]", "values: [small, big]", "2 values for 1 versions"),
        ("terms: Words.", "terms: [Words", "not YAML"),
    ],
)
def test_a_fault_of_the_catalogue_is_reported(
    page: ModuleType, make_project: Plant, right: str, wrong: str, said: str
) -> None:
    """A faulty catalogue is refused with a line that names the fault."""
    assert right in SMALL
    root = make_project({"docs/rules.yaml": SMALL.replace(right, wrong)})
    with pytest.raises(page.CatalogueError, match=said):
        page.load_catalogue(root / page.CATALOGUE)


def test_an_entry_with_a_deviation_shows_it(page: ModuleType, make_project: Plant) -> None:
    """The page shows a deliberate difference with its reason."""
    data = yaml.safe_load(SMALL)
    data["rules"][0]["deviation"] = {"text": "Not here.", "reason": "Too slow."}
    root = make_project({"docs/rules.yaml": yaml.safe_dump(data, sort_keys=False)})
    catalogue = page.load_catalogue(root / page.CATALOGUE)
    text = page.render(catalogue, page.Coverage(), {})[ASKED]
    assert "Not here." in text
    assert "Too slow." in text


def test_a_behaviour_that_traces_do_not_show_says_why(page: ModuleType, make_project: Plant) -> None:
    """Such a rule is no gap, and the page shows its reason in place of a trace check."""
    data = yaml.safe_load(SMALL)
    data["rules"][0] |= {"kind": "behaviour", "status": "built", "untraced": "nothing is written of it"}
    root = make_project({"docs/rules.yaml": yaml.safe_dump(data, sort_keys=False)})
    pages = page.render(page.load_catalogue(root / page.CATALOGUE), page.Coverage(), {})
    assert "none: nothing is written of it" in pages[ASKED]
    assert "Built behaviour, no trace check (0): none" in pages[INDEX]
    assert f"traces do not show (1): {data['rules'][0]['id']}" in pages[INDEX]


# --- citations


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("x = 1  # spec: BF-3", {"BF-3"}),
        ("# spec: CN-6, CN-7 and HI-1 close holes", {"CN-6", "CN-7", "HI-1"}),
        ("# spec: CN-6 CN-7", {"CN-6", "CN-7"}),
        ("(spec: RST-1 to RST-4).", {"RST-1", "RST-2", "RST-3", "RST-4"}),
        ("BF-3 is elsewhere; inspec: BF-4", set()),
    ],
)
def test_a_citation_is_read(page: ModuleType, text: str, ids: set[str]) -> None:
    """`spec:` is followed by ids separated by commas, spaces or `and`, or by a range with `to`."""
    assert page.cited(text) == ids


def test_only_comments_and_docstrings_cite(page: ModuleType) -> None:
    """An id in a string of the program is no citation."""
    words = page.prose('"""About one."""\nx = "spec: BF-3"  # about BF-2\ndef f():\n    "about three"\n')
    assert words.split("\n") == ["About one.", "about three", "# about BF-2"]


def test_files_are_listed_by_rule(page: ModuleType, make_project: Plant) -> None:
    """Code cites after `spec:`, tests in comments and docstrings, scenarios under `rules`; sorted by file."""
    root = make_project(
        {
            "node/b.py": "x = 1  # spec: QQ-1\n",
            "node/a.py": "x = 1  # spec: QQ-1\n",
            "transport/c.py": '"""QQ-2 is only mentioned here, and so is UTF-8."""\n',
            "tests/unit/test_a.py": 'def test_a():\n    """It asks (QQ-1, QQ-2)."""\n',
            "scenarios/lesson.yaml": "title: A lesson\nrules: [QQ-1]\nsteps: []\n",
            "scenarios/plain.yaml": "title: Another\nsteps: []\n",
            "analytics/checks.py": "# spec: QQ-1\n",
        }
    )
    coverage = page.scan(root, page.load_catalogue(root / page.CATALOGUE))
    assert coverage.code == {"QQ-1": ["node/a.py", "node/b.py"]}
    assert coverage.tests == {"QQ-1": ["tests/unit/test_a.py"], "QQ-2": ["tests/unit/test_a.py"]}
    assert coverage.scenarios == {"QQ-1": ["scenarios/lesson.yaml"]}
    assert coverage.checks == {"QQ-1": ["analytics/checks.py"]}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("node/a.py", "# spec: QQ-4\n", "node/a.py: cites QQ-4"),
        ("node/a.py", "# spec: XY-4\n", "node/a.py: cites XY-4"),
        ("pflab/a.py", '"""As QQ-5 says."""\n', "pflab/a.py: cites QQ-5"),
        ("tests/test_a.py", "# QQ-6\n", "tests/test_a.py: cites QQ-6"),
        ("scenarios/a.yaml", "rules: [QQ-7]\n", "scenarios/a.yaml: cites QQ-7"),
        ("scenarios/a.yaml", "rules: QQ-1\n", "a list of rule ids"),
        ("scenarios/a.yaml", "rules: [QQ-1\n", "not YAML"),
        ("node/a.py", "def  # spec: BF-1\n", "node/a.py: not Python"),
    ],
)
def test_a_citation_of_an_unknown_rule_is_refused(
    page: ModuleType, make_project: Plant, name: str, text: str, said: str
) -> None:
    """A wrong id in a citation is an error with the file's name."""
    root = make_project({name: text})
    with pytest.raises(page.CatalogueError, match=said):
        page.scan(root, page.load_catalogue(root / page.CATALOGUE))


# --- the page


def test_gaps_are_marked(page: ModuleType, make_project: Plant) -> None:
    """A built rule without code or test is marked. Only behaviour needs scenarios, and a planned rule nothing."""
    root = make_project({"node/a.py": "# spec: QQ-1\n"})
    catalogue = page.load_catalogue(root / page.CATALOGUE)
    pages = page.render(catalogue, page.scan(root, catalogue), {})
    text = "".join(pages.values())
    first, second, third = (text.partition(f"### {name} ")[2].partition("###")[0] for name in ("QQ-1", "QQ-2", "ZZ-1"))
    assert "[node/a.py](../../../node/a.py)" in first
    assert "**no test**" in first
    assert "**no scenario**" in first
    assert "**no code**" in second
    assert "no scenario" not in second
    assert "no code" not in third
    assert "- Built, no test (2): QQ-1, QQ-2\n" in pages[INDEX]
    assert "- Planned (1): ZZ-1\n" in pages[INDEX]


def test_the_rules_of_an_area_are_on_its_page(page: ModuleType, make_project: Plant) -> None:
    """Each rule is on the page of its area. The first page leads to each rule, and a rule to the statements of the sources."""
    root = make_project({})
    assert page.main([], root) == 0
    index, asked, rest = ((root / path).read_text("utf-8") for path in (INDEX, ASKED, "docs/reference/rules/rest.md"))
    assert [name for name in ("QQ-1", "QQ-2", "ZZ-1") if f"### {name} " in asked] == ["QQ-1", "QQ-2"]
    assert "### ZZ-1 Third" in rest
    assert "- [QQ-1](asked.md#qq-1-first) First\n" in index
    assert "- [ZZ-1](rest.md#zz-1-third) Third\n" in index
    assert "- Stated in: [S9.1](../sources/s9.md#s9.1), [S9.2](../sources/s9.md#s9.2)\n" in asked
    assert "- Stated in: [S9.2](../sources/s9.md#s9.2)\n" in rest
    assert asked.count("Stated in") == 1


def test_check_finds_a_stale_page(page: ModuleType, make_project: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    """--check writes nothing. It fails without the pages, if coverage has changed since they were written, and if there is
    another page, which the next writing removes."""
    root = make_project({})
    assert page.main(["--check"], root) == 1
    assert not (root / page.FOLDER).exists()
    assert page.main([], root) == 0
    assert page.main(["--check"], root) == 0
    other = root / page.FOLDER / "other.md"
    other.write_text("Other.", "utf-8")
    assert page.main(["--check"], root) == 1
    assert "other.md" in capsys.readouterr().err
    assert page.main([], root) == 0
    assert not other.exists()
    make_project({"node/a.py": "# spec: QQ-1\n"})
    assert page.main(["--check"], root) == 1
    assert "make rules" in capsys.readouterr().err


def test_a_wrong_citation_fails_the_generator(
    page: ModuleType, make_project: Plant, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a wrong citation no page is written, and the error names the citation."""
    root = make_project({"node/a.py": "# spec: QQ-8\n"})
    assert page.main([], root) == 1
    assert "QQ-8" in capsys.readouterr().err
    assert not (root / page.FOLDER).exists()
