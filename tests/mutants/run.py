"""Apply each defect of this folder to a copy of the tree and search for it with a campaign.

    python tests/mutants/run.py                    all of them, up to 50 seeds each
    python tests/mutants/run.py no-status row-united --seeds 20

The head of a patch, which `git apply` ignores, has these lines:

    What the defect does, in one sentence.
    Rules: the rules that it breaks
    Caught by: the invariant that must catch it (optional)
    First seed: where to begin, if seeds 1 to 50 do not show the defect (optional)
    Test: the module of the test that must catch it, if no seed shows the defect (optional)

A mutant that only another invariant catches counts as caught, and the output says so. If the head names no test and no seed
catches a mutant, the tests of the store and the scenarios are run on it. A mutant whose store only raises an exception shows
nothing, and counts as not caught. The exit status is 1 if nothing catches one of the mutants.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ("traces", "topology", "transport", "node", "pflab")
TESTS = ("tests/node", "tests/scenarios/test_scenarios_simulated.py")
SEEDS = 50
CAUGHT_BY = "Caught by: "
FIRST_SEED = "First seed: "
TEST = "Test: "
NO_STORE_FAILS = "no store fails"
"""The invariant that a store ends no stimulus with an exception."""

HUNT = """
import json, sys
from pflab.campaign.seed import run_seed
for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    try:
        result = run_seed(seed)
    except Exception as error:
        print(json.dumps([seed, ["an error: " + type(error).__name__]]))
        break
    if result.violations:
        print(json.dumps([seed, sorted(result.broken)]))
        break
"""


@dataclass(frozen=True, slots=True)
class Hunt:
    """The result for one mutant. `seed` is 0 if no seed caught it."""

    name: str
    about: str
    seed: int
    broken: tuple[str, ...]
    test: str = ""
    expected: str = ""
    """The invariant that must catch it by the head of the patch, or ''."""

    @property
    def crashes(self) -> bool:
        """Whether the defect only raises an exception: no invariant has to find it, so the patch shows nothing."""
        return self.broken == (NO_STORE_FAILS,) and self.expected != NO_STORE_FAILS

    @property
    def caught(self) -> bool:
        return bool(self.seed or self.test) and not self.crashes

    def in_words(self) -> str:
        if self.crashes:
            return f"CRASHES   {self.name} at seed {self.seed}: mend the patch, so that the store goes on: {self.about}"
        if self.seed:
            missed = f"; not by '{self.expected}'" if self.expected and self.expected not in self.broken else ""
            return f"caught    {self.name} by seed {self.seed}: {', '.join(self.broken)}{missed}"
        if self.test:
            return f"by a test {self.name}: {self.test}; no seed saw it"
        return f"SURVIVED  {self.name}: {self.about}"


def about(patch: Path) -> str:
    """Return the first line of the patch: what the defect does."""
    return patch.read_text("utf-8").partition("\n")[0]


def expected_invariant(patch: Path) -> str:
    """Return the invariant that the head of a patch names, or ''."""
    return head_value(patch, CAUGHT_BY)


def first_seed(patch: Path) -> int:
    """Return the first seed to play: one whose plan does what the defect breaks."""
    return int(head_value(patch, FIRST_SEED) or 1)


def head_value(patch: Path, what: str) -> str:
    """Return the value of a line of the patch's head, or ''."""
    head = patch.read_text("utf-8").partition("\n\n")[0].splitlines()
    return next((line.removeprefix(what) for line in head if line.startswith(what)), "")


def plant(patch: Path, tree: Path) -> None:
    """Copy the packages and apply the defect. Raise CalledProcessError if the patch no longer applies."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", str(patch)], cwd=tree, check=True, capture_output=True, text=True)


def hunt(patch: Path, seeds: int) -> Hunt:
    """Play seeds on the mutant until one catches it."""
    with tempfile.TemporaryDirectory() as folder:
        plant(patch, Path(folder))
        if module := head_value(patch, TEST):
            return Hunt(patch.stem, about(patch), 0, (), failing_test(Path(folder), module))
        played = subprocess.run(
            [sys.executable, "-c", HUNT, str(first_seed(patch)), str(seeds)],
            cwd=folder, check=False, capture_output=True, text=True,
        )  # fmt: skip
        if played.returncode:
            print(played.stderr.strip().splitlines()[-1], file=sys.stderr)
            return Hunt(patch.stem, about(patch), 1, (NO_STORE_FAILS,))
        found = json.loads(played.stdout) if played.stdout.strip() else [0, []]
        test = "" if found[0] else failing_test(Path(folder))
    return Hunt(patch.stem, about(patch), found[0], tuple(found[1]), test, expected_invariant(patch))


def failing_test(tree: Path, *modules: str) -> str:
    """Return the first test that fails on the mutant, or ''. Without modules, the tests of the store and the scenarios run."""
    for name in ("tests", "scenarios"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    asked = (*modules, "-m", "") if modules else TESTS  # also if the tests of the module are long
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *asked]
    tested = subprocess.run(command, cwd=tree, check=False, capture_output=True, text=True)
    failed = [line for line in tested.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].split(" - ")[0].partition(" ")[2] if failed else ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="search for the planted defects")
    parser.add_argument("names", nargs="*", help="patches by name; without any, all")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="the largest number of seeds for each mutant")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(arguments)
    patches = [path for path in sorted(HERE.glob("*.patch")) if not chosen.names or path.stem in chosen.names]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        hunts = []
        for done in pool.map(lambda patch: hunt(patch, chosen.seeds), patches):
            print(done.in_words(), flush=True)
            hunts.append(done)
    by_seed, caught = sum(bool(each.seed) for each in hunts), sum(each.caught for each in hunts)
    print(f"{by_seed} of {len(hunts)} mutants caught within {chosen.seeds} seeds, {caught - by_seed} more by tests")
    return 0 if hunts and caught == len(hunts) else 1


if __name__ == "__main__":
    sys.exit(main())
