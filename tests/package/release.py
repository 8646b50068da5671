"""make release-check: check whether the last commit can be released, and print a line for each thing that is wrong.

    python -m tests.package.release            check; if all is well, dist/ has this wheel and this sdist and nothing else
    python -m tests.package.release --notes    print the release notes: the entry of this version in CHANGELOG.md

The package is built from two clones of the last commit, so no other file of this folder gets into it. The exit status is 0 or
1. `make test-package` uses the installed package, which this program does not do.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

from tests.support.installed import ROOT, CommandFailed, Package, output_of
from tests.support.picture_sources import stale_pictures

UNRELEASED: Final = "Unreleased"
PACKAGE: Final = "package"
_ENTRY: Final = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
_TITLE: Final = re.compile(r"(?P<version>\S+)(?: \((?P<date>[\d-]+)\))?")
_TOLD_CHARACTERS: Final = 500


def version_of(project: Path) -> str:
    """Return the version of pflab, which only pyproject.toml has."""
    return str(tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def release_notes(changelog: str, version: str) -> str:
    """Return what the changelog says of a version, without its heading. It is empty if there is no such entry."""
    found = (text for title, text in _ENTRY.findall(changelog) if title.split()[0] == version)
    return next(found, "").strip()


def changelog_mistakes(changelog: str, version: str) -> Iterator[str]:
    """Yield a line for each reason why the changelog is not that of a release of this version."""
    entries = dict(_ENTRY.findall(changelog))
    if entries.pop(UNRELEASED, "").strip():
        yield f"CHANGELOG.md: {UNRELEASED} is not empty: move what stands there to the entry of {version}"
    newest = _TITLE.fullmatch(next(iter(entries), ""))
    if newest is None or newest["version"] != version:
        yield f"CHANGELOG.md: the newest entry is not that of {version}, the version in pyproject.toml"
    elif not _is_date(newest["date"]):
        yield f'CHANGELOG.md: the entry of {version} has no date: write "## {version} (YYYY-MM-DD)"'
    elif not release_notes(changelog, version):
        yield f"CHANGELOG.md: the entry of {version} is empty"


def _is_date(text: str | None) -> bool:
    try:
        return text is not None and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def uncommitted(project: Path) -> Iterator[str]:
    """Yield a line if the working tree has changed or new files."""
    changed = [line[3:] for line in output_of(["git", "status", "--porcelain"], project).splitlines()]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        yield f"the working tree is not clean: commit or remove {changed[0]}{more}"


def differences(one: Package, other: Package) -> Iterator[str]:
    """Yield a line for each of the two files that is not the same in both builds."""
    for first, second in ((one.wheel, other.wheel), (one.sdist, other.sdist)):
        if first.name != second.name or first.read_bytes() != second.read_bytes():
            yield f"two builds of one tree give different {first.name}"


def sdist_mistakes(package: Package, folder: Path) -> Iterator[str]:
    """Build the wheel from the sdist, in an empty folder, and yield a line if it differs from that of the tree."""
    with tarfile.open(package.sdist) as content:
        content.extractall(folder / "tree", filter="data")
    (tree,) = (folder / "tree").iterdir()
    if Package.built(tree, folder / "built").wheel.read_bytes() != package.wheel.read_bytes():
        yield f"{package.sdist.name} gives another {package.wheel.name} than the tree"


def complaints(package: Package, tree: Path) -> Iterator[str]:
    """Yield a line for each checker of packages that finds a mistake. The configuration is that of the tree."""
    checkers = {
        "twine check": ["twine", "check", "--strict", str(package.wheel), str(package.sdist)],
        "check-wheel-contents": ["check_wheel_contents", str(package.wheel)],
    }
    for name, command in checkers.items():
        try:
            output_of([sys.executable, "-m", *command], tree)
        except CommandFailed as error:
            yield f"{name}: {_one_line(error)}"


def package_mistakes(project: Path, folder: Path) -> Iterator[str]:
    """Build the package of the last commit twice and from its sdist, below an empty folder, and yield a line for each mistake.

    The first package is in `folder/package`.
    """
    tree = folder / "tree"
    try:
        for clone in (tree, folder / "again"):
            output_of(["git", "clone", "--quiet", "--shared", str(project), str(clone)], project)
        package = Package.built(tree, folder / PACKAGE)
        yield from differences(package, Package.built(folder / "again", folder / "package-again"))
        yield from sdist_mistakes(package, folder / "sdist")
    except CommandFailed as error:
        yield f"the package cannot be built: {_one_line(error)}"
    else:
        yield from complaints(package, tree)


def _one_line(error: CommandFailed) -> str:
    return " ".join(str(error).split())[-_TOLD_CHARACTERS:]


def mistakes(project: Path, folder: Path) -> Iterator[str]:
    """Yield a line for each reason why the last commit cannot be released. Its package is built below an empty folder."""
    yield from changelog_mistakes((project / "CHANGELOG.md").read_text("utf-8"), version_of(project))
    yield from stale_pictures(project)
    yield from uncommitted(project)
    yield from package_mistakes(project, folder)


def main() -> int:
    """Run the command. Return the exit status."""
    parser = argparse.ArgumentParser(description="Check whether the last commit can be released.")
    parser.add_argument("--notes", action="store_true", help="print the release notes, and check nothing")
    version = version_of(ROOT)
    if parser.parse_args().notes:
        notes = release_notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
        print(notes or f"CHANGELOG.md has no entry of {version}", file=sys.stdout if notes else sys.stderr)
        return 0 if notes else 1
    with tempfile.TemporaryDirectory() as folder:
        if found := list(mistakes(ROOT, Path(folder))):
            print("\n".join(found), file=sys.stderr)
            return 1
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(Path(folder) / PACKAGE, ROOT / "dist")
    print(f"pflab {version} can be released: its wheel and its sdist are in dist/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
