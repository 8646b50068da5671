"""Verbs about files: validate, decode, schema."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from node.interpret import INTERPRETERS
from pflab.cli.labs import read_bytes
from pflab.cli.output import CommandError, Json, out, print_json, print_lines
from pflab.scenario import load_scenario
from pflab.scenario_schema import scenario_schema
from pflab.verdict import ExitCode
from topology import ProblemsError, load_topology, read_yaml, topology_schema
from transport.describe import Branch, describe_mail, outline
from transport.errors import CodecError


class SchemaOf(StrEnum):
    TOPOLOGY = "topology"
    SCENARIO = "scenario"


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A topology or a scenario, as YAML.")],
    as_json: Json = False,
) -> int:
    """Check a topology or a scenario: every mistake with its line, what is wrong and what would be right.

    Example: pflab validate scenarios/lost-mail.yaml
    """
    text = read_bytes(file).decode("utf-8", "replace")
    data = read_yaml(text, str(file)).data
    is_scenario = isinstance(data, dict) and "steps" in data
    try:
        told = _scenario_told(file) if is_scenario else _topology_told(file)
    except ProblemsError as error:
        return _tell_problems(error, as_json)
    except OSError as error:
        raise CommandError(f"{file}: {(error.strerror or str(error)).lower()}; name a file that can be read") from None
    if as_json:
        print_json({"file": str(file), "kind": "scenario" if is_scenario else "topology", "problems": []})
    else:
        print_lines([f"{file}: {told}"])
    return ExitCode.GOOD


def _scenario_told(file: Path) -> str:
    scenario = load_scenario(file)
    rules = f", rules {', '.join(scenario.rules)}" if scenario.rules else ""
    return f"a scenario that can be run: {scenario.title} ({len(scenario.steps)} steps{rules})"


def _topology_told(file: Path) -> str:
    organization = load_topology(file)
    counts = (
        f"{len(organization.servers)} servers in {len(organization.sites)} sites, {len(organization.folders)} folders"
    )
    return f"a topology that can be run: {counts}"


def _tell_problems(error: ProblemsError, as_json: bool) -> int:
    if not as_json:
        raise CommandError(*str(error).splitlines()) from error
    print_json(
        {
            "problems": [
                {
                    "file": each.file,
                    "line": each.line,
                    "column": each.column,
                    "path": each.path,
                    "what": each.what,
                    "would_be_right": each.would_be_right,
                }
                for each in error.problems
            ]
        }
    )
    return ExitCode.UNKNOWN


def decode(
    mail: Annotated[Path, typer.Argument(metavar="MAIL.eml", help="A mail as it travelled.")],
    as_json: Json = False,
) -> int:
    """Take a replication mail apart, down to each property of each item.

    Example: pflab decode lost.eml
    """
    try:
        branch = describe_mail(read_bytes(mail), INTERPRETERS)
    except CodecError as error:
        raise CommandError(f"{mail}: {error}") from error
    if as_json:
        print_json(_branch_json(branch))
    else:
        for depth, line in outline(branch):
            out.print("  " * depth + line, markup=False)
    return ExitCode.GOOD


def _branch_json(branch: Branch) -> dict[str, Any]:
    found: dict[str, Any] = {"label": branch.label}
    if branch.text:
        found["text"] = branch.text
    if branch.children:
        found["children"] = [_branch_json(each) for each in branch.children]
    return found


def schema(what: Annotated[SchemaOf, typer.Argument(help="Which kind of file.")]) -> int:
    """Print the JSON Schema of a kind of file, for editors that complete and check as one types.

    Example: pflab schema scenario > scenario.schema.json
    """
    document = topology_schema() if what is SchemaOf.TOPOLOGY else scenario_schema()
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    return ExitCode.GOOD
