"""Read YAML files that people write: with the scalars of YAML 1.2, and the position of every node.

PyYAML resolves scalars as YAML 1.1 does, where NO is false and 12:15 is 735. This module uses only PyYAML's parser. It
reads scalars by the core schema of YAML 1.2, reports duplicate keys, keeps positions, and limits depth and size. The
size counts aliases in full, because with aliases a kilobyte can become gigabytes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from topology.problems import PathItem, Position, Problem, ProblemsError, path_text, quoted

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 24
# Each alias counts as the nodes that it repeats.
MAX_NODES: Final = 100_000
# No number in a file of pflab needs more digits.
_MAX_NUMBER_TEXT: Final = 30

_BEFORE_A_TEXT: Final = frozenset({"", ":", ",", "[", "{", "-"})
"""The last characters before a text in quotes; '' is the begin of a line. Elsewhere a quote is an ordinary character."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STR_TAG: Final = "tag:yaml.org,2002:str"

# YAML 1.2.2, section 10.3.2 "Tag Resolution" of the core schema.
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL: Final = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)


@dataclass(slots=True)
class _Node:
    at: Position
    value: Any
    weight: int = 1
    items: list["_Node"] = field(default_factory=list)
    keys: dict[str, tuple[Position, "_Node"]] = field(default_factory=dict)
    anchor: str | None = None
    pending_key: tuple[str, Position] | None = None

    def child(self, step: PathItem) -> "_Node | None":
        if isinstance(step, int):
            return self.items[step] if isinstance(self.value, list) and step < len(self.items) else None
        node = self.keys.get(step)
        return None if node is None else node[1]


@dataclass(frozen=True, slots=True)
class YamlSource:
    """The content of a YAML file, the position of each part, and its mistakes.

    name as error messages call the file data dict, list, str, int, float, bool or None; keys are always text as written
    problems its mistakes as YAML; data is None if nothing could be read
    """

    name: str
    data: Any
    problems: tuple[Problem, ...]
    root: _Node | None

    def position(self, path: Sequence[PathItem], *, of_key: bool = False) -> Position:
        """Return the position of the value at `path`, or of its key. For a missing value, return the position of its
        nearest parent.
        """
        node = self.root
        at = Position(1, 1) if node is None else node.at
        for depth, step in enumerate(path, start=1):
            child = None if node is None else node.child(step)
            if node is None or child is None:
                break
            wants_key = of_key or depth < len(path)
            at = node.keys[step][0] if isinstance(step, str) and wants_key else child.at
            node = child
        return at

    def problem(
        self, path: Sequence[PathItem], what: str, would_be_right: str = "", *, of_key: bool = False
    ) -> Problem:
        """Return a Problem at `path`."""
        at = self.position(path, of_key=of_key)
        return Problem(self.name, path_text(path), at.line, at.column, what, would_be_right)

    def moved(self, under: str, problem: Problem) -> Problem:
        """Return a problem, found in a part of the file that was read alone (the key `under`; '' is the whole file), with its
        position in the whole file."""
        path: tuple[PathItem, ...] = (under,) if under else ()
        value: Any = self.data[under] if under else self.data
        remainder = problem.path
        while remainder:
            step = _first_step(remainder, value)
            if step is None:
                break
            path = (*path, step)
            value = value[step]
            remainder = remainder[len(f"[{step}]") if isinstance(step, int) else len(step) :].removeprefix(".")
        at = self.position(path, of_key=bool(path) and isinstance(path[-1], str))
        whole_path = f"{under}.{problem.path}".strip(".")
        return Problem(self.name, whole_path, at.line, at.column, problem.what, problem.would_be_right)


def _first_step(path: str, value: Any) -> PathItem | None:
    """Return the first step of a problem's path within `value`: a key or an index. Keys can contain dots, so the path is not
    split at dots, but compared with the keys."""
    index = re.match(r"\[(\d+)\]", path)
    if index is not None and isinstance(value, list) and int(index[1]) < len(value):
        return int(index[1])
    if not isinstance(value, dict):
        return None
    fits = [key for key in value if path == key or path.startswith((f"{key}.", f"{key}["))]
    return max(fits, key=len, default=None)


class _StopError(Exception):
    """The file cannot be read further; the builder has reported why."""


def read_text(path: Path, error_of: type[ProblemsError]) -> str:
    """Return the text of a file, cut off after MAX_BYTES (`read_yaml` reports this). Raises `error_of` if it is not UTF-8."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) > MAX_BYTES:
            return data.decode("utf-8", "replace")
        line = data.count(b"\n", 0, error.start) + 1
        raise error_of([Problem(str(path), "", line, 1, "not UTF-8", "save it as UTF-8")]) from None


def read_yaml(text: str, name: str) -> YamlSource:
    """Read one document. Mistakes in the text do not raise errors; they are in `YamlSource.problems`."""
    builder = _Builder(name)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        builder.report(Position(1, 1), (), f"the file is larger than {MAX_BYTES} bytes", "split it or shorten it")
        return YamlSource(name, None, tuple(builder.problems), None)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _StopError:
        return YamlSource(name, None, tuple(builder.problems), None)
    except yaml.MarkedYAMLError as error:
        builder.report(*_syntax_error(text, error))
        return YamlSource(name, None, tuple(builder.problems), None)
    except (yaml.YAMLError, ValueError) as error:
        builder.report(Position(1, 1), (), f"not YAML: {' '.join(str(error).split())}", "save it as UTF-8 text")
        return YamlSource(name, None, tuple(builder.problems), None)
    root = builder.root
    return YamlSource(name, None if root is None else root.value, tuple(builder.problems), root)


def _syntax_error(text: str, error: yaml.MarkedYAMLError) -> tuple[Position, tuple[PathItem, ...], str, str]:
    """Return where the mistake is, and in words. The parser often stops far behind a quote without its partner, so the first
    line with such a quote is named."""
    mark = error.problem_mark or error.context_mark
    line, column = (0, 0) if mark is None else (mark.line, mark.column)
    lines = text.splitlines()
    line_end = lines[line][column:] if line < len(lines) else ""
    if line_end.lstrip(" ").startswith("\t"):
        return Position(line + 1, column + 1), (), "not YAML: a tab", "indent with spaces"
    for number, source_line in enumerate(lines[: line + 1], start=1):
        quote = _unpaired_quote(source_line)
        if quote:
            kind = "double" if source_line[quote - 1] == '"' else "single"
            mistake = f"not YAML: a {kind} quote without its partner"
            return Position(number, quote), (), mistake, "close the text on the same line"
    mistake = " ".join(filter(None, (error.context, error.problem)))
    return Position(line + 1, column + 1), (), f"not YAML: {mistake}", "the mistake may be in a line above"


def _unpaired_quote(line: str) -> int:
    """Return the column, from 1, of a quote that begins a text and is not closed on this line; 0 if there is none."""
    inside, quote_column, before, last = "", 0, " ", ""
    for column, char in enumerate(line, start=1):
        if inside:
            if char == inside and not (inside == '"' and before == "\\"):
                inside = ""
        elif char in "\"'" and last in _BEFORE_A_TEXT:
            inside, quote_column = char, column
        elif char == "#" and before == " ":
            break
        before, last = char, last if char == " " else char
    return quote_column if inside else 0


class _Builder:
    """Builds nodes from the parser's events, without recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.root: _Node | None = None
        self._open: list[_Node] = []
        self._anchors: dict[str, _Node] = {}
        self._documents = 0

    def report(self, at: Position, path: Sequence[PathItem], what: str, would_be_right: str = "") -> None:
        self.problems.append(Problem(self.name, path_text(path), at.line, at.column, what, would_be_right))

    def take(self, event: yaml.Event) -> None:
        mark = event.start_mark
        at = Position(1, 1) if mark is None else Position(mark.line + 1, mark.column + 1)
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._stop(at, "a second document begins here", "leave out the line ---: a file has one document")
            case yaml.ScalarEvent():
                self._scalar(event, at)
            case yaml.AliasEvent():
                self._alias(event, at)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event, at)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end()
            case _:
                pass

    def _stop(self, at: Position, what: str, would_be_right: str) -> None:
        self.report(at, self._path(), what, would_be_right)
        raise _StopError

    def _path(self) -> tuple[PathItem, ...]:
        path: list[PathItem] = []
        for node in self._open:
            if isinstance(node.value, list):
                path.append(len(node.items))
            elif node.pending_key is not None:
                path.append(node.pending_key[0])
        return tuple(path)

    def _scalar(self, event: yaml.ScalarEvent, at: Position) -> None:
        parent = self._open[-1] if self._open else None
        if parent is not None and isinstance(parent.value, dict) and parent.pending_key is None:
            parent.pending_key = (event.value, at)
            return
        if event.tag not in (None, "!", _STR_TAG):
            self.report(at, self._path(), f"the tag {quoted(event.tag)} is not allowed", "leave it out")
        is_plain = event.implicit[0] and event.tag is None
        node = _Node(at, self._resolved(event.value, at) if is_plain else event.value)
        self._remember(event.anchor, node)
        self._add(node, at)

    def _resolved(self, text: str, at: Position) -> Any:
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        is_int = _INT.fullmatch(text) is not None
        if not is_int and _FLOAT.fullmatch(text) is None:
            return text
        if len(text) > _MAX_NUMBER_TEXT:
            self.report(at, self._path(), f"{quoted(text)} is too long for a number", "use fewer digits, or quotes")
            return None
        if is_int:
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            return int(text, base)
        return float(text)

    def _alias(self, event: yaml.AliasEvent, at: Position) -> None:
        parent = self._open[-1] if self._open else None
        if parent is not None and isinstance(parent.value, dict) and parent.pending_key is None:
            self._stop(at, "an alias cannot be a key", "write the key itself")
        target = self._anchors.get(event.anchor or "")
        if target is None:
            self._stop(at, f"the alias *{event.anchor} names nothing above it", f"mark a value with &{event.anchor}")
        elif target in self._open:
            self._stop(at, f"the alias *{event.anchor} contains itself", "write the value itself")
        else:
            self._add(target, at)

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, at: Position) -> None:
        parent = self._open[-1] if self._open else None
        if parent is not None and isinstance(parent.value, dict) and parent.pending_key is None:
            self._stop(at, "the key is not a text", "write a plain word")
        if len(self._open) >= MAX_DEPTH:
            self._stop(at, f"nested more than {MAX_DEPTH} levels deep", "use fewer levels")
        if event.tag not in (None, "!"):
            self.report(at, self._path(), f"the tag {quoted(event.tag)} is not allowed", "leave it out")
        node = _Node(at, {} if isinstance(event, yaml.MappingStartEvent) else [])
        self._remember(event.anchor, node)
        self._open.append(node)

    def _end(self) -> None:
        node = self._open.pop()
        self._add(node, node.at)

    def _remember(self, anchor: str | None, node: _Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _add(self, node: _Node, at: Position) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        parent.weight += node.weight
        if parent.weight > MAX_NODES:
            self._stop(at, f"more than {MAX_NODES} values, aliases counted in full", "shorten the file")
        if isinstance(parent.value, list):
            parent.items.append(node)
            parent.value.append(node.value)
            return
        assert parent.pending_key is not None
        key, key_at = parent.pending_key
        if key in parent.keys:
            first = parent.keys[key][0]
            self.report(
                key_at,
                self._path(),
                "the key is written twice",
                f"leave one out; the first is in line {first.line}",
            )
        else:
            parent.keys[key] = (key_at, node)
            parent.value[key] = node.value
        parent.pending_key = None
