"""schemathesis reads the OpenAPI document of a lab and of a server, and finds no request whose answer violates it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pflab.drivers.launch import node_environment, node_order
from tests.support.running_lab import lab_up

pytestmark = [pytest.mark.outsiders, pytest.mark.live]

TOKEN = "the-token-of-this-test"

TOPOLOGY = """
servers: {A: , B: , C: , D: }
folders:
  Projects: {replicas: [A, B, C], contacts: [kim@contoso.test]}
  News: {replicas: [B]}
"""


@pytest.mark.parametrize(
    ("driver", "phases"),
    [("--processes", "examples,coverage,fuzzing,stateful"), ("", "examples,fuzzing,stateful")],  # the same routes
)
def test_no_answer_of_a_lab_violates_its_document(driver: str, phases: str, tmp_path: Path, project_root: Path) -> None:
    """Every status, content type and body of an answer is documented; invalid requests are refused, and valid ones are not."""
    with lab_up(tmp_path, *driver.split(), topology=TOPOLOGY) as url:
        _try(url, project_root, "--phases", phases)


def test_no_answer_of_a_server_violates_its_document(tmp_path: Path, project_root: Path) -> None:
    """The same holds for the API of a server's process, with all that only its coordinator may request."""
    (tmp_path / "lab.yaml").write_text(TOPOLOGY, "utf-8")
    (tmp_path / "secret").write_text("of this test", "utf-8")
    (tmp_path / "token").write_text(TOKEN, "utf-8")
    options = (
        "--managed --topology lab.yaml --data data --http-port 0 --leashed --lab-secret-file secret --token-file token"
    )
    order = node_order("A", *options.split())
    node = subprocess.Popen(order, cwd=tmp_path, env=node_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert node.stdout is not None
    with node:  # at the end stdin is closed, which stops it
        host, port = json.loads(node.stdout.readline())["http"]
        _try(f"http://{host}:{port}", project_root, "-H", f"Authorization: Bearer {TOKEN}")
    assert node.returncode == 0


def _try(url: str, project_root: Path, *more: str) -> None:
    order = [str(Path(sys.executable).with_name("st")), "--config-file", "tests/outsiders/schemathesis.toml", "run"]
    ended = subprocess.run(
        [*order, f"{url}/openapi.json", *more],
        cwd=project_root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
