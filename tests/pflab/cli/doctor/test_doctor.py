"""`pflab doctor`: what it says about programs, packages, the current folder and running labs, with real ones of each kind."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pflab.cli.doctor import checks
from pflab.cli.doctor.verb import doctor as report
from pflab.cli.options import PORT
from pflab.cli.running_lab import LAB_FILE
from pflab.terms.verdict import ExitCode
from tests.support.running_lab import lab_up

PFLAB = [sys.executable, "-P", "-c", "from pflab.cli import main; main()"]
ALL = {
    "java": "echo 'openjdk version \"21.0.2\" 2024-01-16' >&2",
    "docker": 'case "$1" in compose) echo v2.40.3;; *) echo 28.2.2;; esac',
    "node": "echo v22.11.0",
    "npm": "",
    "chromium": "",
}
"""What each program does that is there: it prints its version."""

HIDDEN = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""


class Found(NamedTuple):
    code: int
    text: str
    checks: dict[str, tuple[str, str]]


def doctor(
    folder: Path, project_root: Path, programs: dict[str, str], *, path: str = "", cwd: Path | None = None, **more: Any
) -> Found:
    """Run pflab doctor --json in a folder, with only these programs.

    path: more places of modules.
    cwd: another folder.
    """
    places = folder / "programs"
    places.mkdir(exist_ok=True)
    for name, does in programs.items():
        (places / name).write_text(f"#!/bin/sh\n{does}\n", "utf-8")
        (places / name).chmod(0o755)
    env = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    env |= {"PATH": str(places), "PYTHONPATH": os.pathsep.join(filter(None, (path, str(project_root))))}
    order = [*PFLAB, "doctor", "--json"]
    done = subprocess.run(order, cwd=cwd or folder, env=env, capture_output=True, text=True, check=False, **more)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["works"] is (done.returncode == 0)
    return Found(
        done.returncode, done.stdout, {each["name"]: (each["status"], each["what"]) for each in found["checks"]}
    )


def test_all_is_there(tmp_path: Path, project_root: Path) -> None:
    """With all programs nothing is missing, and the check leaves nothing in the folder."""
    found = doctor(tmp_path, project_root, ALL)
    assert found.code == ExitCode.GOOD
    assert {
        status for name, (status, _) in found.checks.items() if name not in {"lab", "pyspark", "jinja2", "pymap"}
    } == {"ok"}
    assert found.checks["Java"] == ("ok", "21.0.2")
    assert found.checks["Docker Compose"] == ("ok", "2.40.3")
    assert found.checks["node"] == ("ok", "22.11.0")
    assert [each.name for each in tmp_path.iterdir()] == ["programs"]


def test_missing_programs_are_needed_for_something(tmp_path: Path, project_root: Path) -> None:
    """Without any program pflab itself works; each line says what needs the program, and how to get it."""
    found = doctor(tmp_path, project_root, {})
    assert found.code == ExitCode.GOOD
    for name, use, get in (
        ("Java", "pflab follow, and pflab check with Spark", "openjdk-17-jre-headless"),
        ("Docker Compose", "the lab in containers", "https://docs.docker.com/engine/install/"),
        ("Chromium", "tests that use a browser", "the package chromium"),
        ("node", "the checks of the console", "nodejs and npm"),
        ("npm", "the checks of the console", "nodejs and npm"),
    ):
        status, what = found.checks[name]
        assert status == "optional"
        assert what.startswith(f"not found; needed for {use}; ")
        assert get in what
    assert "Docker daemon" not in found.checks


def test_old_and_broken_programs_are_told_with_their_version(tmp_path: Path, project_root: Path) -> None:
    """A program that is too old, or that cannot reach its daemon, is not enough; one that fails is as if it were not there."""
    old = {
        "java": "echo 'java version \"1.8.0_402\"' >&2",
        "docker": 'case "$1" in compose) echo 2.6.0;; *) echo no daemon >&2; exit 1;; esac',
        "node": "exit 3",
    }
    found = doctor(tmp_path, project_root, old).checks
    assert found["Java"][1].startswith(
        "1.8.0 is too old, 17 or newer is needed for pflab follow, and pflab check with Spark; "
    )
    assert found["Docker Compose"][1].startswith(
        "2.6.0 is too old, 2.20 or newer is needed for the lab in containers; "
    )
    assert found["Docker daemon"][0] == "optional"
    assert found["node"][1].startswith("not found; ")


def test_java_home_counts_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark uses the Java of JAVA_HOME, so a wrong JAVA_HOME is told although a Java is on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    (tmp_path / "java").write_text(f"#!/bin/sh\n{ALL['java']}\n", "utf-8")
    (tmp_path / "java").chmod(0o755)
    (found,) = [each for each in checks.findings() if each.name == "Java"]
    assert found.status == "optional"


def test_it_works_in_a_broken_installation(tmp_path: Path, project_root: Path) -> None:
    """Without the packages of the command line, or with a package that cannot be imported, doctor says so and exits with 1."""
    hidden = tmp_path / "hidden"
    (hidden / "msgspec").mkdir(parents=True)
    (hidden / "msgspec" / "__init__.py").write_text("raise ImportError('wrong ELF class')\n", "utf-8")
    (hidden / "sitecustomize.py").write_text(HIDDEN.format(names=("typer", "yaml")), "utf-8")
    found = doctor(tmp_path, project_root, {}, path=str(hidden))
    assert found.code == 1
    assert found.checks["packages"] == (
        "missing",
        f"PyYAML, typer cannot be found; install them: {sys.executable} -m pip install PyYAML typer",
    )
    status, what = found.checks["package msgspec"]
    assert (status, what.partition(";")[0]) == ("missing", "it is broken: wrong ELF class")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that not even root can write")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, project_root: Path) -> None:
    """`pflab up` writes below the current folder."""
    found = doctor(tmp_path, project_root, {}, cwd=Path("/proc"))
    status, what = found.checks["current folder"]
    assert (found.code, status) == (1, "missing")
    assert what.startswith("pflab cannot write here: ")


def test_few_file_handles_are_told(tmp_path: Path, project_root: Path) -> None:
    """Very few are too few for any lab; a low limit is enough for small labs."""
    for limit, status, code in ((200, "missing", 1), (512, "optional", 0)):
        found = doctor(
            tmp_path,
            project_root,
            {},
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
        )
        assert (found.code, found.checks["file handles"][0]) == (code, status)
        assert "ulimit -n" in found.checks["file handles"][1]


@pytest.mark.live
def test_a_lab_of_this_folder_is_told(tmp_path: Path, project_root: Path) -> None:
    """The lab that other verbs find here; a lab that was killed does not count."""
    (tmp_path / "up").mkdir()
    with lab_up(tmp_path / "up", "--simulated") as url:
        found = doctor(tmp_path / "up", project_root, {}).checks["lab"]
        assert found == ("note", f"{url} runs in this folder; to start another one here, stop it with Ctrl-C")
    (tmp_path / "up" / "runs" / "lab.json").write_text(json.dumps({"url": url, "pid": 1}), "utf-8")
    assert "runs in this folder" not in doctor(tmp_path / "up", project_root, {}).checks["lab"][1]


def test_the_report_has_a_line_for_each_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """The text has the status, the name and what was found; the last line says whether pflab works."""
    assert report() == ExitCode.GOOD
    *lines, last = capsys.readouterr().out.splitlines()
    assert all(re.fullmatch(r"(ok|note|optional) +[^:]+: .+", line) for line in lines)
    assert last.startswith("pflab works here")


def test_it_checks_what_pflab_needs(project_root: Path) -> None:
    """The packages, the oldest Python, the port and the file of a running lab are those of the rest of pflab."""
    project = tomllib.loads((project_root / "pyproject.toml").read_text("utf-8"))["project"]
    assert [re.split(r"[><=]", each)[0] for each in project["dependencies"]] == list(checks.PACKAGES.values())
    assert project["requires-python"] == f">={'.'.join(map(str, checks.PYTHON_FROM))}"
    assert (checks.PORT, checks.LAB_FILE) == (PORT, LAB_FILE)
    allowed = set(sys.stdlib_module_names) | {"pflab"}
    source = (project_root / "pflab" / "cli" / "doctor" / "checks.py").read_text("utf-8")
    assert set(re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)) <= allowed
