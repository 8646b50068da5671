"""pflab as a package: build it, and install it into new environments that share nothing with this one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
_NOT_OF_PFLAB = ("pip", "setuptools", "pkg_resources", "_distutils_hack")  # an environment has them from the beginning


class CommandFailed(AssertionError):
    """A command ended with another exit code than the expected one. The message has all that the command printed."""


def output_of(
    command: list[str], folder: Path, code: int = 0, timeout_s: int = 240, environment: dict[str, str] | None = None
) -> str:
    """Return what the command prints. Raise CommandFailed if it ends with another exit code.

    environment: variables in addition to those of this process.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**inherited, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    if done.returncode != code:
        raise CommandFailed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Package:
    """The two files that are published."""

    wheel: Path
    sdist: Path

    @classmethod
    def built(cls, tree: Path, folder: Path) -> Self:
        """Build the package of this tree into an empty folder. The files in it have the time of the last commit."""
        committed_s = output_of(["git", "log", "-1", "--format=%ct"], ROOT).strip()
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
        output_of(command, tree, environment={"SOURCE_DATE_EPOCH": committed_s})
        (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
        return cls(wheel, sdist)


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment."""

    programs: Path

    @property
    def python(self) -> Path:
        return self.programs / "python"

    def install(self, *what: str, constraints: Path = CONSTRAINTS) -> None:
        command = [str(self.python), "-m", "pip", "install", "--quiet", "-c", str(constraints), *what]
        output_of(command, self.programs, timeout_s=600)

    def run(self, program: str, *arguments: str, folder: Path, code: int = 0, timeout_s: int = 240) -> str:
        return output_of([str(self.programs / program), *arguments], folder, code, timeout_s)

    def sizes(self) -> tuple[int, int]:
        """Return the bytes that the installed packages take, and those of their bytecode in __pycache__."""
        (packages,) = self.programs.parent.glob("lib/python*/site-packages")
        parts = [each for each in packages.iterdir() if each.name.split("-")[0] not in _NOT_OF_PFLAB]
        files = [file for part in parts for file in (part.rglob("*") if part.is_dir() else [part]) if file.is_file()]
        bytecode = sum(file.stat().st_size for file in files if file.suffix == ".pyc")
        return sum(file.stat().st_size for file in files) - bytecode, bytecode


def new_environment(python: Path, folder: Path) -> Environment:
    """Create a virtual environment of this interpreter in a folder."""
    output_of([str(python), "-m", "venv", str(folder)], folder)
    return Environment(folder / "bin")


def interpreter(version: str) -> Path | None:
    """Return an interpreter of a version such as "3.12", from pyenv or from the system, or None."""
    places = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"), Path(f"/usr/bin/python{version}")]
    return next((each for each in places if each.exists()), None)
