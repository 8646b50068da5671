"""The commands in README.md and in the pages of docs/ and examples/ work."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from node.process.main import main as node_main
from pflab.cli.app import VERBS
from tests.support.generated_pages import generated_pages
from tests.support.inner_pytest import run_pytest, write
from tests.support.named_commands import mistake_in
from tests.support.running_lab import lab_up

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").rglob("*.md")),
]


def _commands(page: str) -> list[list[str]]:
    """Return the words of each line of an example that begins with pflab, without comments."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^pflab .*$", "".join(blocks), re.MULTILINE) + re.findall(
        r"^    (pflab .*)$", page, re.MULTILINE
    )
    commands = [re.split(r" {3,}| > ", line)[0] for line in lines]
    return [shlex.split(command)[1:] for command in commands]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_on_a_page_exists(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pflab accepts each command of a page: the verb, its action, and their options."""
    for verb, *args in _commands((ROOT / page).read_text("utf-8")):
        if verb == "node":  # its options are those of python -m node
            with pytest.raises(SystemExit):
                node_main(["--help"])
            options = {arg for arg in args if arg.startswith("-")}
            assert options <= set(re.split(r"[\s,\[\]]+", capsys.readouterr().out))
        else:
            assert mistake_in(shlex.join(["pflab", verb, *args])) is None


def test_the_tests_in_the_readme_pass(tmp_path: Path) -> None:
    """The example of the pytest plugin in README.md passes as it is, each test in a lab of its own, and is short."""
    (example,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(example.splitlines()) <= 25
    write(tmp_path, example)
    code, told = run_pytest(tmp_path)
    assert (code, "3 passed" in told) == (0, True), told


def test_the_pages_name_every_verb() -> None:
    """Some page shows each verb, and README.md and the page on labs show most."""
    shown = {page: {words[0] for words in _commands((ROOT / page).read_text("utf-8"))} for page in PAGES}
    assert set(VERBS) <= set().union(*shown.values())
    assert len(shown["README.md"]) > 10
    assert len(shown["docs/how-to/labs.md"]) > 20


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_a_page_need_no_source_tree(page: str) -> None:
    """A command names an example of pflab as an installed pflab finds it: by its name, not by its path in the source tree."""
    named = {word for command in _commands((ROOT / page).read_text("utf-8")) for word in command}
    assert [each for each in named if each.startswith(("topology/", "scenarios/"))] == []


@pytest.mark.parametrize("page", [*PAGES, "ARCHITECTURE.md", "CHANGELOG.md"])
def test_every_link_on_a_page_resolves(page: str) -> None:
    """A link to a file of the project, to a heading of a page, or to a page that is made for the site, has a target."""
    made = generated_pages()
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE)]:
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if page.startswith("docs/") and os.path.relpath(target, ROOT / "docs") in made:
            continue
        assert target.exists(), (page, link)
        if anchor:
            assert anchor in _anchors(target.read_text("utf-8")), (page, link)


def _anchors(text: str) -> set[str]:
    """Return the anchors of a page: those of its headings, as GitHub makes them, and its own."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {*re.findall(r'<a id="([^"]+)"></a>', text)} | {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    }


def test_readme_is_short() -> None:
    """README.md stays under 150 lines and links the page of each kind of user."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) < 150
    for page in (
        "docs/how-to/labs.md",
        "docs/how-to/testing.md",
        "docs/how-to/lessons.md",
        "docs/how-to/analytics.md",
        "CONTRIBUTING.md",
    ):
        assert f"({page})" in readme


@pytest.mark.live
def test_the_test_in_python_passes(project_root: Path, tmp_path: Path) -> None:
    """The tests for a running lab on docs/how-to/testing.md pass against a lab of the topology that it names."""
    page = (project_root / "docs/how-to/testing.md").read_text("utf-8")
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    (block,) = [each for each in blocks if "http://127.0.0.1:8025" in each]
    topology = (project_root / "topology/examples/one-site.yaml").read_text("utf-8")
    with lab_up(tmp_path, topology=topology) as url:
        named: dict[str, Any] = {}
        exec(block.replace("http://127.0.0.1:8025", url), named)
        tests = [value for name, value in named.items() if name.startswith("test_")]
        assert tests
        for test in tests:
            test()
