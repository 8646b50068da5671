"""What the five sources state, docs/sources.yaml: read, and compared with what the project has.

A mistake is an error: a number that is not the next one, a text that is too long, a rule, a scenario or a case that does not
exist, a scenario that cites none of the rules, or a rule with a source of which no statement names the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import generated
from pydantic import RootModel, ValidationError
from rules_catalogue import CATALOGUE, Catalogue, Entry, Rule, load_catalogue, read_yaml, scenario_rules

SOURCES = "docs/sources.yaml"
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

    def by_rule(self) -> dict[str, list[str]]:
        """Return, for each rule, the ids of the statements that name it, also those of repetitions."""
        own = self.own
        named: dict[str, list[str]] = {}
        for _, each in self.entries():
            statement = each if isinstance(each, Statement) else own[each.same]
            for rule in statement.rules:
                named.setdefault(rule, []).append(each.id)
        return named


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


def read_sources(root: Path) -> Sources:
    """Return the statements in docs/sources.yaml. Raise Mistakes if they do not have the fields of statements."""
    path = root / SOURCES
    try:
        return Sources.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = [f"{path.name}: {'.'.join(map(str, at['loc']))}: {at['msg']}" for at in error.errors()]
        raise generated.Mistakes("\n".join(faults)) from error


def load_sources(root: Path, project: Project) -> Sources:
    """Return the statements in docs/sources.yaml. Raise Mistakes if there are any; each has a line."""
    sources = read_sources(root)
    if faults := [*_faults(sources, project)]:
        raise generated.Mistakes("\n".join(f"sources.yaml: {fault}" for fault in faults))
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
