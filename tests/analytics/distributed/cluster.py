"""pflab on a Spark standalone cluster: a master and two workers judge runs and play seeds, and one of the workers is killed.

It is slow; `make cluster` runs it. COUNT says how many seeds.

Everything listens on loopback; the system chooses the ports, and the master prints its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.judged_traces import PATIENCE_S, pflab_check
from tests.support.scenario_traces import SCENARIOS, play_scenario
from tests.support.time_limits import SLOW_S

STARTS_WITHIN_S = 300.0
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_DEFAULTS = """
spark.executor.memory 512m
spark.driver.memory 1g
spark.sql.shuffle.partitions 2
spark.sql.codegen.wholeStage false
"""


pytestmark = pytest.mark.timeout(SLOW_S)

COUNT = int(os.environ.get("COUNT", "20"))
"""How many seeds are judged, and how many are played on the cluster."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """A process of the cluster and its log file."""

    process: subprocess.Popen[bytes]
    log: Path


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster with two workers.

    environment: for its programs.
    work: the folder with the logs of the executors.
    """

    url: str
    environment: dict[str, str]
    work: Path
    workers: tuple[Daemon, ...]

    def kill_worker_at_work(self) -> None:
        """Kill the worker whose executor is the first to run a task of Python. The executor ends with it."""
        until = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < until:
            for log in self.work.glob("app-*/*/stderr"):
                text = log.read_text("utf-8", "replace")
                if "Running task" not in text:
                    continue
                for worker in self.workers:
                    if f"{log.parent.parent.name}/{log.parent.name}" in worker.log.read_text("utf-8", "replace"):
                        worker.process.kill()
                        return
            time.sleep(0.05)
        raise AssertionError("no executor ran a task")


@contextmanager
def daemon(place: Path, name: str, *args: str, env: dict[str, str]) -> Iterator[Daemon]:
    """Run a process of the cluster inside the block."""
    import pyspark  # noqa: PLC0415 - an extra

    log = place / f"{name}.log"
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), *args]
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env) as process:
        try:
            yield Daemon(process, log)
        finally:
            process.terminate()
            process.wait(timeout=60)


def found(log: Path, pattern: str) -> re.Match[str]:
    """Wait until the log has a match."""
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        match = re.search(pattern, log.read_text("utf-8", "replace"))
        if match:
            return match
        time.sleep(0.2)
    raise AssertionError(f"{log.name} never said {pattern}:\n{log.read_text('utf-8', 'replace')[-2000:]}")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster on this machine. Each worker has one core."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(_DEFAULTS, encoding="utf-8")
    own = {
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "SPARK_CONF_DIR": str(tmp_path / "conf"),
        "SPARK_WORKER_DIR": str(tmp_path / "work"), "SPARK_LOCAL_DIRS": str(tmp_path / "local"),
    }  # fmt: skip
    env = {**os.environ, **own}
    with ExitStack() as stack:
        place = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        master = stack.enter_context(daemon(tmp_path, "master", _MASTER, *place, env=env))
        url = found(master.log, r"Starting Spark master at (spark://\S+)")[1]
        workers = []
        for number in (1, 2):
            args = [_WORKER, url, *place, "--cores", "1", "--memory", "600m"]
            workers.append(stack.enter_context(daemon(tmp_path, f"worker-{number}", *args, env=env)))
            found(workers[-1].log, "Successfully registered with master")
        yield Cluster(url, own, tmp_path / "work", tuple(workers))


def test_a_cluster_judges_as_this_machine_does(project_root: Path, tmp_path: Path, cluster: Cluster) -> None:
    """Two workers give the same verdict on a run as local cores do, and write the tables."""
    (scenario,) = [path for path in SCENARIOS if path.stem == "lost-mail"]
    play_scenario(scenario, tmp_path / "runs")
    done = pflab_check(
        project_root, str(tmp_path / "runs"), "--json", "--master", cluster.url, "--tables", str(tmp_path / "tables"),
        **cluster.environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert (told["judgement"], told["traces"], told["violations"]) == ("converged", 1, 0)
    assert (tmp_path / "tables" / "verdicts" / "1.parquet").exists()
    assert len(list(cluster.work.glob("app-*/*"))) >= 2, "both workers ran an executor"


def test_a_worker_that_dies_changes_no_verdict(project_root: Path, tmp_path: Path, cluster: Cluster) -> None:
    """Many runs are judged in batches. A worker is killed in the middle, and the verdict is that of this machine."""
    runs = str(tmp_path / "runs")
    with _pflab(project_root, "simulate", "--seeds", f"1..{COUNT}", "--traces", runs) as played:
        played.communicate(timeout=PATIENCE_S)
    assert played.returncode == 0
    with _pflab(project_root, "check", runs, "--json", "--master", cluster.url, **cluster.environment) as judging:
        cluster.kill_worker_at_work()
        output, _ = judging.communicate(timeout=PATIENCE_S)
    here = pflab_check(project_root, runs, "--json", "--engine", "embedded")
    assert json.loads(output) == json.loads(here.stdout)
    assert json.loads(output)["traces"] == COUNT


def test_a_worker_that_dies_loses_no_seed(project_root: Path, cluster: Cluster) -> None:
    """Seeds are played on the cluster and judged by both judges. A worker is killed in the middle, and every seed has the
    result that it has on this machine."""
    seeds = "simulate", "--seeds", f"{COUNT + 1}..{2 * COUNT}", "--json"
    with _pflab(project_root, *seeds, "--spark", "--master", cluster.url, **cluster.environment) as playing:
        cluster.kill_worker_at_work()
        output, _ = playing.communicate(timeout=PATIENCE_S)
    with _pflab(project_root, *seeds, "--verify-share", "0") as here:
        expected, _ = here.communicate(timeout=PATIENCE_S)
    assert json.loads(output) == json.loads(expected)
    assert len(json.loads(output)["seeds"]) == COUNT


def _pflab(root: Path, *args: str, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from pflab.cli import main; main()", *args]
    place = {**os.environ, "PYTHONPATH": str(root), **env}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place)
