"""The page of the pytest plugin, from the docstrings of `pflab.testing` and the texts of its options."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from client_calls import docstring, methods, signature

import pflab.testing
from pflab.testing import labs, plugin, up_process

HEAD = """# The pytest plugin

The extra `test` ([Installation](../how-to/install.md)) brings pytest, which finds the plugin of pflab by itself.
[Testing with pflab](../how-to/testing.md) shows how to use it. The classes below are in
`pflab.testing`; a `Lab` also has all calls of [the Python client](client.md).
"""


class _Recorder:
    """Stands for pytest's parser and configuration, and keeps what the plugin tells them."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str]] = []
        self.settings: list[tuple[str, str]] = []
        self.markers: list[str] = []

    def getgroup(self, *_: str) -> _Recorder:
        return self

    def addoption(self, name: str, **how: Any) -> None:
        choices = "\\|".join(how.get("choices", ()))
        self.options.append((f"{name} {choices or how.get('metavar', '')}".strip(), how["help"]))

    def addini(self, name: str, text: str, *, default: str) -> None:
        self.settings.append((name, f"{text}; default: `{default}`" if default else text))

    def addinivalue_line(self, _: str, line: str) -> None:
        self.markers.append(line)

    def getoption(self, *_: str) -> None:
        return None


def render() -> str:
    """Return the page."""
    told = _Recorder()
    plugin.pytest_addoption(cast("Any", told))
    plugin.pytest_configure(cast("Any", told))
    parts = [HEAD, "\n## Fixtures\n"]
    parts += [f"\n### {name}\n\n*{kind}, for each {scope}*\n\n{text}\n" for name, kind, scope, text in _fixtures()]
    parts += [
        "\n## Options\n\n",
        *_table(told.options),
        "\n## Settings in pytest's ini file\n\n",
        *_table(told.settings),
    ]
    parts.append("\n## Marker\n\n")
    parts += [f"`{name}`: {text}\n" for name, _, text in (each.partition(": ") for each in told.markers)]
    for name in pflab.testing.__all__:
        what = getattr(pflab.testing, name)
        parts.append(f"\n## {name}\n\n")
        if not inspect.isclass(what):
            parts.append(signature(name, what) + docstring(what) if inspect.isfunction(what) else _alias(name))
        elif issubclass(what, Exception):
            parts.append(docstring(what))
        else:
            parts += [signature(name, what), docstring(what), *methods(what)]
    return "".join(parts)


def _fixtures() -> Iterator[tuple[str, str, str, str]]:
    """Yield the name, type, scope and docstring of each fixture."""
    for each in _tree(plugin).body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            for decorator in map(ast.unparse, each.decorator_list):
                if decorator.startswith("pytest.fixture"):
                    scope = decorator.partition("scope='")[2].partition("'")[0] or "test"
                    kind = ast.unparse(cast("ast.expr", each.returns)).removeprefix("Iterator[").removesuffix("]")
                    yield each.name, f"`{kind}`", scope, _joined(ast.get_docstring(each) or "")


def _alias(name: str) -> str:
    """Return the definition of a type that is no class, and the text below it."""
    for module in (up_process, labs):
        body = _tree(module).body
        for each, below in pairwise(body):
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name and isinstance(below, ast.Expr):
                text = ast.literal_eval(below.value)
                return f"```python\n{ast.unparse(each)}\n```\n\n{text}\n"
    raise LookupError(name)


def _table(rows: list[tuple[str, str]]) -> Iterator[str]:
    yield "| name | what it does |\n|---|---|\n"
    for name, text in rows:
        yield f"| `{name}` | {text} |\n"


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text("utf-8"))


def _joined(text: str) -> str:
    return " ".join(text.split())
