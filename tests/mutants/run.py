"""Plants each defect of this folder in a copy of the tree and lets a campaign hunt it.

    python tests/mutants/run.py                    all of them, up to 50 seeds each
    python tests/mutants/run.py no-status row-united --seeds 20

A patch begins with what the defect is, the rules it breaks and, where it says so, the invariant that must catch it, and
the first of its seeds, if it shows so rarely that seeds 1 to 50 do not come upon it; `git apply` passes that over. One that
only another invariant catches is caught, and that is said. A mutant that no seed catches is hunted by the tests of the store
and by the scenarios, and is listed as one that the campaign's invariants do not see yet. One that nothing catches makes the
exit status 1.
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
    """What became of one mutant. `seed` 0: nothing caught it."""

    name: str
    about: str
    seed: int
    broken: tuple[str, ...]
    test: str = ""
    must: str = ""
    """The invariant that the patch says must catch it; '' if it says none."""

    @property
    def caught(self) -> bool:
        return bool(self.seed or self.test)

    def in_words(self) -> str:
        if self.seed:
            missed = f"; not by '{self.must}'" if self.must and self.must not in self.broken else ""
            return f"caught    {self.name} by seed {self.seed}: {', '.join(self.broken)}{missed}"
        if self.test:
            return f"by a test {self.name}: {self.test}; no seed saw it"
        return f"SURVIVED  {self.name}: {self.about}"


def about(patch: Path) -> str:
    """The patch's first line: what the defect is."""
    return patch.read_text("utf-8").partition("\n")[0]


def must_be_caught_by(patch: Path) -> str:
    """The invariant that the head of a patch names, or ''."""
    return said(patch, CAUGHT_BY)


def first_seed(patch: Path) -> int:
    """Where its seeds begin: where what it breaks is done at all."""
    return int(said(patch, FIRST_SEED) or 1)


def said(patch: Path, what: str) -> str:
    """What a line of the patch's head says, or ''."""
    head = patch.read_text("utf-8").partition("\n\n")[0].splitlines()
    return next((line.removeprefix(what) for line in head if line.startswith(what)), "")


def plant(patch: Path, tree: Path) -> None:
    """A copy of the packages with the defect in it. CalledProcessError if the patch does not fit any more."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", str(patch)], cwd=tree, check=True, capture_output=True, text=True)


def hunt(patch: Path, seeds: int) -> Hunt:
    """Plays seeds on the mutant until one catches it."""
    with tempfile.TemporaryDirectory() as folder:
        plant(patch, Path(folder))
        played = subprocess.run(
            [sys.executable, "-c", HUNT, str(first_seed(patch)), str(seeds)],
            cwd=folder, check=False, capture_output=True, text=True,
        )  # fmt: skip
        if played.returncode:
            return Hunt(patch.stem, about(patch), 1, (f"it does not run: {played.stderr.strip().splitlines()[-1]}",))
        found = json.loads(played.stdout) if played.stdout.strip() else [0, []]
        test = "" if found[0] else failing_test(Path(folder))
    return Hunt(patch.stem, about(patch), found[0], tuple(found[1]), test, must_be_caught_by(patch))


def failing_test(tree: Path) -> str:
    """The first test of the store, or scenario, that fails on the mutant; '' if none does."""
    for name in ("tests", "scenarios"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS]
    tested = subprocess.run(command, cwd=tree, check=False, capture_output=True, text=True)
    failed = [line for line in tested.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].split(" - ")[0].partition(" ")[2] if failed else ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="hunt the planted defects")
    parser.add_argument("names", nargs="*", help="patches by name; without any, all")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="most seeds a mutant")
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
