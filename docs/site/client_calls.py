"""The page of the Python client, from its docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pflab.client
from pflab.client import Client, ClientError

HEAD = """# The Python client

`pflab.client` is the only part of pflab that a test program needs. It needs only the standard library.
"""


def render() -> str:
    """Return the page."""
    about = inspect.getdoc(inspect.getmodule(Client)) or ""
    parts = [
        HEAD,
        "\n",
        about.partition("\n\n")[2],
        "\n\n## Client\n\n",
        signature("Client", Client),
        docstring(Client),
    ]
    for each in Client.__mro__[:-1]:
        parts += methods(each)
    parts += ["\n## ClientError\n\n", docstring(ClientError), "\n## Functions\n"]
    functions = {name: each for name in pflab.client.__all__ if inspect.isfunction(each := getattr(pflab.client, name))}
    for name, function in functions.items():
        parts += [f"\n### {name}\n\n", signature(name, function), docstring(function)]
    return "".join(parts)


def methods(owner: type[Any]) -> Iterator[str]:
    """Yield the methods of a class in the order of its source, below the comments that divide them into groups."""
    source = inspect.getsource(owner)
    for group, name in re.findall(r"^    # --- (.*)$|^    (?:async )?def ([a-z]\w*)\(", source, re.MULTILINE):
        if group:
            yield f"\n## {owner.__name__}: {group}\n"
        else:
            method = getattr(owner, name)
            called = "" if isinstance(method, property) else signature(name, method)
            yield f"\n### {name}\n\n{called}{docstring(method)}"


def signature(name: str, what: Any) -> str:
    """Return the signature as Python code."""
    found = inspect.signature(what)
    shown = [each.replace(annotation=_bare(each.annotation)) for each in found.parameters.values()]
    returned = _bare(found.return_annotation)
    text = str(found.replace(parameters=shown, return_annotation=returned))
    text = text.replace("(self, ", "(").replace("(self)", "()").replace("<factory>", "...")
    return f"```python\n{name}{text.removesuffix(' -> None')}\n```\n\n"


class _Bare(str):
    """An annotation that is shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def docstring(what: Any) -> str:
    return f"{inspect.getdoc(what) or ''}\n\n"
