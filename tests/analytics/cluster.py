"""pflab check on a Spark standalone cluster: a master and two workers, installed from the wheel.

It is slow; `make cluster` runs it.

Everything listens on loopback; the system chooses the ports, and the master prints its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.judged_traces import pflab_check
from tests.support.scenario_traces import SCENARIOS, play_scenario

STARTS_WITHIN_S = 300.0
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_DEFAULTS = """
spark.executor.memory 512m
spark.driver.memory 1g
spark.sql.shuffle.partitions 2
spark.sql.codegen.wholeStage false
"""


@contextmanager
def daemon(place: Path, name: str, *args: str, env: dict[str, str]) -> Iterator[Path]:
    """Run a process of the cluster inside the block, and give its log file."""
    import pyspark  # noqa: PLC0415 - an extra

    log = place / f"{name}.log"
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), *args]
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env) as process:
        try:
            yield log
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
def master(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The URL of a cluster with two workers, and the environment for its programs."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(_DEFAULTS, encoding="utf-8")
    own = {
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "SPARK_CONF_DIR": str(tmp_path / "conf"),
        "SPARK_WORKER_DIR": str(tmp_path / "work"), "SPARK_LOCAL_DIRS": str(tmp_path / "local"),
    }  # fmt: skip
    env = {**os.environ, **own}
    with ExitStack() as stack:
        place = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        log = stack.enter_context(daemon(tmp_path, "master", _MASTER, *place, env=env))
        url = found(log, r"Starting Spark master at (spark://\S+)")[1]
        for number in (1, 2):
            args = [_WORKER, url, *place, "--cores", "1", "--memory", "600m"]
            worker = stack.enter_context(daemon(tmp_path, f"worker-{number}", *args, env=env))
            found(worker, "Successfully registered with master")
        yield url, own


def test_a_standalone_cluster_judges_as_this_machine_does(
    project_root: Path, tmp_path: Path, master: tuple[str, dict[str, str]]
) -> None:
    """Two workers give the same verdict on a run as local cores do, and write the tables."""
    url, env = master
    (scenario,) = [path for path in SCENARIOS if path.stem == "lost-mail"]
    play_scenario(scenario, tmp_path / "runs")
    done = pflab_check(
        project_root, str(tmp_path / "runs"), "--json", "--master", url, "--tables", str(tmp_path / "tables"), **env
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert (told["judgement"], told["traces"], told["violations"]) == ("converged", 1, 0)
    assert (tmp_path / "tables" / "gold" / "verdicts" / "_SUCCESS").exists()
    apps = list((tmp_path / "work").glob("app-*/*"))
    assert len(apps) >= 2, "both workers ran an executor"
