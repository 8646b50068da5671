"""Write the calls of the changes of a store, from the methods of Node and the table node/api/changes/table.py: the calls of the
client, and those of a node in another process.

python docs/change_calls.py            write the modules
python docs/change_calls.py --check    exit with 1, and say why, if a module is out of date
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import generated
import msgspec

from node.api.changes.table import CHANGES, HttpChange
from node.store.node import Node
from node.views import Configured
from topology.arguments import FolderFields

_REMOTE: Final = '''"""The changes of a node in another process, over HTTP.

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


_CLIENT: Final = '''"""The changes of a store, as calls of the client.

Written by `make changes` from the methods of `node.store.node.Node` and the table `node.api.changes.table`. Do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from pflab.client.requests import Requests, quoted

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it

{views}
class Changes(Requests):
    """The changes of a store. If no answer comes, a request is repeated. Under the same `key` a change is made only once."""

    # --- changes
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


def _fields(parameter: inspect.Parameter) -> type[Any]:
    """Return the TypedDict whose keys `**fields` takes."""
    keys: type[Any] = get_args(parameter.annotation)[0]
    return keys


def _of_node(change: HttpChange) -> list[inspect.Parameter]:
    """Return the parameters after `self` and `now`."""
    return list(inspect.signature(getattr(Node, change.name), eval_str=True).parameters.values())[2:]


def _remote_parameters(change: HttpChange) -> Iterator[str]:
    yield from ("self", "now: LabTime")
    by_name = False
    for each in _of_node(change):
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            yield f"**{each.name}: Unpack[{_fields(each).__name__}]"
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


def _remote_body(change: HttpChange) -> str:
    if not change.in_body:
        return ""
    parameters = {each.name: each for each in _of_node(change)}
    members = [f'"{each.name}": {each.name}' for each in change.in_body if each.name in parameters]
    members += [f"**{name}" for name, each in parameters.items() if each.kind is inspect.Parameter.VAR_KEYWORD]
    return f", {{{', '.join(members)}}}"


def remote() -> Iterator[str]:
    """Yield the module with the changes of a node in another process."""
    yield _REMOTE.replace(
        "{views}", ", ".join(sorted({change.view.__name__ for change in CHANGES.values()} | {"Post"}))
    )
    for change in CHANGES.values():
        view = change.view.__name__
        yield f"\n    def {change.name}({', '.join(_remote_parameters(change))}) -> {view}:\n        del now\n"
        yield f'        return self._change({view}, "{change.method}", {_target(change)}{_remote_body(change)})\n'


def _client_parameters(change: HttpChange) -> Iterator[str]:
    """Yield the parameters of a call of the client: the keys of `**fields` one by one, and messages as mappings."""
    yield from ("self", "node: str")
    by_name = False
    for each in change.arguments:
        if each.by_name and not by_name:
            by_name = True
            yield "*"
        default = "" if each.default is msgspec.NODEFAULT else f" = {each.default!r}"
        yield f"{each.name}: {type_text(each.kind).replace('[Post]', '[Mapping[str, Any]]')}{default}"
    yield from ("key: str | None = None",) if by_name else ("*", "key: str | None = None")


def _client_docstring(change: HttpChange) -> str:
    """Return the docstring of the method of Node, and what its fields mean."""
    fields = [inspect.getdoc(_fields(each)) or "" for each in _of_node(change) if each.kind is each.VAR_KEYWORD]
    of_fields = [line for text in fields for line in (text.partition("\n\n")[2] or _OF_FOLDERS).splitlines()]
    return "\n".join([change.says, *(["", *of_fields] if of_fields else [])])


_OF_FOLDERS: Final = (inspect.getdoc(FolderFields) or "").partition("\n\n")[2]
"""What the properties of a folder mean."""


def _indented(text: str, spaces: int) -> str:
    return textwrap.indent(text, " " * spaces).strip()


def client() -> Iterator[str]:
    """Yield the module with the changes as calls of the client."""
    views = dict.fromkeys([*(change.view for change in CHANGES.values()), Configured])
    parts = []
    for view in views:
        members = "".join(f"    {name}: {type_text(kind)}\n" for name, kind in get_type_hints(view).items())
        text = inspect.getdoc(view) or ""
        end = "\n    " if "\n" in text else ""
        parts.append(f'\n\nclass {view.__name__}(TypedDict):\n    """{_indented(text, 4)}{end}"""\n\n{members}')
    yield _CLIENT.replace("{views}", "".join(parts) + "\n\n")
    for change in CHANGES.values():
        name, text = change.view.__name__, _client_docstring(change)
        body = (
            "{" + ", ".join(f'"{each.name}": {each.name}' for each in change.in_body) + "}"
            if change.in_body
            else "None"
        )
        end = "\n        " if "\n" in text else ""
        yield f"\n    def {change.name}({', '.join(_client_parameters(change))}) -> {name}:\n"
        yield f'        """{_indented(text, 8)}{end}"""\n'
        yield f'        answer: {name} = self._change("{change.method}", node, {_target(change)}, {body}, key)\n'
        yield "        return answer\n"


MODULES: Final = {"pflab/lab/remote_changes.py": remote, "pflab/client/changes.py": client}


def render(module: str) -> str:
    """Return the text of a module.

    module: its path.
    """
    text = "".join(MODULES[module]())
    ruff = str(Path(sys.executable).with_name("ruff"))
    for order in (["check", "--quiet", "--fix", "--select", "F401,I"], ["format", "--quiet"]):
        command = [ruff, *order, "--stdin-filename", module, "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    description = "Write the calls of the changes of a store."
    sys.exit(generated.main(description, lambda: {module: render(module) for module in MODULES}, order="make changes"))
