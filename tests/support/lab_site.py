"""The files of the lab in a browser tab, built once in each run of the tests, and a server that gives them."""

from __future__ import annotations

import os
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from types import TracebackType
from typing import Any, Self

import pytest

from docs.lab_site import site
from docs.lab_site.parts import ROOT
from traces.file_lock import lock

can_be_built = pytest.mark.skipif(
    shutil.which("node") is None or not (ROOT / "node_modules" / "pyodide").exists(),
    reason="the lab needs Node.js and npm's package pyodide, which `make site` installs",
)


def built_lab(factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the files of the lab. The first process that asks builds it, and the others wait for it.

    PFLAB_BUILT_LAB names the folder of a lab that `make site` has just built: then it is copied, away from the tools of the
    tests, which programs of Node.js would find in folders above it.
    """
    shared = factory.getbasetemp()
    if shared.name.startswith("popen-"):  # one of several workers of pytest-xdist, which have a folder together
        shared = shared.parent
    folder = shared / "lab-site" / "lab"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("wb") as file:
        lock(file)
        if not (folder / site.CONTENT).is_file():  # it is written last
            if ready := os.environ.get("PFLAB_BUILT_LAB"):
                shutil.copytree(ready, folder, dirs_exist_ok=True)
            else:
                site.build(folder)
    return folder


class StaticServer:
    """A web server that only gives files. It has the lab below a path, an empty page and a script.

    lab: the folder with the files of the lab.

    url: the address of the lab's page. outside: an empty page of the same host that is no part of the lab; a
        script is beside it.
    missing: the names of files that are not given at present. asked: the paths of all requests.
    """

    def __init__(self, lab: Path) -> None:
        self.missing: set[str] = set()
        self.asked: list[str] = []
        missing, asked = self.missing, self.asked

        class Handler(SimpleHTTPRequestHandler):
            def send_head(self) -> Any:
                asked.append(self.path)
                if self.path.rpartition("/")[2] in missing:
                    self.send_error(503)
                    return None
                return super().send_head()

            def log_message(self, *_: object) -> None:
                pass

        self._folder = TemporaryDirectory(prefix="pflab-served-")
        below = Path(self._folder.name) / "below"
        below.mkdir()
        (below / "lab").symlink_to(lab)
        below.with_name("outside.js").write_text("export const outside = true;\n", "utf-8")
        below.with_name("outside.html").write_text('<!doctype html><link rel="icon" href="data:," />', "utf-8")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=self._folder.name))
        host = f"http://127.0.0.1:{self._server.server_port}"
        self.url, self.outside = f"{host}/below/lab/", f"{host}/outside.html"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def cut(self) -> None:
        """Give nothing any more, as if there was no network."""
        self._server.shutdown()
        self._server.server_close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._folder.cleanup()
