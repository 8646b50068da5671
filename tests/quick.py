"""make quick: check lint, format and types of what has changed, and run the nearest tests, in about 20 seconds without Spark.

Changed scenarios are validated and played in the simulator. Other files than Python modules and scenarios are named as not
checked, with exit status 2 unless they are texts.

A file has changed if it differs from the commit at which this branch left its upstream, or is new. The nearest tests are, in
this order: the changed tests; those of a changed module (`node/state/database.py` has `tests/node/state/test_database.py`);
those that import it. After TESTS_S no further test begins; of the last, none that took longer than LONG_S the last time.

What must never happen: a change counts as good although it was not checked, or its own tests were not run. Then the exit
status is 2.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from tests.support.durations import durations_s

ROOT: Final = Path(__file__).resolve().parents[1]
PRODUCT: Final = ("traces/", "topology/", "transport/", "node/", "pflab/", "analytics/")
BASES: Final = ("@{upstream}", "origin/main", "main")
TESTS_S: Final = 12.0
LONG_S: Final = 3.0
TEXTS: Final = (".md", ".txt")
PLAYED: Final = "tests/scenarios/test_scenarios_simulated.py::test_scenario_passes_simulated"
SLOW_FIXTURES: Final = frozenset({"judged", "spark"})
"""Fixtures that take a minute, because they judge all traces of the tests or start Java."""


def main() -> int:
    """Check what has changed. Return 0 if all is well, 1 if not, and 2 if some of it was not checked."""
    files = changed_files(ROOT)
    if not files:
        print("nothing has changed")
        return 0
    changed = [path for path in files if path.endswith(".py")]
    scenarios = [path for path in files if path.startswith("scenarios/") and path.endswith(".yaml")]
    others = [path for path in files if path not in changed and path not in scenarios]
    code = _check(changed, scenarios) if changed or scenarios else 0
    if others:
        print(f"NOT CHECKED: {', '.join(others)}; make check and make test check them")
    return code or (2 if any(not path.endswith(TEXTS) for path in others) else 0)


def _check(changed: list[str], scenarios: list[str]) -> int:
    typed = [path for path in changed if path.startswith(PRODUCT) and _can_check(path)]
    orders = [
        *([["ruff", "check", *changed], ["ruff", "format", "--check", *changed]] if changed else []),
        *([["pflab", "validate", *scenarios]] if scenarios else []),
        *([["mypy", "--follow-imports=silent", *typed]] if typed else []),
    ]
    for order in orders:
        if subprocess.run([Path(sys.executable).parent / order[0], *order[1:]], cwd=ROOT, check=False).returncode:
            return 1
    own, importers = nearest_tests(changed, ROOT)
    played = [f"{PLAYED}[{Path(path).stem}]" for path in scenarios]
    own += [PLAYED.partition("::")[0]] if played else []
    if not own and not importers:
        print("no test is near: run make test")
        return 0
    tests = Tests(own)
    chosen = [*(each for each in (*own, *importers) if not (played and PLAYED.startswith(f"{each}::"))), *played]
    code = pytest.main(["-x", "--rootdir", str(ROOT), *(str(ROOT / each) for each in chosen)], plugins=[tests])
    missed = [file for file in (*own, *importers) if file in tests.missed]
    if missed:
        print(f"not run, for lack of time: {', '.join(missed)}")
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return 1
    return 2 if set(missed) & set(own) else 0


def _can_check(path: str) -> bool:
    """Return whether the packages are there whose types a module uses."""
    return find_spec("pyspark") is not None or "pyspark" not in (ROOT / path).read_text("utf-8")


def changed_files(root: Path) -> list[str]:
    """Return the paths of the files that have changed on this branch or are new. Raises CalledProcessError if git fails."""

    def git(*order: str, check: bool = True) -> list[str]:
        done = subprocess.run(
            ["git", *order],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=None if check else subprocess.DEVNULL,
            text=True,
            check=check,
        )
        return done.stdout.splitlines()

    base = next((commit for name in BASES if (commit := git("merge-base", "HEAD", name, check=False))), ["HEAD"])
    changed = git("diff", "--name-only", "--diff-filter=d", *base)
    return sorted({*changed, *git("ls-files", "--others", "--exclude-standard")})


def nearest_tests(changed: Sequence[str], root: Path) -> tuple[list[str], list[str]]:
    """Return the test files of the changed files, and then the others that import what has changed."""
    tests = sorted(path.relative_to(root).as_posix() for path in (root / "tests").rglob("test_*.py"))
    modules = [path for path in changed if not path.startswith("tests/")]
    of_modules = {f"tests/{Path(path).parent}/test_{Path(path).name}" for path in modules}
    own = [file for file in tests if file in changed or file in of_modules]
    imports = re.compile(
        "|".join(map(_import_of, [*modules, *(each for each in changed if each not in modules + own)])) or "$^"
    )
    importers = [file for file in tests if file not in own and imports.search((root / file).read_text("utf-8"))]
    return own, importers


def _import_of(path: str) -> str:
    """Return a pattern for an import of a module."""
    folder, name = re.escape(str(Path(path).parent).replace("/", ".")), re.escape(Path(path).stem)
    if name == "__init__":
        return rf"(?m:^from {folder} import )"
    return rf"(?m:^(from|import) {folder}\.{name}\b|^from {folder} import .*\b{name}\b)"


class Tests:
    """A plugin of pytest that begins no test after TESTS_S, and no slow one except those of the files `own`.

    missed: the files with tests that were left out.
    """

    def __init__(self, own: Sequence[str]) -> None:
        self.missed: set[str] = set()
        self._own = frozenset(own)
        self._end_s = time.monotonic() + TESTS_S

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        took_s = durations_s(config)

        def is_slow(item: pytest.Item) -> bool:
            if not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
                return True
            return _file_of(item) not in self._own and took_s.get(item.nodeid, 0.0) > LONG_S

        slow = [item for item in items if is_slow(item)]
        self._miss(slow)
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        self._end_s = time.monotonic() + TESTS_S

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if time.monotonic() < self._end_s:
            return None
        self._miss([item])
        return True

    def _miss(self, items: Iterable[pytest.Item]) -> None:
        self.missed.update(map(_file_of, items))


def _file_of(item: pytest.Item) -> str:
    return item.path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    sys.exit(main())
