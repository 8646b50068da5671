"""The files of the lab in a tab: all of them by name, and `content.json`, which lists them.

| file | what it is |
|---|---|
| `index.html` | the page |
| `content.json` | the version, and the size and the SHA-256 of each other file |
| `service_worker.js` | keeps the files of this version in the browser |
| `console/` | what the page loads |
| `preview/`, `topology/` | what the page shows before the lab is up; the example topologies |
| `python/` | Pyodide, and `lab.tar.xz` with our modules, libraries and the standard library |
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from docs.lab_site import archives, modules, page, parts
from pflab.lessons.previews import previews
from pflab.replay.console_files import CONSOLE, script_paths
from topology.file.examples import EXAMPLES

CONTENT: Final = "content.json"
SERVICE_WORKER: Final = "service_worker.js"

PYODIDE: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
"""The files of the npm package that are taken as they are."""

_DATA: Final = (
    "scenarios/*.yaml",
    "topology/examples/*.yaml",
    "console/index.html",
    "console/icon.svg",
    "console/style/*.css",
)
"""What our modules read, below the source tree; and the modules of the console, for the file of a replay."""

_COMPRESSED: Final = ".xz"
"""The end of the name of a file that no server makes smaller."""


@dataclass(frozen=True)
class File:
    """A file of the site.

    bytes: its size. sent_bytes: its size if the server compresses it with gzip.
    """

    bytes: int
    sent_bytes: int


def build(into: Path) -> dict[str, File]:
    """Write the lab into a folder, in place of what is there, and return its files by name.

    Raises FileNotFoundError if node or its package is missing, and CalledProcessError if node or pip fails.
    """
    files = dict(sorted(_files()))
    content = {
        name: File(
            len(data),
            len(data) if name.endswith(_COMPRESSED) else len(gzip.compress(data, mtime=0)),
        )
        for name, data in files.items()
    }
    shutil.rmtree(into, ignore_errors=True)
    for name, data in {**files, **lists_of(files)}.items():
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return content


def lists_of(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the two files that list all other files of a version: one to read, and the service worker.

    files: the other files, in order.
    """
    program = (CONSOLE / "tab" / SERVICE_WORKER).read_text("utf-8")
    hashes = {name: sha256(data).hexdigest() for name, data in files.items()}
    whole = json.dumps([hashes, page.policy(), program])
    content: dict[str, object] = {
        "version": sha256(whole.encode()).hexdigest(),
        "files": {name: {"bytes": len(data), "sha256": hashes[name]} for name, data in files.items()},
    }
    listed = json.dumps({**content, "policy": page.policy()})
    return {
        CONTENT: json.dumps(content, indent=1).encode(),
        SERVICE_WORKER: f"self.CONTENT = {listed};\n{program}".encode(),
    }


def _files() -> Iterator[tuple[str, bytes]]:
    yield "index.html", page.of_lab((CONSOLE / "index.html").read_text("utf-8")).encode()
    for pattern in ("icon.svg", "style/*.css", "**/*.js", "vendor/LICENSES/*.txt"):
        for path in CONSOLE.glob(pattern):
            name = path.relative_to(parts.ROOT).as_posix()
            if "/tests/" not in name and path.name != SERVICE_WORKER:
                yield name, path.read_bytes()
    for path in EXAMPLES.glob("*.yaml"):
        yield f"topology/{path.name}", path.read_bytes()
    for preview, data in previews():
        yield preview.as_posix(), data
    for name, data in _python(parts.gathered()):
        yield f"python/{name}", data


def _python(sources: parts.Parts) -> Iterator[tuple[str, bytes]]:
    for name in PYODIDE:
        yield name, (sources.pyodide / name).read_bytes()
    lock = json.loads((sources.pyodide / "pyodide-lock.json").read_text("utf-8"))
    yield "pyodide-lock.json", json.dumps({"info": lock["info"], "packages": {}}).encode()
    with TemporaryDirectory(prefix="pflab-site-") as made:
        _write_modules(sources, Path(made))
        data = [path for pattern in _DATA for path in parts.ROOT.glob(pattern)]
        data += [CONSOLE / path for path in script_paths()]
        ours = {path.relative_to(parts.ROOT).as_posix(): path.read_bytes() for path in data}
        yield "lab.tar.xz", archives.tarred({**_contents(Path(made)), **ours})


def _write_modules(sources: parts.Parts, into: Path) -> None:
    place = "/parts"
    order = {
        "pyodide": str(sources.pyodide),
        "program": modules.__file__,
        "call": f"{modules.write.__name__}(Path({place!r}), {[*parts.OWN]}, {[*parts.COMPILED]}, {[*parts.INSTALLED]})",
        "folders": {
            f"{place}/own": str(parts.ROOT),
            f"{place}/compiled": str(sources.compiled),
            f"{place}/installed": str(sources.installed),
            f"{place}/library": str(sources.library),
            f"{place}/made": str(into),
        },
    }
    subprocess.run(["node", Path(__file__).with_name("in_pyodide.mjs"), json.dumps(order)], check=True)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
