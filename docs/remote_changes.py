"""Write pflab/lab/remote_changes.py: the changes of a node in another process, from the table node/api/changes/table.py.

python docs/remote_changes.py            write the module
python docs/remote_changes.py --check    exit with 1, and say why, if the module is out of date
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from node.api.changes.table import CHANGES, HttpChange
from node.store.node import Node

MODULE: Final = "pflab/lab/remote_changes.py"
_HEAD: Final = '''"""The changes of a node in another process, over HTTP.

Written by `make changes` from the methods of `node.store.node.Node` and the table `node.api.changes.table`. Do not edit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack

from node.reads import StoreReader
from node.views import {views}
from pflab.client import quoted

if TYPE_CHECKING:
    from topology.arguments import FolderChanges, FolderFields
    from traces.labtime import LabTime

View = TypeVar("View")


class RemoteChanges(StoreReader):
    """The methods of a node that change something. They ignore the argument `now`, because the node has its own clock."""

    @abstractmethod
    def _change(self, view: type[View], method: str, path: str, body: Mapping[str, object] | None = None) -> View:
        """Request a change, and return the view that the node answers with."""
'''


def type_text(kind: Any) -> str:
    """Return a type as source, without its limits."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return type_text(parts[0])
    if origin in {Union, types.UnionType}:
        return " | ".join(map(type_text, parts))
    if origin is Literal:
        return "Literal[" + ", ".join(f'"{each}"' for each in parts) + "]"
    if kind is type(None):
        return "None"
    name = kind.__name__
    return f"{name}[{', '.join(map(type_text, parts))}]" if parts else str(name)


def _parameters(change: HttpChange) -> Iterator[str]:
    _, now, *others = inspect.signature(getattr(Node, change.name), eval_str=True).parameters.values()
    yield from ("self", f"{now.name}: LabTime")
    by_name = False
    for each in others:
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            (keys,) = get_args(each.annotation)
            yield f"**{each.name}: Unpack[{keys.__name__}]"
            continue
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not by_name:
            by_name = True
            yield "*"
        default = "" if each.default is inspect.Parameter.empty else f" = {each.default!r}"
        yield f"{each.name}: {type_text(each.annotation)}{default}"


def _target(change: HttpChange) -> str:
    """Return the path and query of the request as source."""
    path = change.path
    for name in change.in_path:
        path = path.replace(f"{{{name}}}", f"{{quoted({name})}}")
    query = "&".join(f"{name}={{quoted({name})}}" for name in change.in_query)
    return f'{"f" if "{" in path + query else ""}"{path}{"?" + query if query else ""}"'


def _body(change: HttpChange) -> str:
    if not change.in_body:
        return ""
    parameters = inspect.signature(getattr(Node, change.name)).parameters
    members = [f'"{each.name}": {each.name}' for each in change.in_body if each.name in parameters]
    members += [f"**{name}" for name, each in parameters.items() if each.kind is inspect.Parameter.VAR_KEYWORD]
    return f", {{{', '.join(members)}}}"


def render() -> str:
    """Return the module."""
    views = ", ".join(sorted({change.view.__name__ for change in CHANGES.values()} | {"Post"}))
    parts = [_HEAD.replace("{views}", views)]
    for change in CHANGES.values():
        view = change.view.__name__
        parts.append(
            f"\n    def {change.name}({', '.join(_parameters(change))}) -> {view}:\n        del now\n"
            f'        return self._change({view}, "{change.method}", {_target(change)}{_body(change)})\n'
        )
    return _formatted("".join(parts))


def _formatted(text: str) -> str:
    ruff = str(Path(sys.executable).with_name("ruff"))
    for order in (["check", "--quiet", "--fix", "--select", "F401,I"], ["format", "--quiet"]):
        command = [ruff, *order, "--stdin-filename", MODULE, "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if the module was written or is up to date, and 1 if it is out of date."""
    parser = argparse.ArgumentParser(description="Write the changes of a node in another process.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the module is out of date")
    options = parser.parse_args(arguments)
    module = Path(__file__).resolve().parents[1] / MODULE
    if not options.check:
        module.write_text(render(), encoding="utf-8")
    elif module.read_text(encoding="utf-8") != render():
        print(f"{MODULE} is not up to date: run `make changes` and commit the result", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
