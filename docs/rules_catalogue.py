"""The catalogue of the rules, docs/rules.yaml: its rules, their areas, and the pages on which they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import generated
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

CATALOGUE = "docs/rules.yaml"

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ID = r"[A-Z]{2,3}-\d+"
_RANGE = re.compile(r"\b([A-Z]{2,3})-(\d+) to \1-(\d+)\b")


class CatalogueError(generated.Mistakes):
    """The catalogue or a citation is wrong; the message has a line for each mistake."""


class Kind(StrEnum):
    BEHAVIOUR = "behaviour"
    FORMAT = "format"
    SURFACE = "surface"


class Status(StrEnum):
    BUILT = "built"
    PLANNED = "planned"


class Entry(BaseModel):
    """A part of a YAML file that has the fields of its class and no other."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_min_length=1)


class Deviation(Entry):
    """A deliberate difference from the rule as first written, and its reason."""

    text: str
    reason: str


class Rule(Entry):
    id: str
    title: str
    kind: Kind
    sources: tuple[str, ...]
    status: Status
    planned_part: str | None = None
    text: str
    deviation: Deviation | None = None
    untraced: str | None = None
    """Why no trace can show this behaviour."""

    @property
    def area(self) -> str:
        return self.id.partition("-")[0]


class VersionRow(Entry):
    """An aspect in which the versions of Exchange differ; `values` are in the order of the columns."""

    aspect: str
    rules: tuple[str, ...]
    values: tuple[str, ...]


class Versions(Entry):
    columns: tuple[str, ...]
    rows: tuple[VersionRow, ...]


class RulesPage(Entry):
    """A page with the rules of these areas."""

    title: str
    areas: tuple[str, ...]


class Catalogue(Entry):
    sources: dict[str, str]
    areas: dict[str, str]
    pages: dict[str, RulesPage]
    terms: str
    versions: Versions
    traces: str
    rules: tuple[Rule, ...]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(rule.id for rule in self.rules)

    def link(self, rule: Rule) -> str:
        """Return the link to a rule from another folder of docs/reference."""
        page = next(name for name, page in self.pages.items() if rule.area in page.areas)
        return f"[{rule.id}](../rules/{page}.md#{anchor(f'{rule.id} {rule.title}')})"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        faults = list(_faults_of(self))
        if faults:
            raise ValueError("\n".join(faults))
        return self


def _faults_of(catalogue: Catalogue) -> Iterator[str]:
    """Yield the mistakes between fields: ids out of order or not unique, unknown sources, references to unknown rules."""
    areas = list(catalogue.areas)
    if [area for page in catalogue.pages.values() for area in page.areas] != areas:
        yield f"pages: each of the areas {', '.join(areas)} is on one page, in this order"
    place = (-1, 0)
    for rule in catalogue.rules:
        if not re.fullmatch(ID, rule.id) or rule.area not in catalogue.areas:
            yield f"{rule.id}: not an id of one of the areas {', '.join(areas)}"
            continue
        here = (areas.index(rule.area), int(rule.id.partition("-")[2]))
        if here <= place:
            yield f"{rule.id}: ids are unique and in the order of the areas and numbers"
        place = here
        for source in rule.sources:
            if source not in catalogue.sources:
                yield f"{rule.id}: source {source} is none of {', '.join(catalogue.sources)}"
        if rule.status is Status.PLANNED and rule.planned_part:
            yield f"{rule.id}: planned_part is for built rules; this one is planned as a whole"
        if rule.untraced and rule.kind is not Kind.BEHAVIOUR:
            yield f"{rule.id}: untraced is for behaviours; others want no trace check"
        yield from (
            f"{rule.id}: refers to {name}, which is no rule" for name in sorted(unknown_rules(rule.text, catalogue))
        )
    for row in catalogue.versions.rows:
        if len(row.values) != len(catalogue.versions.columns):
            yield f"{row.aspect}: {len(row.values)} values for {len(catalogue.versions.columns)} versions"
        yield from (f"{row.aspect}: {name} is no rule" for name in row.rules if name not in catalogue.ids)


def load_catalogue(path: Path) -> Catalogue:
    """Return the catalogue in the file. Raise CatalogueError if it has mistakes; each has a line."""
    try:
        return Catalogue.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = [f"{path.name}: {'.'.join(map(str, at['loc']))}: {at['msg']}" for at in error.errors()]
        raise CatalogueError("\n".join(faults)) from error


def rule_ids(text: str) -> set[str]:
    """Return all words that look like a rule's id, with each range as its single ids."""
    found = set(re.findall(rf"(?<![\w-]){ID}\b", text))
    for area, first, last in _RANGE.findall(text):
        found |= {f"{area}-{number}" for number in range(int(first), int(last) + 1)}
    return found


def of_an_area(rule: str, catalogue: Catalogue) -> bool:
    """Return whether a word means a rule; words such as UTF-8 or the number of a standard do not."""
    return rule.partition("-")[0] in catalogue.areas


def unknown_rules(text: str, catalogue: Catalogue) -> set[str]:
    """Return the ids of a known area that no rule has: they are mistakes."""
    return {rule for rule in rule_ids(text) - catalogue.ids if of_an_area(rule, catalogue)}


def scenario_rules(path: Path) -> list[str]:
    """Return the rules that a scenario cites.

    path: the file of the scenario.
    """
    rules = read_yaml(path).get("rules", [])
    if not isinstance(rules, list):
        raise CatalogueError(f"{path.name}: rules is a list of rule ids, such as [BF-2, BF-3]")
    return [str(rule) for rule in rules]


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a file. Raise CatalogueError if it is not YAML.

    path: the file.
    """
    try:
        content: Any = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except yaml.YAMLError as error:
        raise CatalogueError(f"{path.name}: not YAML: {error}") from error
    return content if isinstance(content, dict) else {}


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
