"""The files of the lab in a browser tab, built once in each run of the tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from docs.lab_site import site
from docs.lab_site.parts import ROOT
from traces.file_lock import lock

can_be_built = pytest.mark.skipif(
    shutil.which("node") is None or not (ROOT / "node_modules" / "pyodide").exists(),
    reason="the lab needs Node.js and npm's package pyodide, which `make site` installs",
)


def built_lab(factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the files of the lab. The first process that asks builds it, and the others wait for it."""
    shared = factory.getbasetemp()
    if shared.name.startswith("popen-"):  # one of several workers of pytest-xdist, which have a folder together
        shared = shared.parent
    folder = shared / "lab-site" / "lab"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("wb") as file:
        lock(file)
        if not (folder / site.CONTENT).is_file():  # it is written last
            site.build(folder)
    return folder
