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
    parts = [HEAD, "\n", about.partition("\n\n")[2], "\n\n## Client\n\n", _signature("Client", Client), _doc(Client)]
    for each in (Client, *Client.__bases__):
        parts += _methods(each)
    parts += ["\n## ClientError\n\n", _doc(ClientError), "\n## Functions\n"]
    functions = {name: each for name in pflab.client.__all__ if inspect.isfunction(each := getattr(pflab.client, name))}
    for name, function in functions.items():
        parts += [f"\n### {name}\n\n", _signature(name, function), _doc(function)]
    return "".join(parts)


def _methods(owner: type[Any]) -> Iterator[str]:
    """Yield the methods of a class in the order of its source, below the comments that divide them into groups."""
    source = inspect.getsource(owner)
    for group, name in re.findall(r"^    # --- (.*)$|^    def ([a-z]\w*)\(", source, re.MULTILINE):
        if group:
            yield f"\n## {owner.__name__}: {group}\n"
        else:
            method = getattr(owner, name)
            yield f"\n### {name}\n\n{_signature(name, method)}{_doc(method)}"


def _signature(name: str, what: Any) -> str:
    """Return the signature as Python code."""
    text = str(inspect.signature(what)).replace("(self, ", "(").replace("(self)", "()").replace("'", "")
    return f"```python\n{name}{text.removesuffix(' -> None')}\n```\n\n"


def _doc(what: Any) -> str:
    return f"{inspect.getdoc(what) or ''}\n\n"
