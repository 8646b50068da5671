"""What `make site` builds: the files of the lab, and that they are all that a lab needs."""

from __future__ import annotations

import gzip
import hashlib
import json
import marshal
import re
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from docs.lab_site import site
from docs.lab_site.modules import Finder, compiled
from docs.lab_site.parts import ROOT
from pflab.lessons.course import lessons_of_pflab
from tests.support.lab_site import built_lab, can_be_built
from tests.support.node_lab import NodeLab

MOST_SENT_BYTES = 8_100_000
"""The limit of all files together, if the server compresses what can be compressed."""

built_here = [pytest.mark.long, pytest.mark.xdist_group("site"), can_be_built]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_lab(tmp_path_factory)


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


class TestBuild:
    pytestmark = built_here

    def test_the_list_has_every_file(self, built: Path) -> None:
        """content.json has the size and the SHA-256 of each other file, and so has the service worker, which keeps all of one
        version."""
        files = files_of(built)
        listed = json.loads(files.pop(site.CONTENT))
        constant, _, program = files.pop(site.SERVICE_WORKER).decode().partition("\n")
        kept = json.loads(constant.removeprefix("self.CONTENT = ").removesuffix(";"))
        assert (kept["version"], kept["files"]) == (listed["version"], listed["files"])
        assert program == (ROOT / "console" / "tab" / site.SERVICE_WORKER).read_text("utf-8")
        assert listed["files"] == {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()
        }
        assert {"index.html", "python/lab.tar.xz", "console/tab/lab_worker.js", "topology/default.yaml"} <= files.keys()
        assert [name for name in files if "/tests/" in name or name.endswith((".py", ".mjs.map"))] == []

    def test_a_second_build_is_the_same(self, built: Path, tmp_path: Path) -> None:
        """Two builds of one tree are equal byte for byte, so the version changes only with the content."""
        site.build(tmp_path / "lab")
        assert files_of(tmp_path / "lab") == files_of(built)

    def test_the_lab_is_small(self, built: Path) -> None:
        """All files together stay below the limit."""
        assert sum(min(len(data), len(gzip.compress(data))) for data in files_of(built).values()) < MOST_SENT_BYTES

    def test_the_page_loads_only_its_own_files(self, built: Path) -> None:
        """Every address in the page is relative, so that it works below any path, and names a file of the site."""
        page = (built / "index.html").read_text("utf-8")
        addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
        assert len(addresses) > 5
        assert [each for each in addresses if not each.startswith("./")] == []
        assert {each.removeprefix("./") for each in addresses} <= files_of(built).keys()
        assert "console/tab/start.js" in {each.removeprefix("./") for each in addresses}

    def test_no_file_of_ours_names_a_host(self, built: Path) -> None:
        """The page and the console load nothing from elsewhere, and name no place from which packages come."""
        ours = {
            name: data for name, data in files_of(built).items() if name.endswith((".js", ".html", ".json", ".css"))
        }
        hosts = {
            host
            for name, data in ours.items()
            for host in re.findall(r"https?://([\w.-]+\w)", data.decode())
            if not name.startswith("python/")
        }
        assert hosts <= {"www.w3.org"}


class TestLab:
    pytestmark = built_here

    @pytest.fixture
    def lab(self, built: Path) -> Iterator[NodeLab]:
        lab = NodeLab(built)
        yield lab
        lab.close()

    @pytest.mark.parametrize("name", ["lost-mail", "six-groups", "conflict"])
    def test_a_lesson_plays_to_its_end(self, lab: NodeLab, name: str) -> None:
        """The files have all that a lesson needs, down to the verdict."""
        lesson = f"/lessons/{lab.json('POST', '/lessons', {'name': name})['id']}"
        for _ in lessons_of_pflab()[name].steps:
            lab.json("POST", f"{lesson}/next", {})
            state = lab.json("GET", f"{lesson}/lesson")
            if state["status"] != "waiting":
                break
        assert (state["status"], state["failure"]) == ("finished", None)

    def test_reads_and_changes_need_no_module_that_is_missing(self, lab: NodeLab) -> None:
        """Faults, mails in any character set, saved labs, forecasts, replays and the descriptions of the API are there."""
        lab.json("POST", "/lab/faults", {"kind": "lose", "from": "A", "to": "B"})
        lab.json("POST", "/nodes/A/messages", {"folder": "Projects", "subject": "Grüße", "body": "łódź"})
        mail = {"folder": "Projects", "to": ["kim@contoso.test"], "subject": "日本語", "body": "łódź"}
        lab.json("POST", "/nodes/A/messages/send", mail)
        assert lab.answer("POST", "/nodes/A/messages", {"folder": "Projects", "sbject": "x"})[0] == 422
        lab.json("PUT", "/lab/saved/first")
        lab.json("POST", "/lab/clock/advance", {"to": "36 h"})
        for target in ("/openapi.json", "/lab/topology", "/lab/faults/kinds", "/lab/events?words=true"):
            assert lab.answer("GET", target)[0] == HTTPStatus.OK
        trial = {"converged": "Projects", "within": "3 d", "steps": [{"stop": "B"}], "compare": True}
        lab.json("POST", "/lab/forecast", trial)
        status, page = lab.answer("GET", "/lab/replay")
        assert (status, page[:15]) == (200, "<!doctype html>")
        lab.json("POST", "/lab/saved/first/reset")


WAYS_OUT = {
    "from js import fetch": "ImportError: cannot import name 'fetch' from 'js'",
    "from js import indexedDB": "ImportError: cannot import name 'indexedDB' from 'js'",
    "import js; js.Object": "AttributeError: Object",
    "from pyodide.code import run_js; run_js('1')": "ImportError: cannot import name 'eval' from 'js'",
    "import socket; socket.create_connection(('127.0.0.1', 9))": "OSError",
    "import subprocess; subprocess.run(['true'])": "OSError",
    "import urllib.request": "ModuleNotFoundError: No module named 'urllib.request'",
}
"""Programs in Python that try to reach the browser or the network, and how their error begins."""


@pytest.mark.long
@pytest.mark.xdist_group("site")
@can_be_built
def test_python_has_nothing_of_the_browser(built: Path) -> None:
    """The module `js`, which is the window in other pages with Pyodide, is empty, and there is no network and no process."""
    program = str(Path(__file__).with_name("ways_out.mjs"))
    done = subprocess.run(
        ["node", program, str(built), json.dumps([*WAYS_OUT])], capture_output=True, text=True, check=True
    )
    for error, (way, begins) in zip(json.loads(done.stdout), WAYS_OUT.items(), strict=True):
        assert str(error).startswith(begins), (way, error)


def test_what_is_imported_late_is_found(tmp_path: Path) -> None:
    """Modules that a function imports, and relative ones, are found, but not what only type checkers import."""
    files = {
        "start.py": "def run():\n    from package import late\n    import missing\n",
        "package/__init__.py": "from . import part\nif TYPE_CHECKING:\n    import for_types\nelse:\n    import otherwise\n",
        "package/part.py": "from .. import start\nfrom .deep.inner import name\n",
        "package/deep/__init__.py": "",
        "package/deep/inner.py": "import left_out.below\nif __name__ == '__main__':\n    import program\n",
        "package/late.py": "",
    }
    files |= dict.fromkeys(
        ("for_types.py", "otherwise.py", "program.py", "left_out/__init__.py", "left_out/below.py"), ""
    )
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, "utf-8")
    found = Finder({tmp_path: frozenset()}).needed(("start",), frozenset({"left_out"}))
    assert list(found) == [
        *("otherwise", "package", "package.deep", "package.deep.inner", "package.late", "package.part", "start")
    ]


FOR_READERS = """
import typing
from typing import TYPE_CHECKING, overload
if TYPE_CHECKING:
    from missing import Text
else:
    Text = str
class Kind:
    @overload
    def of(self, value: int) -> int: ...
    @typing.overload
    def of(self, value: str) -> str: ...
    def of(self, value: Text, *rest: int, last: int = 1) -> Text:
        \"\"\"What it says.\"\"\"
        return value
class Overloaded:
    @overload
    async def of(self) -> int: ...
overloads = typing.get_overloads(Kind.of)
"""


@pytest.mark.parametrize(
    ("module", "annotations"),
    [("pflab.kinds", {"value", "rest", "last", "return"}), ("sqlalchemy.kinds", set())],
)
def test_what_only_type_checkers_read_is_left_out(tmp_path: Path, module: str, annotations: set[str]) -> None:
    """Bytecode has no overloads and nothing for type checkers alone; everything else is as in the source."""
    file = tmp_path / "kinds.py"
    file.write_text(FOR_READERS, "utf-8")
    path, content = compiled(module, file, keep_docstrings=True)
    assert path == f"{module.replace('.', '/')}.pyc"
    names: dict[str, Any] = {"__name__": "kinds"}
    exec(marshal.loads(content[16:]), names)  # the bytecode under test
    assert names["overloads"] == []
    assert (names["Kind"]().of("text"), names["Kind"].of.__doc__) == ("text", "What it says.")
    assert names["Kind"].of.__annotations__.keys() == annotations
    assert not hasattr(names["Overloaded"], "of")


def test_a_folder_gives_only_its_packages(tmp_path: Path) -> None:
    """Of an environment only the named libraries are taken, whatever else is installed there."""
    for name in ("wanted.py", "other.py"):
        (tmp_path / name).write_text("import other\n", "utf-8")
    assert list(Finder({tmp_path: frozenset({"wanted"})}).needed(("wanted",), frozenset())) == ["wanted"]


def test_a_wrong_call_says_how() -> None:
    """Without a folder the builder says how it is called."""
    done = subprocess.run(
        [sys.executable, "-m", "docs.lab_site"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (2, "usage: python -m docs.lab_site FOLDER\n")
