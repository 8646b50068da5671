"""Write docs/reference/sources.md: what the five sources state, with the rules, the scenarios and the lessons that show it.

    python docs/sources_page.py            write the page
    python docs/sources_page.py --check    exit with 1, and say why, if the page is out of date

docs/sources.yaml has the statements. A mistake in it is an error: a number that is not the next one, a text that is too long, a
rule, a scenario or a case that does not exist, a scenario that cites none of the rules, or a rule with a source of which no
statement names the rule.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import generated
from pydantic import RootModel, ValidationError
from rules_page import CATALOGUE, Catalogue, Entry, Rule, load_catalogue, read_yaml, scenario_rules

SOURCES = "docs/sources.yaml"
PAGE = "docs/reference/sources.md"
DISAGREEMENTS = "docs/reference/disagreements.md"
MOST_WORDS = 22
"""The words of a statement. A cell of a table has at most 25, and three are for what the page adds."""

_CASE = re.compile(r"^### ((\d+)\. .+)$", re.MULTILINE)


class Difference(Entry):
    """What pflab does instead; `case` is the number of the case on the page of disagreements, if it has one."""

    text: str
    case: int | None = None


class Statement(Entry):
    id: str
    text: str
    rules: tuple[str, ...]
    scenarios: tuple[str, ...] | Literal["none"]
    commands: tuple[str, ...] = ()
    differs: Difference | None = None


class Repetition(Entry):
    """A statement that another source has too."""

    id: str
    same: str


class Section(Entry):
    subject: str
    place: str
    statements: tuple[Statement | Repetition, ...]


class Sources(RootModel[dict[str, tuple[Section, ...]]]):
    """The sections of each source."""

    @property
    def own(self) -> dict[str, Statement]:
        """The statements by their ids, without the repetitions."""
        return {each.id: each for _, each in self.entries() if isinstance(each, Statement)}

    def entries(self) -> Iterator[tuple[str, Statement | Repetition]]:
        """Yield each source with each of its statements and repetitions."""
        for source, sections in self.root.items():
            for section in sections:
                for each in section.statements:
                    yield source, each

    def said(self) -> Iterator[tuple[str, Statement]]:
        """Yield each source with each statement that it has, its own or a repetition."""
        own = self.own
        for source, each in self.entries():
            yield source, each if isinstance(each, Statement) else own[each.same]


@dataclass(frozen=True, slots=True)
class Project:
    """What the statements refer to.

    scenarios: for each scenario, the rules that it cites.
    lessons: the numbers of the scenarios that are lessons.
    cases: the headings of the page of disagreements by their numbers.
    """

    catalogue: Catalogue
    scenarios: Mapping[str, frozenset[str]]
    lessons: Mapping[str, int]
    cases: Mapping[int, str]

    @property
    def rules(self) -> dict[str, Rule]:
        return {rule.id: rule for rule in self.catalogue.rules}


def load_project(root: Path) -> Project:
    """Return what the tree has. Raise CatalogueError if the catalogue of rules or a scenario has mistakes."""
    files = sorted((root / "scenarios").glob("*.yaml"))
    courses = {path.stem: read_yaml(path).get("course") for path in files}
    page = (root / DISAGREEMENTS).read_text(encoding="utf-8")
    return Project(
        load_catalogue(root / CATALOGUE),
        {path.stem: frozenset(scenario_rules(path)) for path in files},
        {name: course["number"] for name, course in courses.items() if course},
        {int(number): heading for heading, number in _CASE.findall(page)},
    )


def load_sources(root: Path, project: Project) -> Sources:
    """Return the statements in docs/sources.yaml. Raise Mistakes if there are any; each has a line."""
    path = root / SOURCES
    try:
        sources = Sources.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = [f"{path.name}: {'.'.join(map(str, at['loc']))}: {at['msg']}" for at in error.errors()]
        raise generated.Mistakes("\n".join(faults)) from error
    if faults := [*_faults(sources, project)]:
        raise generated.Mistakes("\n".join(f"{path.name}: {fault}" for fault in faults))
    return sources


def _faults(sources: Sources, project: Project) -> Iterator[str]:
    if unknown := sources.root.keys() - project.catalogue.sources.keys():
        yield f"{', '.join(sorted(unknown))}: not a source of {CATALOGUE}"
    numbers = dict.fromkeys(sources.root, 0)
    own = sources.own
    for source, each in sources.entries():
        numbers[source] += 1
        if each.id != f"{source}.{numbers[source]}":
            yield f"{each.id}: the next id is {source}.{numbers[source]}"
        if isinstance(each, Statement):
            yield from (f"{each.id}: {fault}" for fault in _wrong(each, project))
        elif each.same not in own or each.same.startswith(f"{source}."):
            yield f"{each.id}: {each.same} is no statement of another source"
    if all(isinstance(each, Statement) or each.same in own for _, each in sources.entries()):
        yield from (f"{rule}: no statement of {source} names it" for rule, source in missing(sources, project))


def _wrong(statement: Statement, project: Project) -> Iterator[str]:
    if len(statement.text.split()) > MOST_WORDS:
        yield f"the text has more than {MOST_WORDS} words"
    if "|" in statement.text:
        yield "a text has no vertical bar, which divides the cells of a table"
    if not statement.rules:
        yield "names no rule"
    yield from (f"{name} is no rule" for name in statement.rules if name not in project.rules)
    for name in statement.scenarios if statement.scenarios != "none" else ():
        if name not in project.scenarios:
            yield f"{name} is no scenario"
        elif not project.scenarios[name].intersection(statement.rules):
            yield f"the scenario {name} cites none of {', '.join(statement.rules)}"
    if statement.scenarios == ():
        yield "write scenarios: none if no scenario shows it"
    case = statement.differs and statement.differs.case
    if case is not None and case not in project.cases:
        yield f"{DISAGREEMENTS} has no case {case}"


def missing(sources: Sources, project: Project) -> list[tuple[str, str]]:
    """Return each rule with each of its sources that has no statement which names the rule."""
    named = {(rule, source) for source, statement in sources.said() for rule in statement.rules}
    wanted = (
        (rule.id, source) for rule in project.catalogue.rules for source in rule.sources if source in sources.root
    )
    return [each for each in wanted if each not in named]


# --- The page

_HEAD = """\
# From the sources to the lab

<!-- Generated by `make rules` from docs/sources.yaml. Do not edit. -->

pflab does what five documents say about public folder replication. This page goes through each of them in its own order, and
gives their statements in our words. For each statement you see the [rules](rules.md) that pflab obeys, and the scenarios that
show it. `pflab run NAME` plays a scenario. If it is a lesson, `pflab demo --lesson NAME` plays it with explanations.

An id with "as" marks a statement that another source has too. *Differs* marks what pflab does in another way; what it does
instead, and why, stands below the table."""


def render(sources: Sources, project: Project) -> str:
    """Return the text of the page."""
    lines = [_HEAD, "", *_counts(sources), *_differences(sources)]
    own = sources.own
    for source, sections in sources.root.items():
        title = project.catalogue.sources[source]
        lines += [f"## {source}: {title.partition(',')[0]}", "", f"{title}.", ""]
        for section in sections:
            lines += [f"### {_heading(source, section)}", "", f"*Place: {section.place}.*", ""]
            lines += ["| id | the source says | rules | shown by |", "|---|---|---|---|"]
            lines += [_row(each, own, project) for each in section.statements]
            lines.append("")
            for each in section.statements:
                statement = own[each.same] if isinstance(each, Repetition) else each
                if statement.differs:
                    lines += [f"**{each.id} differs.** {_instead(statement.differs, project)}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _heading(source: str, section: Section) -> str:
    return f"{source}: {section.subject}"


def _counts(sources: Sources) -> list[str]:
    lines = [
        "| source | statements | differ | no scenario shows | of these, a command shows |",
        "|---|---|---|---|---|",
    ]
    said: dict[str, list[Statement]] = {source: [] for source in sources.root}
    for source, statement in sources.said():
        said[source].append(statement)
    said["**all, each once**"] = [*sources.own.values()]
    for source, statements in said.items():
        bare = [each for each in statements if each.scenarios == "none"]
        counts = [len(statements), sum(each.differs is not None for each in statements), len(bare)]
        lines.append(f"| {source} | {' | '.join(map(str, [*counts, sum(bool(each.commands) for each in bare)]))} |")
    return [*lines, ""]


def _differences(sources: Sources) -> list[str]:
    own = sources.own
    differ = [
        f"[{each.id}](#{_anchor(_heading(source, section))})"
        for source, sections in sources.root.items()
        for section in sections
        for each in section.statements
        if isinstance(each, Statement) and each.differs
    ]
    return [f"{len(differ)} of {len(own)} statements differ: {', '.join(differ)}.", ""]


def _instead(difference: Difference, project: Project) -> str:
    if difference.case is None:
        return difference.text
    heading = project.cases[difference.case]
    return f"{difference.text} [Case {difference.case}](disagreements.md#{_anchor(heading)})"


def _row(each: Statement | Repetition, own: Mapping[str, Statement], project: Project) -> str:
    statement = own[each.same] if isinstance(each, Repetition) else each
    name = f"{each.id}, as {each.same}" if isinstance(each, Repetition) else each.id
    text = f"{statement.text} *Differs.*" if statement.differs else statement.text
    rules = ", ".join(
        f"[{rule}](rules.md#{_anchor(f'{rule} {project.rules[rule].title}')})" for rule in statement.rules
    )
    shown = [_shown(scenario, project) for scenario in statement.scenarios] if statement.scenarios != "none" else []
    shown += [f"`{command}`" for command in statement.commands]
    return f"| {name} | {text} | {rules} | {', '.join(shown) or 'no scenario'} |"


def _shown(scenario: str, project: Project) -> str:
    number = project.lessons.get(scenario)
    return f"[{scenario}](../../scenarios/{scenario}.yaml)" + (f" (lesson {number})" if number is not None else "")


def _anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def main(arguments: list[str] | None = None, root: Path = generated.ROOT) -> int:
    """Return 0 if the page was written or is up to date, 1 if it is out of date or docs/sources.yaml has a mistake.

    arguments: those of the command line, by default the program's own.
    root: the folder of the project.
    """

    def page() -> str:
        project = load_project(root)
        return render(load_sources(root, project), project)

    return generated.main(f"Write {PAGE} from {SOURCES}.", {PAGE: page}, arguments=arguments, root=root)


if __name__ == "__main__":
    sys.exit(main())
