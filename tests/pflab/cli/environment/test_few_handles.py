"""Few file handles: pflab takes what the system permits, and says in one line when that is too little."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from node.state.database import Database
from node.store.offline_reader import open_offline
from pflab.cli import run_or_lab
from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from tests.support.disk import few_handles, no_new_files
from topology.file.load import topology_from_text

pytestmark = pytest.mark.long

PFLAB = [sys.executable, "-P", "-m", "pflab"]
MANY = "servers: {A: , B: , C: , D: , E: , F: , G: , H: , I: , J: }\nfolders: {Projects: }\n"
PATIENCE_S = 120.0


def _up(project_root: Path, limits: tuple[int, int], *driver: str) -> subprocess.CompletedProcess[str]:
    """Start a lab of ten servers, which ends as soon as it has started, with this soft and hard limit of file handles."""
    Path("many.yaml").write_text(MANY, "utf-8")
    return subprocess.run(
        [*PFLAB, "up", "many.yaml", *driver, "--clock", "0", "--port", "0", "--json", "--stop-with-stdin"],
        env={**os.environ, "PYTHONPATH": str(project_root)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, limits),
    )


@pytest.mark.live
@pytest.mark.parametrize("most", [14, 28, 40])
def test_a_lab_without_handles_names_the_limit(project_root: Path, most: int) -> None:
    """Wherever the handles run out, also in SQLite, the lab ends with one line that names the limit."""
    done = _up(project_root, (most, most))
    assert (done.returncode, done.stdout) == (ExitCode.UNKNOWN, "")
    (line,) = done.stderr.splitlines()
    assert f"too many open files (the limit is {most}; ulimit -n raises it)" in line
    assert "continues" not in line


@pytest.mark.live
@pytest.mark.parametrize("driver", [(), ("--processes",)])
def test_the_soft_limit_is_raised(project_root: Path, driver: tuple[str, ...]) -> None:
    """A soft limit of few handles, as some systems have, is no limit for a lab or its servers' processes."""
    done = _up(project_root, (16, 1_024), *driver)
    assert (done.returncode, done.stderr) == (ExitCode.GOOD, "")


def test_a_database_without_a_handle_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A verb that cannot open a database for lack of file handles says so, although SQLite does not; it reports no bug."""
    most = os.dup(0) + 20
    os.close(most - 20)
    databases = [Database(tmp_path / f"{number}.sqlite", "full") for number in range(20)]

    def opened(*_: object) -> None:
        with ExitStack() as closing_all:
            for each in databases:
                closing_all.callback(each.close)
                each.open()

    monkeypatch.setattr(run_or_lab, "existing_run", opened)
    with few_handles(most):
        assert run(["state"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == f"pflab: too many open files (the limit is {most}; ulimit -n raises it)\n"


def test_a_whole_database_is_not_called_damaged(tmp_path: Path) -> None:
    """A database that cannot be opened for lack of file handles is neither damaged nor missing."""
    topology = topology_from_text(MANY)
    path = tmp_path / "A.sqlite"
    database = Database(path, "full")
    database.open()
    database.close()
    with no_new_files(), pytest.raises(OSError, match="Too many open files"), open_offline(path, "A", topology):
        pass
