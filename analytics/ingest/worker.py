"""Runs functions of ours in the Python workers of Spark. A worker is a process of the session's owner: it may have modules with
the names of ours, and finds ours only below the folder in which they are installed.

What must never happen: the owner's modules or import path are changed when our function is not running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

Task = Callable[[Iterable[Any]], Iterator[Any]]
"""The work of a task: it turns batches of rows into batches of rows."""

_HOME: Final = str(Path(__file__).resolve().parent.parent.parent)


def in_worker(function: Callable[..., Iterator[Any]], **options: object) -> Task:
    """Return a task that calls a function of one of our modules in a worker, as `function(batches, **options)`.

    The task is a closure because Spark sends a closure by value; for the same reason it uses nothing of this module. Between
    two batches the worker has its owner's modules. Its temporary files are where Spark keeps those of its own, which end with
    Spark: a worker that is killed cannot remove any.
    """
    home, module, name = _HOME, function.__module__, function.__name__

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        import os  # noqa: PLC0415 - in the worker
        import sys  # noqa: PLC0415 - in the worker
        import tempfile  # noqa: PLC0415 - in the worker
        from importlib import import_module  # noqa: PLC0415 - in the worker

        def exchange(modules: dict[str, Any]) -> dict[str, Any]:
            names = [name for name in sys.modules if name.partition(".")[0] in {"analytics", "traces"}]
            before = {name: sys.modules.pop(name) for name in names}
            sys.modules.update(modules)
            return before

        ours: dict[str, Any] = {}
        results: Iterator[Any] | None = None
        while True:
            theirs = exchange(ours)
            sys.path.insert(0, home)
            folder = tempfile.tempdir
            tempfile.tempdir = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0] or folder
            try:
                if results is None:
                    results = iter(getattr(import_module(module), name)(batches, **options))
                result = next(results, None)
            finally:
                tempfile.tempdir = folder
                sys.path.remove(home)
                ours = exchange(theirs)
            if result is None:
                return
            yield result

    return task
