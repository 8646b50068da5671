"""Verbs about files: validate, example, decode, schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument

from pflab.cli.inputs.by_name import given_file, or_example, read_topology
from pflab.cli.inputs.files import read_bytes
from pflab.cli.output import CommandError, Json, out, print_file, print_json, print_lines
from pflab.errors import LabError
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.terms.verdict import ExitCode
from topology.file.examples import EXAMPLES, yaml_file, yaml_names
from topology.file.yaml_source import read_yaml
from topology.problems import Problem, ProblemsError, counted, did_you_mean, one_of

if TYPE_CHECKING:
    from transport.mime.describe import Branch


def validate(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="YAML files with topologies, scenarios, or plans of pflab simulate; or names of examples that "
            "come with pflab.",
        ),
    ],
    as_json: Json = False,
) -> int:
    """Check topologies, scenarios and plans, and print every mistake with its line.

    Each line says what is wrong and what would be right.

    Example: pflab validate one-site lost-mail
    """
    checks = [_checked(file) for file in files]
    wrong = [line for check in checks for line in check.lines]
    if as_json:
        documents = [check.as_document() for check in checks]
        print_json(documents[0] if len(documents) == 1 else documents)
        return ExitCode.UNKNOWN if wrong else ExitCode.GOOD
    print_lines([f"{check.file}: {check.summary}" for check in checks if not check.lines])
    if wrong:
        raise CommandError(*wrong)
    return ExitCode.GOOD


@dataclass(frozen=True, slots=True)
class _Checked:
    """A file that was checked.

    summary: of a valid file.
    problems: its mistakes.
    unread: why it could not be read.
    """

    file: Path
    kind: str
    summary: str = ""
    problems: tuple[Problem, ...] = ()
    unread: str = ""

    @property
    def lines(self) -> list[str]:
        return [self.unread] if self.unread else [str(problem) for problem in self.problems]

    def as_document(self) -> dict[str, Any]:
        problems = [asdict(problem) for problem in self.problems] or ([{"what": self.unread}] if self.unread else [])
        return {"file": str(self.file), "kind": self.kind, "problems": problems}


def _checked(named: Path) -> _Checked:
    kind = "file"
    try:
        file = given_file(named)
        if not file.exists():
            what = f"a file that can be read{or_example(file, EXAMPLES, SCENARIOS_OF_PFLAB)}"
            return _Checked(file, kind, unread=f"{file}: no such file or directory; name {what}")
        data = read_yaml(read_bytes(file).decode("utf-8", "replace"), str(file)).data
        kind = _kind_of(data)
        return _Checked(named, kind, f"a valid {kind}: {_SUMMARIES[kind](file)}")
    except ProblemsError as error:
        return _Checked(named, kind, problems=error.problems)
    except (CommandError, LabError) as error:
        return _Checked(named, kind, unread=str(error))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return _Checked(named, kind, unread=f"{named}: {reason}; name a file that can be read")


def example(
    name: Annotated[
        str | None, Argument(metavar="[EXAMPLE]", help="The name of an example; without it, all are listed.")
    ] = None,
) -> int:
    """Print a topology or a scenario that comes with pflab, as a file to begin from.

    The verbs that read topologies or scenarios also accept the names of these examples.

    Example: pflab example one-site > lab.yaml
    """
    if name is None:
        print_lines(["Topologies, such as for pflab up:", *_listed(EXAMPLES, r"^# (.+?)\.(?: |$)")])
        print_lines(["", "Scenarios, for pflab run:", *_listed(SCENARIOS_OF_PFLAB, r"^title: (.+)$")])
        return ExitCode.GOOD
    file = yaml_file(name, EXAMPLES) or yaml_file(name, SCENARIOS_OF_PFLAB)
    if file is None:
        right = did_you_mean(name, yaml_names(EXAMPLES, SCENARIOS_OF_PFLAB))
        raise CommandError(f"pflab example {name}: no such example; {right}")
    print_file(file.read_text("utf-8"))
    return ExitCode.GOOD


def _listed(folder: Path, about: str) -> list[str]:
    """Return a line for each example in a folder: its name, and what the first match of `about` in the file says of it."""
    names = yaml_names(folder)
    widest = max(map(len, names))
    titles = [re.search(about, (folder / f"{name}.yaml").read_text("utf-8"), re.MULTILINE) for name in names]
    return [f"  {name:<{widest}}  {title[1] if title else ''}" for name, title in zip(names, titles, strict=True)]


def _kind_of(data: object) -> str:
    """Return the kind of file that a document most likely is, so that its mistakes are judged by the right rules."""
    if not isinstance(data, dict):
        return "topology"
    if data.keys() & {"steps", "plan"} or ("servers" not in data and data.keys() & {"title", "topology"}):
        return "scenario"
    return "topology"


def _scenario_summary(file: Path) -> str:
    from pflab.scenario.load import load_scenario  # noqa: PLC0415 - takes long to import

    scenario = load_scenario(file)
    rules = f", rules {', '.join(scenario.rules)}" if scenario.rules else ""
    return f"{scenario.title} ({counted(len(scenario.steps), 'step')}{rules})"


def _topology_summary(file: Path) -> str:
    organization = read_topology(file)
    servers, sites = counted(len(organization.servers), "server"), counted(len(organization.sites), "site")
    notes = "".join(f"; note: {notice}" for notice in organization.notices())
    return f"{servers} in {sites}, {counted(len(organization.folders), 'folder')}{notes}"


_SUMMARIES: Final[Mapping[str, Callable[[Path], str]]] = {
    "topology": _topology_summary,
    "scenario": _scenario_summary,
}
"""Each kind of file, and the function that reads such a file and returns what is in it."""


def decode(
    mail: Annotated[Path, Argument(metavar="MAIL.eml", help="The file of a replication mail.")],
    as_json: Json = False,
) -> int:
    """Decode a replication mail, down to each property of each item.

    pflab demo and pflab run --keep-mails write their mails to the folder mails/ of the run folder. A mail names a change by
    the replica GUID of its store and a number. All other verbs write the store's name: A-4.

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
    document: dict[str, Any] = {"label": branch.label}
    if branch.text:
        document["text"] = branch.text
    if branch.children:
        document["children"] = [_branch_json(child) for child in branch.children]
    return document


def schema(what: Annotated[str, Argument(metavar="topology|scenario", help="The kind of file.")]) -> int:
    """Print the JSON Schema of a kind of file, for editors.

    With this schema, an editor can check a file, and suggest keys and values, while you type.

    Example: pflab schema scenario > scenario.schema.json
    """
    if what not in _SCHEMAS:
        raise CommandError(f"pflab schema {what}: no such kind of file; {one_of(_SCHEMAS)}")
    document = _SCHEMAS[what]()
    print_json(document)
    return ExitCode.GOOD


def _schema_of_topologies() -> dict[str, Any]:
    from topology.file.schema import topology_schema  # noqa: PLC0415 - takes long to import

    return topology_schema()


def _schema_of_scenarios() -> dict[str, Any]:
    from pflab.scenario.model import scenario_schema  # noqa: PLC0415 - as above

    return scenario_schema()


_SCHEMAS: Final = {
    "topology": _schema_of_topologies,
    "scenario": _schema_of_scenarios,
}
