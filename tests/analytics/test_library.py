"""The library `pflab.analytics`: verdicts in a program of somebody else, without Spark and on a session of theirs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pflab.analytics import CannotJudge, judge
from tests.support.judged_traces import PATIENCE_S, Judged, pflab_check

ON_THEIR_SESSION = """
import sys
from pathlib import Path

import traces
from pyspark.sql import SparkSession
from pflab.analytics import judge

own = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.sql.ansi.enabled", "true")
session = (own.remote if sys.argv[3] == "Connect" else own.master)("local[2]").getOrCreate()
verdict = judge(sys.argv[1], spark=session, select=sys.argv[4:], deselect="CN-1")
assert traces.OURS and sys.modules["traces"] is traces and "analytics" not in sys.modules
assert session.conf.get("spark.sql.shuffle.partitions") == "200" and session.conf.get("spark.sql.ansi.enabled") == "true"
Path(sys.argv[2]).write_text(str(verdict), "utf-8")
sys.exit(verdict.exit_code)
"""


def test_a_program_judges_runs_without_spark(judged: Judged) -> None:
    """A verdict has what `pflab check` prints, and leaves no module of pflab's parts behind that was not there."""
    verdict = judge(judged.root / "suite" / "lost-mail")
    assert (verdict.judgement, verdict.exit_code) == ("converged", 0)
    assert str(verdict).splitlines()[-1] == "converged: 2 converged"
    assert verdict.document["traces"] == 1
    assert judge([judged.place("stories/reissued")]).exit_code == 1


@pytest.mark.long
def test_rule_checks_are_chosen(judged: Judged, project_root: Path) -> None:
    """`select` and `deselect` choose as those of `pflab check` do: a word, or several. A word that names no check is named."""
    place = judged.place("stories/reissued")
    done = pflab_check(project_root, place, "--json", "--select", "cn", "--deselect", "CN-1", "--deselect", "deletions")
    assert judge(place, select="cn", deselect=["CN-1", "deletions"]).document == json.loads(done.stdout)
    with pytest.raises(CannotJudge, match="'BX-9' is not a check"):
        judge(place, select="BX-9")


def test_what_cannot_be_judged_is_one_line(tmp_path: Path) -> None:
    """A folder that does not exist and one without runs are named in an exception of one line."""
    with pytest.raises(CannotJudge, match="nowhere: no such file or folder"):
        judge(tmp_path / "nowhere")
    with pytest.raises(CannotJudge, match="no segment"):
        judge(tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["classic", "Connect", "spark-submit"])
def test_a_session_of_somebody_else_judges_runs(judged: Judged, tmp_path: Path, kind: str) -> None:
    """A program with a module `traces` of its own judges with its session, classic, of Spark Connect or submitted to Spark,
    whose settings stay: ANSI mode, 200 partitions. It counts only violations of rules that it chooses."""
    (tmp_path / "traces.py").write_text("OURS = True\n", "ascii")
    (tmp_path / "program.py").write_text(ON_THEIR_SESSION, "ascii")
    place = str(judged.root / "stories" / "reissued")
    words = ["CN", "deletions"]
    installed = find_spec("pyspark")
    assert installed is not None
    assert installed.origin is not None
    start = str(Path(installed.origin).parent / "bin" / kind) if kind == "spark-submit" else sys.executable
    order = [start, "program.py", place, "verdict.txt", kind, *words]
    done = subprocess.run(
        order, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE_S, check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    verdict = judge(place, select=words, deselect="CN-1")
    assert done.returncode == verdict.exit_code, done.stderr[-3000:]
    assert (tmp_path / "verdict.txt").read_text("utf-8") == str(verdict)


@pytest.mark.spark
def test_a_server_of_spark_connect_judges_runs(judged: Judged, project_root: Path) -> None:
    """`pflab check` uses the server that SPARK_REMOTE names. Tables at a URL need a classic session, which one line says."""
    place = str(judged.root / "suite" / "lost-mail")
    there = pflab_check(project_root, place, "--engine", "spark", SPARK_REMOTE="local[2]")
    here = pflab_check(project_root, place)
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout), there.stderr[-3000:]
    refused = pflab_check(project_root, place, "--tables", "file:///nowhere", SPARK_REMOTE="local[2]")
    assert refused.returncode == 2
    assert "tables at a URL are written in a classic session" in refused.stderr
    assert "internal error" not in refused.stderr
