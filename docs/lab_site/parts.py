"""Where the parts of the lab's Python come from: our own modules, libraries, and Pyodide with its standard library.

Libraries without compiled parts are those that `.venv` has. Of the others pip fetches the builds for Pyodide's platform, in the
versions of `constraints.txt`, into `build/lab_parts/`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The source tree."""

OWN: Final = ("pflab", "node", "transport", "topology", "traces")
"""The packages of pflab that a lab consists of."""

INSTALLED: Final = (
    "annotated_types", "pydantic", "sqlalchemy", "typing_extensions", "typing_inspection", "yaml",
)  # fmt: skip
"""The libraries, without compiled parts that they need, as `.venv` has them."""

COMPILED: Final = ("msgspec", "pydantic_core")
"""The libraries with compiled parts."""

_CACHE: Final = ROOT / "build" / "lab_parts"


@dataclass(frozen=True)
class Parts:
    """The folders of the parts.

    pyodide: the npm package.
    library: Python's standard library in source.
    compiled: the libraries with compiled parts.
    installed: the other libraries, among much else.
    """

    pyodide: Path
    library: Path
    compiled: Path
    installed: Path


def gathered() -> Parts:
    """Return the parts; fetch what `build/` does not have. Raises FileNotFoundError if node has no package `pyodide`."""
    pyodide = ROOT / "node_modules" / "pyodide"
    if not (pyodide / "package.json").is_file():
        raise FileNotFoundError(f"{pyodide} is missing")
    return Parts(pyodide, _library(pyodide), _compiled(pyodide), Path(sysconfig.get_path("purelib")))


def _library(pyodide: Path) -> Path:
    archive = pyodide / "python_stdlib.zip"
    folder = _CACHE / f"library-{sha256(archive.read_bytes()).hexdigest()[:16]}"
    if not folder.is_dir():
        with _draft(folder) as draft:
            zipfile.ZipFile(archive).extractall(draft)
    return folder


def _compiled(pyodide: Path) -> Path:
    about = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["info"]
    constraints = ROOT / "constraints.txt"
    python = ".".join(about["python"].split(".")[:2])
    platform = f"pyemscripten_{about['abi_version']}_{about['arch']}"
    key = sha256(f"{python} {platform} {COMPILED} {constraints.read_text('utf-8')}".encode()).hexdigest()[:16]
    folder = _CACHE / f"compiled-{key}"
    if not folder.is_dir():
        with _draft(folder) as draft:
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            command += ["--no-compile", "--only-binary=:all:", "--platform", platform, "--python-version", python]
            command += ["--implementation", "cp", "--abi", f"cp{python.replace('.', '')}"]
            subprocess.run([*command, "-c", constraints, "--target", draft, *COMPILED], check=True)
    return folder


class _draft:  # noqa: N801 - used like a function
    """A folder that gets its name when the block has ended without an error, so an interrupted build leaves no half of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._draft = folder.with_name(f"{folder.name}.draft")

    def __enter__(self) -> Path:
        shutil.rmtree(self._draft, ignore_errors=True)
        self._draft.mkdir(parents=True)
        return self._draft

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self._draft.rename(self._folder)
