"""Verbs about files: validate, analyze, decode, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument

from pflab.cli.given_files import read_bytes
from pflab.cli.given_topology import read_topology
from pflab.cli.options import TopologyFile
from pflab.cli.output import CommandError, Json, out, print_json, print_lines
from pflab.scenario.load import load_scenario
from pflab.scenario.model import scenario_schema
from pflab.terms.verdict import ExitCode
from topology.file.schema import topology_schema
from topology.file.yaml_source import read_yaml
from topology.problems import ProblemsError, counted, one_of

if TYPE_CHECKING:
    from transport.mime.describe import Branch

SCHEMAS = {"topology": topology_schema, "scenario": scenario_schema}


def validate(
    file: Annotated[Path, Argument(metavar="FILE", help="A topology or a scenario, as YAML.")],
    as_json: Json = False,
) -> int:
    """Check a topology or a scenario, and print every mistake with its line.

    Each line says what is wrong and what would be right.

    Example: pflab validate scenarios/lost-mail.yaml
    """
    text = read_bytes(file).decode("utf-8", "replace")
    data = read_yaml(text, str(file)).data
    is_scenario = isinstance(data, dict) and "steps" in data
    try:
        summary = _scenario_summary(file) if is_scenario else _topology_summary(file)
    except ProblemsError as error:
        return _print_problems(error, as_json)
    except OSError as error:
        raise CommandError(f"{file}: {(error.strerror or str(error)).lower()}; name a file that can be read") from None
    if as_json:
        print_json({"file": str(file), "kind": "scenario" if is_scenario else "topology", "problems": []})
    else:
        print_lines([f"{file}: {summary}"])
    return ExitCode.GOOD


def _scenario_summary(file: Path) -> str:
    scenario = load_scenario(file)
    rules = f", rules {', '.join(scenario.rules)}" if scenario.rules else ""
    return f"a valid scenario: {scenario.title} ({counted(len(scenario.steps), 'step')}{rules})"


def _topology_summary(file: Path) -> str:
    organization = read_topology(file)
    servers, sites = counted(len(organization.servers), "server"), counted(len(organization.sites), "site")
    return f"a valid topology: {servers} in {sites}, {counted(len(organization.folders), 'folder')}"


def _print_problems(error: ProblemsError, as_json: bool) -> int:
    if not as_json:
        raise CommandError(*error.lines) from error
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


def analyze(
    topology: TopologyFile,
    as_json: Json = False,
) -> int:
    """List the settings of a topology that differ from the defaults, and what they do.

    The list also shows values that were out of range, settings without effect, and settings with a surprising effect.

    Example: pflab analyze topology/examples/two-sites.yaml
    """
    from pflab.explain.settings_report import analyze as report_of  # noqa: PLC0415 - a store's code takes long to import

    found = report_of(read_topology(topology))
    if as_json:
        print_json(found.as_document())
    else:
        print_lines(found.lines())
    return ExitCode.GOOD


def decode(
    mail: Annotated[Path, Argument(metavar="MAIL.eml", help="The file of a replication mail.")],
    as_json: Json = False,
) -> int:
    """Decode a replication mail, down to each property of each item.

    pflab demo and pflab run --keep-mails write their mails to the folder mails/ of the run folder.

    Example: pflab decode runs/latest/mails/2003-10-21T001500Z-A-to-B-content.eml
    """
    from node.codec.property_meanings import INTERPRETERS, NAMES  # noqa: PLC0415 - a store's code takes long to import
    from transport.errors import CodecError  # noqa: PLC0415 - as above
    from transport.mime.describe import describe_mail, outline  # noqa: PLC0415 - as above

    try:
        branch = describe_mail(read_bytes(mail), INTERPRETERS, NAMES)
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


def schema(what: Annotated[str, Argument(metavar="topology|scenario", help="The kind of file.")]) -> int:
    """Print the JSON Schema of a kind of file, for editors.

    With this schema, an editor can check a file, and suggest keys and values, while you type.

    Example: pflab schema scenario > scenario.schema.json
    """
    if what not in SCHEMAS:
        raise CommandError(f"pflab schema {what}: no such kind of file; {one_of(SCHEMAS)}")
    document = SCHEMAS[what]()
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    return ExitCode.GOOD
