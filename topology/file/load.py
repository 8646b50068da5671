"""Read a topology file: return a Topology, or raise an error with every mistake in the file."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from topology.file.checks import Checked, find_problems
from topology.file.defaults import resolve
from topology.file.model import (
    ConnectorEntry,
    FilterEntry,
    FolderEntry,
    PolicyEntry,
    ServerEntry,
    TopologyFile,
)
from topology.file.yaml_source import YamlSource, read_text, read_yaml
from topology.model import Topology
from topology.problems import MOST_PROBLEMS, PathItem, Problem, TopologyError, did_you_mean, quoted

_Path = tuple[PathItem, ...]

# The models of the mappings in a topology file, by the first key of their path. The whole file has another model.
_ENTRIES: Final[dict[str, type[BaseModel]]] = {
    "connectors": ConnectorEntry,
    "recipient_policies": PolicyEntry,
    "servers": ServerEntry,
    "folders": FolderEntry,
}
# If a wrong part is left out, another part can become incomplete. A few rounds are enough, because each round leaves out larger
# parts.
_MAX_ROUNDS: Final = 4


def load_topology(path: str | Path) -> Topology:
    """Read a topology file. Raises TopologyError if it has mistakes (it lists all), and OSError if the file cannot be read."""
    return topology_from_text(read_text(Path(path), TopologyError), str(path))


def topology_from_text(text: str, name: str = "topology") -> Topology:
    """Read a topology from YAML or JSON text. Error messages have `name` as the file name.

    Raises TopologyError if the text has mistakes.
    """
    source = read_yaml(text, name)
    problems = list(source.problems)
    if not isinstance(source.data, dict):
        if not problems:
            problems = [
                Problem(name, "", 1, 1, "not a topology", "write keys and values, at least servers: {A: , B: }")
            ]
        raise TopologyError(problems)
    checked = _validated(source, problems)
    if checked is not None:
        problems += find_problems(checked)
    if problems or checked is None:
        raise TopologyError(problems)
    return resolve(checked.file)


def topology_from_document(document: Mapping[str, Any], name: str = "topology") -> Topology:
    """Read a topology from its document (`Topology.as_document`), which may have mistakes. Raises TopologyError.

    A key of YAML ends after 1024 characters, so letters are not escaped: paths of folders are keys.
    """
    return topology_from_text(json.dumps(document, ensure_ascii=False), name)


def _validated(source: YamlSource, problems: list[Problem]) -> Checked | None:
    """Validate a file, and add its mistakes to `problems`.

    Return the file without its wrong parts, so that the checks between parts can report their mistakes too. Return None
    if too little is left.
    """
    data = source.data
    connector_at = list(range(len(_connectors_of(data))))
    left_out: set[_Path] = set()
    for number in range(_MAX_ROUNDS):
        try:
            file = TopologyFile.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        else:
            return Checked(file, source, connector_at, frozenset(left_out))
        if number == 0:
            problems += [_problem(source, detail) for detail in details[:MOST_PROBLEMS]]
        doomed = {_doomed(detail) for detail in details}
        if () in doomed:
            return None
        left_out |= {path[:2] for path in doomed}
        if ("connectors",) in doomed:
            connector_at = []
        connector_at = [at for index, at in enumerate(connector_at) if ("connectors", index) not in doomed]
        data = _without(data, doomed, ())
    return None


def _connectors_of(data: Mapping[str, Any]) -> list[Any]:
    connectors = data.get("connectors")
    return connectors if isinstance(connectors, list) else []


def _doomed(detail: ErrorDetails) -> _Path:
    """Return the path of the part to leave out because of an error.

    The part is the wrong value itself, or the mapping that lacks a key. If an item of a list is wrong, the part is the whole
    list, because the checks count the items. But the list of connectors stays: only the wrong connector is left out, because
    `connector_at` keeps the indexes of the others.
    """
    path, _ = _clean(detail)
    if detail["type"] == "missing":
        path = path[:-1]
    for index, item in enumerate(path):
        if isinstance(item, int) and not (index == 1 and path[0] == "connectors"):
            return path[:index]
    return path


def _without(value: Any, doomed: set[_Path], path: _Path) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, doomed, (*path, key)) for key, item in value.items() if (*path, key) not in doomed}
    if isinstance(value, list):
        return [
            _without(item, doomed, (*path, index)) for index, item in enumerate(value) if (*path, index) not in doomed
        ]
    return value


def _clean(detail: ErrorDetails) -> tuple[_Path, bool]:
    """Return the path of an error in the file, and whether the key is wrong.

    For a wrong key pydantic appends "[key]" to the path.
    """
    path = tuple(detail["loc"])
    if path and path[-1] == "[key]":
        return path[:-1], True
    return path, False


def _problem(source: YamlSource, detail: ErrorDetails) -> Problem:
    path, of_key = _clean(detail)
    if detail["type"] == "missing":
        return source.problem(path[:-1], f"the key {path[-1]} is missing", _missing(path), of_key=True)
    if detail["type"] == "extra_forbidden":
        fields = _model_at(path[:-1]).model_fields
        return source.problem(
            path, f"{quoted(path[-1])} is not a key here", did_you_mean(str(path[-1]), fields), of_key=True
        )
    context = detail.get("ctx") or {}
    what, right = _WORDS.get(detail["type"], _unforeseen)(detail, context)
    return source.problem(path, what, right, of_key=of_key)


def _missing(path: _Path) -> str:
    examples = {"servers": "servers: {A: , B: }", "between": "between: [SEA, NYC]"}
    return f"write it, such as {examples[str(path[-1])]}" if path[-1] in examples else "write it"


def _model_at(path: _Path) -> type[BaseModel]:
    if path[:1] == ("recipient_policies",) and path[-1] == "filter":
        return FilterEntry
    return _ENTRIES.get(str(path[0]), TopologyFile) if path else TopologyFile


def _unforeseen(detail: ErrorDetails, _: Mapping[str, Any]) -> tuple[str, str]:
    return f"{quoted(detail['input'])}: {detail['msg']}", ""


_Words = Callable[[ErrorDetails, Mapping[str, Any]], tuple[str, str]]


def _is_not(what: str, right: str) -> _Words:
    return lambda detail, _: (f"{quoted(detail['input'])} is not {what}", right)


_WORDS: Final[dict[str, _Words]] = {
    "wrong": lambda _, context: (context["what"], context["would_be_right"]),
    "int_type": _is_not("a whole number", "write only digits"),
    "int_from_float": _is_not("a whole number", "write only digits"),
    "greater_than_equal": lambda detail, context: (
        f"{quoted(detail['input'])} is too small",
        f"write at least {context['ge']}",
    ),
    "less_than_equal": lambda detail, context: (
        f"{quoted(detail['input'])} is too large",
        f"write at most {context['le']}",
    ),
    "too_short": lambda _, context: (
        f"there are too few entries ({context['actual_length']})",
        f"write at least {context['min_length']}",
    ),
    "too_long": lambda _, context: (
        f"there are too many entries ({context['actual_length'] or 'more than allowed'})",
        f"write at most {context['max_length']}",
    ),
    "list_type": _is_not("a list", "write a list such as [A, B]"),
    "dict_type": _is_not("a mapping", "write keys and values, such as {key: value}"),
    "model_type": _is_not("a mapping", "write keys and values, such as {key: value}"),
}
