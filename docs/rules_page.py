"""Write docs/reference/rules.md: the rules of docs/rules.yaml, and the files that obey, test and show each rule.

    python docs/rules_page.py            write the page
    python docs/rules_page.py --check    exit with 1, and say why, if the page is out of date

A citation is:

* in code and in trace checks, `spec: BF-3`, `spec: CN-6, CN-7` or `spec: RST-1 to RST-4`, in a comment or a docstring;
* in tests, an id in a comment or a docstring, with or without `spec:`;
* in scenarios, an id under the key `rules`.

The page names files without line numbers, so that it changes only when coverage changes.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import generated
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

CATALOGUE = "docs/rules.yaml"
PAGE = "docs/reference/rules.md"
CODE_FOLDERS = ("traces", "topology", "transport", "node", "pflab", "console")
CHECK_FOLDERS = ("analytics",)

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ID = r"[A-Z]{2,3}-\d+"
_CITED = re.compile(rf"\bspec:\s*({_ID}(?:(?:\s*,\s*|\s+and\s+|\s+to\s+|[ \t]+){_ID})*)")
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


class Catalogue(Entry):
    sources: dict[str, str]
    areas: dict[str, str]
    terms: str
    versions: Versions
    traces: str
    rules: tuple[Rule, ...]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(rule.id for rule in self.rules)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        faults = list(_faults_of(self))
        if faults:
            raise ValueError("\n".join(faults))
        return self


def _faults_of(catalogue: Catalogue) -> Iterator[str]:
    """Yield the mistakes between fields: ids out of order or not unique, unknown sources, references to unknown rules."""
    areas = list(catalogue.areas)
    place = (-1, 0)
    for rule in catalogue.rules:
        if not re.fullmatch(_ID, rule.id) or rule.area not in catalogue.areas:
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
        yield from (f"{rule.id}: refers to {name}, which is no rule" for name in sorted(_unknown(rule.text, catalogue)))
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


# --- Citations in the tree


@dataclass(slots=True)
class Coverage:
    """For each kind of citation: rule id -> files, as sorted paths from the project's root."""

    code: dict[str, list[str]] = field(default_factory=dict)
    tests: dict[str, list[str]] = field(default_factory=dict)
    scenarios: dict[str, list[str]] = field(default_factory=dict)
    checks: dict[str, list[str]] = field(default_factory=dict)


def cited(text: str) -> set[str]:
    """Return the ids after `spec:` in a text of any language, with each range as its single ids."""
    return set().union(*(_ids(found) for found in _CITED.findall(text)))


def prose(source: str) -> str:
    """Return the comments and docstrings of Python source. Raise SyntaxError if it is not Python."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, documented))
    docstrings = [ast.get_docstring(node) or "" for node in nodes]
    # Reading tokens is slow, and few files cite a rule in a comment.
    commented = io.StringIO(source if re.search(rf"#.*{_ID}", source) else "")
    tokens = tokenize.generate_tokens(commented.readline)
    return "\n".join([*docstrings, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def scan(root: Path, catalogue: Catalogue) -> Coverage:
    """Return where each rule is cited. Raise CatalogueError if a citation names an unknown rule."""
    coverage = Coverage()
    faults: list[str] = []

    def note(table: dict[str, list[str]], path: Path, ids: Iterable[str]) -> None:
        name = path.relative_to(root).as_posix()
        for rule in sorted(set(ids)):
            if rule in catalogue.ids:
                table.setdefault(rule, []).append(name)
            else:
                faults.append(f"{name}: cites {rule}, which the catalogue does not have")

    for table, folders in ((coverage.code, CODE_FOLDERS), (coverage.checks, CHECK_FOLDERS)):
        for path, words in _python(root, folders):
            note(table, path, cited(words) | _unknown(words, catalogue))
    for path, words in _python(root, ("tests",)):
        note(
            coverage.tests,
            path,
            cited(words) | {rule for rule in _ids(words) if _of_an_area(rule, catalogue)},
        )
    for path in _files(root, ("scenarios",), "*.yaml"):
        note(coverage.scenarios, path, scenario_rules(path))
    if faults:
        raise CatalogueError("\n".join(faults))
    return coverage


def _python(root: Path, folders: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield each Python file that has something like a rule's id, with its comments and docstrings."""
    for path in _files(root, folders, "*.py"):
        source = path.read_text(encoding="utf-8")
        if re.search(_ID, source) is None:
            continue
        try:
            yield path, prose(source)
        except SyntaxError as error:
            raise CatalogueError(f"{path.relative_to(root)}: not Python: {error}") from error


def _files(root: Path, folders: Iterable[str], pattern: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((root / folder).rglob(pattern), key=lambda path: path.as_posix())


def _ids(text: str) -> set[str]:
    """Return all words that look like a rule's id, with each range as its single ids."""
    found = set(re.findall(rf"(?<![\w-]){_ID}\b", text))
    for area, first, last in _RANGE.findall(text):
        found |= {f"{area}-{number}" for number in range(int(first), int(last) + 1)}
    return found


def _of_an_area(rule: str, catalogue: Catalogue) -> bool:
    """Return whether a word means a rule; words such as UTF-8 or the number of a standard do not."""
    return rule.partition("-")[0] in catalogue.areas


def _unknown(text: str, catalogue: Catalogue) -> set[str]:
    """Return the ids of a known area that no rule has: they are mistakes."""
    return {rule for rule in _ids(text) - catalogue.ids if _of_an_area(rule, catalogue)}


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


# --- The page

_HEAD = """\
# Rules

<!-- Generated by `make rules` from docs/rules.yaml and the tree. Do not edit. -->

This page lists the rules of public folder replication that pflab obeys. Each rule names the files of the project that obey
it and test it. A rule about behaviour also needs a scenario and a check over the traces.
"""
_COVERAGE = """\
## Coverage

| area | rules | built | in code | tested | in a scenario | in a trace check |
|---|---|---|---|---|---|---|"""


def render(catalogue: Catalogue, coverage: Coverage) -> str:
    """Return the text of the page, the same for the same catalogue and coverage."""
    lines = [_HEAD, catalogue.terms, "", "## Sources", ""]
    lines += [f"- **{name}**: {text}" for name, text in catalogue.sources.items()]
    lines += ["", *_summary(catalogue, coverage), *_gaps(catalogue, coverage)]
    for area, title in catalogue.areas.items():
        lines += [f"## {title}", ""]
        for rule in catalogue.rules:
            if rule.area == area:
                lines += _rule(rule, coverage)
    lines += [*_versions(catalogue.versions), "## What a trace must contain", "", catalogue.traces]
    return "\n".join(lines) + "\n"


def _summary(catalogue: Catalogue, coverage: Coverage) -> list[str]:
    tables = (coverage.code, coverage.tests, coverage.scenarios, coverage.checks)
    groups = {title: [rule for rule in catalogue.rules if rule.area == area] for area, title in catalogue.areas.items()}
    groups["**all**"] = list(catalogue.rules)
    lines = [_COVERAGE]
    for title, rules in groups.items():
        built = sum(rule.status is Status.BUILT for rule in rules)
        counts = [len(rules), built, *(sum(rule.id in table for rule in rules) for table in tables)]
        lines.append(f"| {title} | {' | '.join(map(str, counts))} |")
    return [*lines, ""]


def _gaps(catalogue: Catalogue, coverage: Coverage) -> list[str]:
    built = [rule for rule in catalogue.rules if rule.status is Status.BUILT]
    behaviour = [rule for rule in built if rule.kind is Kind.BEHAVIOUR]
    gaps = {
        "Built, no code cites it": [rule for rule in built if rule.id not in coverage.code],
        "Built, no test": [rule for rule in built if rule.id not in coverage.tests],
        "Built behaviour, no scenario": [rule for rule in behaviour if rule.id not in coverage.scenarios],
        "Built behaviour, no trace check": [
            rule for rule in behaviour if rule.id not in coverage.checks and rule.untraced is None
        ],
        "Built behaviour that traces do not show": [rule for rule in behaviour if rule.untraced is not None],
        "Planned": [rule for rule in catalogue.rules if rule.status is Status.PLANNED],
    }
    lines = ["## Gaps", ""]
    for what, rules in gaps.items():
        lines.append(f"- {what} ({len(rules)}): {', '.join(rule.id for rule in rules) or 'none'}")
    return [*lines, ""]


def _rule(rule: Rule, coverage: Coverage) -> list[str]:
    status = f"built, except {rule.planned_part}" if rule.planned_part else str(rule.status)
    lines = [f"### {rule.id} {rule.title}", "", f"*{rule.kind}; {' '.join(rule.sources)}; {status}*", ""]
    lines += [rule.text, ""]
    if rule.deviation is not None:
        lines += [f"**Differs on purpose.** {rule.deviation.text}", ""]
        lines += [f"*Reason.* {rule.deviation.reason}", ""]
    rows = [("Obeyed in", coverage.code, "no code"), ("Tested in", coverage.tests, "no test")]
    if rule.kind is Kind.BEHAVIOUR:
        rows.append(("Scenarios", coverage.scenarios, "no scenario"))
        rows.append(("Trace check", coverage.checks, f"none: {rule.untraced}" if rule.untraced else "no trace check"))
    for label, table, gap in rows:
        files = ", ".join(f"[{name}](../../{name})" for name in table.get(rule.id, ()))
        if files or rule.status is Status.BUILT:
            lines.append(f"- {label}: {files or f'**{gap}**'}")
    return lines if lines[-1] == "" else [*lines, ""]


def _versions(versions: Versions) -> list[str]:
    rows = [f"| {row.aspect} | {' | '.join(row.values)} | {', '.join(row.rules)} |" for row in versions.rows]
    head = ["## Versions", "", f"| | {' | '.join(versions.columns)} | rules |"]
    line = "|---" * (len(versions.columns) + 2) + "|"
    return [*head, line, *rows, "", "Servers of different versions may be in one organization.", ""]


# --- Command line


def main(arguments: list[str] | None = None, root: Path = generated.ROOT) -> int:
    """Return 0 if the page was written or is up to date, 1 if it is out of date or the catalogue or a citation is wrong.

    arguments: those of the command line, by default the program's own.
    root: the folder of the project.
    """

    def page() -> str:
        catalogue = load_catalogue(root / CATALOGUE)
        return render(catalogue, scan(root, catalogue))

    return generated.main(f"Write {PAGE} from {CATALOGUE} and the tree.", {PAGE: page}, arguments=arguments, root=root)


if __name__ == "__main__":
    sys.exit(main())
