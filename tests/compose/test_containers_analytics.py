"""Spark beside the lab: the analysis on the cluster agrees with the stores' own digests."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from pflab.client import ClientError
from tests.support.compose_stack import FOLDERS, STORES, Stack

pytestmark = pytest.mark.compose

MASTER = "spark"
WORKERS = ("spark-worker-1", "spark-worker-2")
JUDGED_WITHIN_S = 700
"""Real time that a round gets on a slow machine; the first starts the executors, too."""


def agreed(stack: Stack) -> dict[str, bool]:
    """Return by folder whether its holders have equal digests."""
    with stack.client() as client:
        digests = {name: client.digests(name) for name in STORES}
    found = {}
    for folder in FOLDERS:
        held = [each[folder] for each in digests.values() if each.get(folder, {}).get("held_here", False)]
        assert len(held) > 1, folder
        found[folder] = len({json.dumps(each, sort_keys=True) for each in held}) == 1
    return found


def verdict_on_now(stack: Stack) -> dict[str, Any]:
    """Return the pipeline's verdict once it has all events up to now."""
    found: dict[str, Any] = {}
    with stack.client() as client:
        client.pause()
        events = client.export()["events"]

        def known() -> bool:
            try:
                found.update(client.verdict())
            except ClientError as error:
                assert error.kind == "NoVerdict", error
            return bool(found) and found["events"] >= events

        stack.until(known, "a verdict on what has happened", JUDGED_WITHIN_S)
    return found


def judged(verdict: dict[str, Any]) -> dict[str, bool]:
    """Return by folder whether the pipeline has judged it converged."""
    return {each["path"]: each["judgement"] == "converged" for each in verdict["told"] if each["path"] in FOLDERS}


def test_the_pipeline_on_the_cluster_agrees_with_the_stores(stack: Stack) -> None:
    """The verdict from the traces equals that of the stores' digests, while stores lack a lost change and when backfill has
    brought it. Then no rule is violated and nothing is in doubt."""
    stack.converge(*FOLDERS)
    with stack.client() as client:
        for to in ("B", "C", "E"):
            client.inject("lose", from_="A", to=to, type="content")
        client.post("A", "Projects", subject="lost on its way")
        client.advance("1 h")
    began_s = time.monotonic()
    stack.compose("--profile", "analytics", "up", "--detach", "--wait", MASTER, *WORKERS, "analytics")
    first = verdict_on_now(stack)
    stack.figure(f"Spark up, and a verdict on {first['events']} events: {time.monotonic() - began_s:.0f} s")
    assert judged(first) == agreed(stack) == {**dict.fromkeys(FOLDERS, True), "Projects": False}
    witnesses = [line for each in first["told"] for line in each["witnesses"]]
    assert any("B lacks" in line for line in witnesses), witnesses
    # A round that begins in the midst of it would be one more to wait for.
    stack.docker("pause", stack.container("analytics"))
    with stack.client() as client:
        client.heal()
    stack.converge(*FOLDERS)
    stack.docker("unpause", stack.container("analytics"))
    began_s = time.monotonic()
    second = verdict_on_now(stack)
    stack.figure(f"a verdict on what has happened since: {time.monotonic() - began_s:.0f} s")
    assert judged(second) == agreed(stack) == dict.fromkeys(FOLDERS, True)
    assert (second["judgement"], second["doubts"], second["violations"]) == ("converged", [], 0), second["words"]


def test_work_was_done_on_both_workers(stack: Stack) -> None:
    """The rounds ran on the executors of the cluster. No port of it is published, and no command line contains the token."""
    token = stack.docker("exec", stack.container("lab"), "cat", "/secrets/token").strip()
    for worker in WORKERS:
        assert "app-" in stack.docker("exec", stack.container(worker), "ls", "/tmp/work")
    for service in (MASTER, *WORKERS, "analytics"):
        assert not stack.inspected(service)["HostConfig"]["PortBindings"], service
        assert token not in json.dumps(stack.inspected(service))
        assert stack.docker("exec", stack.container(service), "id", "-u").strip() == "10001"


def test_a_worker_needs_the_token(stack: Stack) -> None:
    """Spark's master refuses a worker with another token."""
    stranger = f"{stack.project}-stranger"
    settings = (
        "(cat /etc/spark/spark-defaults.conf; echo spark.authenticate.secret wrong) > /tmp/conf/spark-defaults.conf"
    )
    work = "SPARK_HOME=$(echo /opt/pflab/lib/python3*/site-packages/pyspark); export SPARK_HOME"
    join = (
        "exec $SPARK_HOME/bin/spark-class org.apache.spark.deploy.worker.Worker --work-dir /tmp/work spark://spark:7077"
    )
    stack.docker(
        *("run", "--detach", "--name", stranger, "--hostname", "stranger", "--network", f"{stack.project}_default"),
        *("--entrypoint", "bash", "pflab-spark:test", "-c", f"mkdir /tmp/conf; {settings}; {work}; {join}"),
    )
    try:
        stack.until(lambda: "Failed to connect to master" in stack.logs(stranger), "the stranger to be turned away")
    finally:
        stack.docker("rm", "--force", stranger)
    told = stack.logs(stack.container(MASTER))
    assert "Registering worker spark-worker-1" in told
    assert "Registering worker stranger" not in told
