"""What a shell offers for the values of arguments and options: servers, folders, scenarios, lessons and runs.

The name of a value in the help (`pflab.cli.value_names`) says what it is. Servers and folders are those of the running lab or
run that the verb would read. Completion never fails: if something cannot be read, it offers less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pflab.cli.inputs.files import RUNS
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.runs.run_folder import LATEST
from topology.file.examples import EXAMPLES, yaml_names

_ANSWER_TIMEOUT_S: Final = 1.0
"""Real time that a lab gets to answer. A user waits at the keyboard."""


@dataclass(frozen=True, slots=True)
class Word:
    """One completion, with the attributes that click reads. Versions of Typer contain click or depend on it, so click's own
    class has no fixed place."""

    value: str
    type: str = "plain"
    help: str | None = None


def offer_values(param: Any) -> None:
    """Let a shell complete the value of an argument or option, if its values can be listed."""
    name = str(param.metavar or "").strip("[]")
    find = _BY_NAME.get(name)
    if find is None:
        return

    def complete(ctx: Any, incomplete: str) -> list[Word]:
        return [Word(word) for word in find(ctx) if word.startswith(incomplete)]

    param.shell_complete = complete


def _servers(ctx: Any) -> Iterable[str]:
    return _names(ctx)[0]


def _folders(ctx: Any) -> Iterable[str]:
    return _names(ctx)[1]


def _names(ctx: Any) -> tuple[list[str], list[str]]:
    """Return the servers and folders of the given lab or run, else of the lab of this folder, else of the last run."""
    from pflab.cli.running_lab import default_url  # noqa: PLC0415 - completing a verb needs none of this
    from pflab.client import Client, ClientError  # noqa: PLC0415
    from topology.file.load import load_topology  # noqa: PLC0415
    from topology.problems import ProblemsError  # noqa: PLC0415

    run = ctx.params.get("run")
    url = ctx.params.get("lab") or (default_url() if run is None else None)
    try:
        if url is not None:
            with Client(url, timeout_s=_ANSWER_TIMEOUT_S) as client:
                lab = client.lab()
                return [server["name"] for server in lab["servers"]], list(lab["folders"])
        topology = load_topology(Path(run or RUNS / LATEST) / "topology.yaml")
    except (ClientError, ProblemsError, OSError):
        return [], []
    return list(topology.servers), list(topology.folders)


def _scenarios(_: Any) -> Iterable[str]:
    return _files(SCENARIOS_OF_PFLAB)


def _topologies(_: Any) -> Iterable[str]:
    return _files(EXAMPLES)


def _examples(_: Any) -> Iterable[str]:
    return yaml_names(EXAMPLES, SCENARIOS_OF_PFLAB)


def _files(of_pflab: Path) -> Iterable[str]:
    return sorted({*yaml_names(of_pflab), *(file.name for file in Path().glob("*.yaml"))})


def _lessons(_: Any) -> Iterable[str]:
    from pflab.scenario.load import files_of_course  # noqa: PLC0415 - as above

    return [file.stem for file in files_of_course()]


def _runs(_: Any) -> Iterable[str]:
    return [str(folder) for folder in sorted([RUNS / LATEST, *RUNS.glob("*/*/")]) if (folder / "traces").is_dir()]


_BY_NAME: Final[dict[str, Callable[[Any], Iterable[str]]]] = {
    "SERVER": _servers,
    "FOLDER": _folders,
    "FOLDER...": _folders,
    "PARENT": _folders,
    "SCENARIO": _scenarios,
    "SCENARIO...": _scenarios,
    "TOPOLOGY": _topologies,
    "EXAMPLE": _examples,
    "NUMBER|NAME": _lessons,
    "RUN": _runs,
    "TRACES...": _runs,
}
"""Maps the name of a value in the help to the function that lists such values."""
