"""`pflab check` as a user calls it: in a process of its own, with its own Spark."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from analytics.errors import JavaMissing, UnknownCheck
from analytics.ingest import session
from analytics.rules.catalogue import CHECKS, SUBJECTS, chosen
from pflab.campaign.seed import run_seed
from pflab.client import Client
from tests.support.judged_traces import PATIENCE_S, PFLAB, Judged, pflab_check
from tests.support.random_traces import write_random_runs
from tests.support.running_lab import lab_process


def test_check_prints_verdicts_as_json(judged: Judged) -> None:
    """CV-1: pflab check prints each verdict as JSON, exits with 1 if one folder has not converged, and keeps the tables."""
    assert judged.exit_code == 1
    assert judged.document["judgement"] == "not converged"
    assert judged.document["traces"] == sum(1 for each in judged.root.glob("*/*") if each.is_dir())
    assert (judged.tables / "verdicts" / "1.parquet").exists()


def test_a_check_prints_only_its_verdict(judged: Judged) -> None:
    """A check that succeeds prints its verdict, and nothing on stderr if nobody looks at a terminal."""
    assert judged.complaints == ""


def test_rule_checks_are_selected_by_rule_or_subject(judged: Judged, project_root: Path) -> None:
    """`--select` and `--deselect` take a rule, a group of rules or a subject. Only violations of chosen rules count."""
    place = judged.place("stories/reissued")
    done = pflab_check(project_root, place, "--json", "--select", "cn", "--deselect", "CN-1", "--deselect", "deletions")
    document = json.loads(done.stdout)
    chosen_rules = {rule["check"]: set(rule["rules"]) for rule in document["rules"]}
    assert chosen_rules and all(any(rule.startswith("CN-") for rule in rules) for rules in chosen_rules.values())
    assert not any("CN-1" in rules for rules in chosen_rules.values())
    (violations,) = {
        each["violations"] for each in judged.runs("stories").values() if each["trace"] == "stories/reissued"
    }
    assert document["violations"] < violations
    report = pflab_check(project_root, place, "--select", "CN", "--report", "report.html")
    assert (report.returncode, "--report and --shiviz show all rules" in report.stderr) == (2, True)
    unknown = pflab_check(project_root, place, "--select", "BX-9")
    assert unknown.returncode == 2
    assert "'BX-9' is not a check; write a rule like BF-3" in unknown.stderr


def test_words_choose_checks() -> None:
    """A word is a rule, a group of rules, a subject or the title of a check, in any case. Without words all are chosen."""
    every = frozenset(check.id for check in CHECKS)
    assert chosen([], []) == every
    assert chosen(["bf-3"], []) == {check.id for check in CHECKS if "BF-3" in check.rules}
    assert chosen(["Source_Selection"], []) == {check.id for check in SUBJECTS["source selection"]}
    assert chosen([CHECKS[0].id.upper()], []) == {CHECKS[0].id}
    assert chosen(["mails", "BF"], ["BF"]) == {
        check.id for check in SUBJECTS["mails"] if not any(rule.startswith("BF-") for rule in check.rules)
    }
    with pytest.raises(UnknownCheck, match="'BX' is not a check"):
        chosen(["BF"], ["BX"])


def test_without_java_one_line_says_what_to_install(project_root: Path, tmp_path: Path) -> None:
    """Without Java there is one clear line and exit code 2, and no process is started."""
    done = pflab_check(project_root, str(tmp_path), "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Java 17 or newer" in done.stderr
    assert "openjdk-17" in done.stderr


def test_an_old_java_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A Java version that Spark cannot use is refused like a missing Java, and the line names the version."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissing, match="Java 11 was found"):
        session.need_spark()


def test_a_wrong_path_is_refused(project_root: Path, tmp_path: Path) -> None:
    """A wrong path gives one line and exit code 2."""
    done = pflab_check(project_root, str(tmp_path / "nowhere"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such file or folder" in done.stderr


@pytest.mark.spark
def test_tasks_run_with_the_python_of_pflab(project_root: Path, tmp_path: Path) -> None:
    """The tasks of a check find its packages, also if another Python is the first on the PATH."""
    run_seed(3, days=1, folder=tmp_path / "runs")
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 1\n", "ascii")
    other.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = pflab_check(project_root, str(tmp_path / "runs"), "--engine", "spark", PATH=path)
    assert (done.returncode, done.stdout.splitlines()[-1].partition(":")[0]) == (0, "converged"), done.stderr[-2000:]


@pytest.mark.parametrize("master", ["local[*]", "local[2]", "spark://host:7077", "yarn"])
@pytest.mark.parametrize("chosen", [{}, session.QUICK])
def test_planning_ends_on_every_master(master: str, chosen: Mapping[str, str]) -> None:
    """On every master, with all settings, a check plans with 2 GB and without constraint propagation. Otherwise it would fill
    any heap."""
    settings = session.settings_on(master, chosen)
    assert settings["spark.sql.constraintPropagation.enabled"] == "false"
    assert settings["spark.driver.memory"] == "2g"


@pytest.mark.parametrize("by", ["spark-defaults.conf", "--conf", "--driver-memory"])
def test_the_users_of_a_cluster_choose_its_memory(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a cluster, a driver memory that Spark's own configuration names stays as it is."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    if by == "spark-defaults.conf":
        (tmp_path / by).write_text("spark.master  yarn\nspark.driver.memory  8g\n", "utf-8")
    else:
        option = "--driver-memory 8g" if by == "--driver-memory" else "--conf spark.driver.memory=8g"
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{option} pyspark-shell")
    assert "spark.driver.memory" not in session.settings_on("spark://host:7077", {})


@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])  # one handler serves SIGINT and SIGTERM
def test_a_check_that_is_stopped_ends_with_its_java(project_root: Path, tmp_path: Path, number: signal.Signals) -> None:
    """A check that Ctrl-C or SIGTERM ends says so in one line, with exit code 130, without Spark's errors. However it ends,
    Java ends with it, even if Java no longer reacts, as during a long planning."""
    write_random_runs(tmp_path / "random", [1])
    tables = tmp_path / "tables"
    order = [*PFLAB, str(tmp_path / "random"), "--engine", "spark", "--tables", str(tables)]
    env = {**os.environ, "PYTHONPATH": str(project_root)}
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as check:
        # It opens the folder of its tables when Spark has started.
        until = time.monotonic() + PATIENCE_S
        while not tables.exists() and check.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        (java,) = Path(f"/proc/{check.pid}/task/{check.pid}/children").read_text().split()[:1]
        java_ends = os.pidfd_open(int(java))
        os.kill(int(java), signal.SIGSTOP)
        check.send_signal(number)
        said, told = check.communicate(timeout=PATIENCE_S)
    assert select.select([java_ends], [], [], PATIENCE_S)[0]
    os.close(java_ends)
    if number is signal.SIGKILL:
        return
    assert (check.returncode, said) == (130, "")
    assert told.rstrip().endswith("pflab: stopped")
    assert [line for line in told.splitlines() if re.search("Traceback| ERROR |Exception", line)] == []


@pytest.mark.spark
def test_a_stopped_check_leaves_nothing_of_its_tasks(project_root: Path, tmp_path: Path) -> None:
    """A check that ends while Python workers judge says so in one line. Their folders are gone when Java is."""
    write_random_runs(tmp_path / "random", [1, 2])
    (temporary := tmp_path / "temporary").mkdir()
    folders = {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
    env = {**os.environ, "PYTHONPATH": str(project_root), **folders}
    order = [*PFLAB, str(tmp_path / "random"), "--engine", "spark"]
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as check:
        # The driver has two folders, and each task has one.
        until = time.monotonic() + PATIENCE_S
        while len(list(temporary.rglob("pflab-check-*"))) < 3 and check.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        (java,) = Path(f"/proc/{check.pid}/task/{check.pid}/children").read_text().split()[:1]
        java_ends = os.pidfd_open(int(java))
        check.send_signal(signal.SIGTERM)
        said, told = check.communicate(timeout=PATIENCE_S)
    assert select.select([java_ends], [], [], PATIENCE_S)[0]
    os.close(java_ends)
    assert (check.returncode, said) == (130, "")
    assert [line for line in told.splitlines() if not line.startswith("WARNING: Using incubator modules")] == [
        "pflab: stopped"
    ]
    assert list(temporary.rglob("pflab-*")) == []


_STOPPED_BETWEEN = """
import os, signal, sys
from analytics.ingest.session import session
from analytics.ingest.table_lock import locked
from analytics.ingest.tables import Tables

try:
    with session() as spark:
        lock = locked(Tables(spark, sys.argv[1]))
        lock.__enter__()
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    del lock
    print("stopped", file=sys.stderr)
"""


@pytest.mark.spark
def test_a_check_that_is_stopped_with_its_lock_is_quiet(project_root: Path, tmp_path: Path) -> None:
    """Ctrl-C may come at any step of a check, even between the lock of the tables and the block that it guards. Java ends, the
    lock with it, and nothing is printed about it."""
    env = {**os.environ, "PYTHONPATH": str(project_root)}
    order = [sys.executable, "-c", _STOPPED_BETWEEN, str(tmp_path / "tables")]
    ended = subprocess.run(order, capture_output=True, text=True, env=env, timeout=PATIENCE_S, check=True)
    assert [line for line in ended.stderr.splitlines() if "incubator modules" not in line] == ["stopped"]


_JAVA_KILLED = """
import os, signal
from analytics.errors import AnalyticsError
from analytics.ingest.session import session

try:
    with session() as spark:
        os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
        spark.range(3).count()
except AnalyticsError as error:
    print(error)
"""


@pytest.mark.spark
def test_a_java_that_ends_is_told_in_words(project_root: Path) -> None:
    """A Java that ends during a check, because its memory is full or because the system kills it, is no bug of pflab."""
    env = {**os.environ, "PYTHONPATH": str(project_root)}
    order = [sys.executable, "-c", _JAVA_KILLED]
    ended = subprocess.run(order, capture_output=True, text=True, env=env, timeout=PATIENCE_S, check=True)
    assert ended.stdout.startswith("Spark failed: Java has ended, as it does when its memory is full; ")


@pytest.mark.spark
def test_an_error_of_spark_is_one_line(project_root: Path) -> None:
    """A file system that Spark does not know gives exit code 2 and one line, without a traceback of Python or Java."""
    done = pflab_check(project_root, "nowhere://a/runs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("pflab check: Spark failed: ")
    assert "nowhere" in done.stderr.splitlines()[-1]
    assert [line for line in done.stderr.splitlines() if re.search(r"Traceback|^\s+at |^\s+File ", line)] == []


def test_one_worker_judges_all_traces(request: pytest.FixtureRequest, judged: Judged) -> None:
    """With several test processes, all tests that look at the traces of the tests run in the same one, because the traces take
    long to write."""
    assert judged.root.is_dir()
    if hasattr(request.config, "workerinput") and request.config.getoption("dist", "no") == "loadgroup":
        assert request.node.nodeid.endswith("@judged")


@pytest.mark.long
def test_a_check_writes_the_traces_of_a_killed_lab(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose lab was killed is judged from what the lab left behind; the verdict says that it has no end. Without the kill
    it would be judged from the same events."""
    monkeypatch.chdir(tmp_path)
    with lab_process(tmp_path, "--simulated") as (lab, _):  # of this one, nothing is left
        lab.send_signal(signal.SIGKILL)
        lab.wait(PATIENCE_S)
    with lab_process(tmp_path) as (lab, url), Client(url) as client:
        client.post("A", "Projects", subject="Hello")
        client.until_converged("Projects", "2 h")
        lab.send_signal(signal.SIGKILL)
        lab.wait(PATIENCE_S)
    done = pflab_check(project_root, "run*", "--json")
    assert done.returncode == 2
    assert "its lab was killed, and its last events are missing: " in done.stderr
    assert "its lab was killed; its traces are now written from its databases" in done.stderr
    document = json.loads(done.stdout)
    assert document["events"] > 0
    for verdict in document["told"]:
        assert "the run has no end: its last events are missing, or it is still running" in verdict["witnesses"]
    assert sum(rule["violations"] for rule in document["rules"]) == 0
