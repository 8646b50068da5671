"""Finds the modules that a lab can import, and compiles them. It runs in Pyodide, because bytecode belongs to one Python.

The modules are found by import statements, wherever these stand, beginning with the modules in `STARTS`. So a module that is
imported late, or only in a rare case, is there too. What Python imports by a name in a string is in `STARTS`. What a tab never
imports is in `LEFT_OUT`, and everything that only such modules need is left out with them.
"""

from __future__ import annotations

import ast
import marshal
from collections.abc import Iterator, Mapping
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Final

STARTS: Final = (
    "pflab.tab.browser",
    "sqlalchemy.dialects.sqlite.pysqlite", "sqlalchemy.sql.default_comparator",  # these packages import parts by their names
    "pydantic.functional_serializers",
    "site",  # Python's own start
    "_sysconfigdata__emscripten_wasm32-emscripten",  # sysconfig finds it by the name of the platform
)  # fmt: skip

WHOLE: Final = ("encodings", "_pyodide", "pyodide")
"""Packages of the standard library whose modules are named by mails, and by Pyodide's parts in C and JavaScript."""

LEFT_OUT: Final = frozenset({
    # There are no processes and no threads.
    "multiprocessing", "concurrent.futures.process", "concurrent.futures.interpreter", "asyncio.tools", "asyncio.__main__",
    "ctypes", "curses", "readline", "pyodide.console",
    "asyncio.proactor_events", "asyncio.windows_events", "asyncio.windows_utils",
    # There are no sockets; what pages load, the browser loads.
    "ftplib", "http.client", "http.server", "netrc", "urllib.request", "xmlrpc",
    # There is no prompt and no command line: help, debuggers, profilers.
    "_pyrepl", "argparse", "cProfile", "doctest", "getopt", "gettext", "pdb",
    "pkgutil", "py_compile", "pydoc", "rlcompleter", "runpy", "tracemalloc",
    # Python has these in C.
    "_py_abc", "_pydatetime", "_pydecimal", "_pyio",
    # Functions of modules that a lab does not call.
    "plistlib", "statistics", "tomllib", "xml",
    "pydantic.deprecated", "pydantic.mypy", "pydantic.networks", "pydantic.v1",
})  # fmt: skip

_FOR_TYPES: Final = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING"})
_OVERLOADS: Final = frozenset({"overload", "typing.overload"})

_ANNOTATED_FOR_READERS: Final = frozenset({"sqlalchemy"})
"""Libraries that do not read the annotations of their functions."""
_AS_PROGRAM: Final = "__name__ == '__main__'"

_HEADER: Final = MAGIC_NUMBER + bytes(12)
"""How a file of bytecode begins: without source, so without the time or the hash of one."""


class Finder:
    """Finds modules in folders.

    folders: each with the top-level names that are taken from it; all of them if there are none.
    """

    def __init__(self, folders: Mapping[Path, frozenset[str]]) -> None:
        self._folders = folders

    def file_of(self, module: str) -> Path | None:
        """Return the file of a module, or None if the folders do not have it."""
        top, *_ = module.split(".")
        for folder, names in self._folders.items():
            if names and top not in names:
                continue
            place = folder.joinpath(*module.split("."))
            for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
                if file.is_file():
                    return file
            compiled = sorted(place.parent.glob(f"{place.name}.*wasm*.so"))
            if compiled:
                return compiled[0]
        return None

    def needed(self, starts: tuple[str, ...], left_out: frozenset[str]) -> dict[str, Path]:
        """Return the files of modules, and of all modules that they can import, by the names of the modules."""
        found: dict[str, Path] = {}
        waiting = list(starts)
        while waiting:
            parts = waiting.pop().split(".")
            for length in range(1, len(parts) + 1):
                module = ".".join(parts[:length])
                if module in found:
                    continue
                file = None if module in left_out else self.file_of(module)
                if file is None:
                    break
                found[module] = file
                if file.suffix == ".py":
                    waiting += imports(module, file)
        return dict(sorted(found.items()))


def imports(module: str, file: Path) -> Iterator[str]:
    """Yield the names that a module may import: modules, and perhaps names in them."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for statement in _imports(ast.parse(file.read_bytes())):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
            continue
        above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
        base = ".".join([*above, *filter(None, [statement.module])])
        yield base
        yield from (f"{base}.{alias.name}" for alias in statement.names)


def _imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements that can be executed."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test) in _FOR_TYPES:
            for statement in child.orelse:
                yield from _imports(ast.Module([statement], []))
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == _AS_PROGRAM):
            yield from _imports(child)


class _WithoutTypes(ast.NodeTransformer):
    """Removes what only type checkers read: their own statements, and overloads.

    annotations: whether the annotations of functions stay.
    """

    def __init__(self, *, annotations: bool) -> None:
        self._annotations = annotations

    def visit_If(self, statement: ast.If) -> ast.AST | list[ast.AST]:
        if ast.unparse(statement.test) not in _FOR_TYPES:
            return self.generic_visit(statement)
        return [self.visit(each) for each in statement.orelse] or _nothing(statement)

    def visit_FunctionDef(self, function: ast.FunctionDef) -> ast.AST:
        return self._function(function)

    def visit_AsyncFunctionDef(self, function: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(function)

    def _function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if _OVERLOADS.intersection(map(ast.unparse, function.decorator_list)):
            return _nothing(function)
        if not self._annotations:
            function.returns = None
            for each in ast.walk(function.args):
                if isinstance(each, ast.arg):
                    each.annotation = None
        return self.generic_visit(function)


def _nothing(place: ast.stmt) -> ast.AST:
    return ast.copy_location(ast.Pass(), place)


def compiled(module: str, file: Path, *, keep_docstrings: bool) -> tuple[str, bytes]:
    """Return the path of a module below its folder, and its bytecode; of a module in C or Rust, its file."""
    path = module.replace(".", "/")
    if file.suffix == ".so":
        return f"{path.rpartition('/')[0]}/{file.name}", file.read_bytes()
    path += "/__init__" if file.name == "__init__.py" else ""
    without = _WithoutTypes(annotations=module.partition(".")[0] not in _ANNOTATED_FOR_READERS)
    tree = without.visit(ast.parse(file.read_bytes()))
    code = compile(tree, f"{path}.py", "exec", dont_inherit=True, optimize=0 if keep_docstrings else 2)
    return f"{path}.pyc", _HEADER + marshal.dumps(code)


def write(parts: Path, own: list[str], compiled_libraries: list[str], installed: list[str]) -> None:
    """Write the bytecode of all modules that a lab needs.

    parts: has the folders `own`, `compiled`, `installed` and `library`, and gets the folder `made`.
    own, compiled_libraries, installed: the names of the packages that are taken from these folders.

    Raises ImportError if a module of ours imports what is left out.
    """
    library = parts / "library"
    finder = Finder(
        {
            parts / "own": frozenset(own),
            parts / "compiled": frozenset(compiled_libraries),
            parts / "installed": frozenset(installed),
            library: frozenset(),
        }
    )
    whole = (
        ".".join(file.relative_to(library).with_suffix("").parts).removesuffix(".__init__")
        for package in WHOLE
        for file in (library / package).rglob("*.py")
    )
    modules = finder.needed((*STARTS, *whole), LEFT_OUT)
    for module, file in modules.items():
        if file.is_relative_to(parts / "own") and (missing := LEFT_OUT.intersection(imports(module, file))):
            raise ImportError(f"{module} imports {', '.join(sorted(missing))}, which the lab in a tab does not have")
        # Our docstrings are what the HTTP API says about itself.
        path, content = compiled(module, file, keep_docstrings=file.is_relative_to(parts / "own"))
        place = parts / "made" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
