"""`pflab compose`: what it writes, and that the project's own file is its output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pflab.cli.app import run
from pflab.containers.compose_file import ComposeOrder, addresses_of, compose_text
from pflab.errors import LabError
from pflab.terms.verdict import ExitCode
from topology.file.load import topology_from_text

ORDER = ComposeOrder("./lab.yaml", ".")


def written(text: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(compose_text(topology_from_text(text), ORDER))
    return document


def test_the_projects_own_file_is_what_it_writes(
    project_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docker-compose.yml at the root is the file for the default topology, byte for byte."""
    monkeypatch.chdir(project_root)
    for topology in ("topology/examples/default.yaml", "default"):
        assert run(["compose", topology]) == ExitCode.GOOD
        assert capsys.readouterr().out == (project_root / "docker-compose.yml").read_text("utf-8")


def test_paths_are_as_seen_from_the_file(project_root: Path, tmp_path: Path) -> None:
    """A file written elsewhere still finds the topology and the source."""
    (tmp_path / "lab.yaml").write_text("servers: {A: , B: }\n", "utf-8")
    assert run(["compose", str(tmp_path / "lab.yaml"), "-o", str(tmp_path / "compose.yml")]) == ExitCode.GOOD
    lab = yaml.safe_load((tmp_path / "compose.yml").read_text("utf-8"))["services"]["lab"]
    assert lab["volumes"][0]["source"] == "./lab.yaml"
    assert (tmp_path / lab["build"]["context"]).resolve() == project_root


def test_fifty_stores_are_fifty_services() -> None:
    """A file for fifty stores has a service and a volume for each, two more services, and four for analytics."""
    servers = "\n".join(f"  S{number:02}: " for number in range(50))
    document = written(f"servers:\n{servers}\n")
    services = {name for name, each in document["services"].items() if "profiles" not in each}
    assert services == {"lab", "load", *(f"s{number:02}" for number in range(50))}
    assert set(document["services"]) - services == {"spark", "spark-worker-1", "spark-worker-2", "analytics"}
    assert len(document["volumes"]) == 50 + 4
    assert document["services"]["s07"]["command"][:2] == ["node", "S07"]


def test_the_smtp_ports_of_the_topology_are_published() -> None:
    """A server with an SMTP port of choice takes mail there, on this machine alone; the others publish no port."""
    services = written("servers: {A: {smtp_port: 2601}, B: }")["services"]
    assert services["a"]["ports"] == ["127.0.0.1:2601:2525"]
    assert "ports" not in services["b"]


def test_containers_have_no_more_access_than_they_need() -> None:
    """One port is published, on 127.0.0.1. Every container has no capabilities and a read-only root; only the coordinator can
    write the secrets."""
    services = written("servers: {A: , B: }")["services"]
    published = [port for each in services.values() for port in each.get("ports", [])]
    assert len(published) == 1
    assert published[0].startswith("127.0.0.1:")
    for name, each in services.items():
        assert each["cap_drop"] == ["ALL"], name
        assert each["read_only"], name
        assert each["security_opt"] == ["no-new-privileges:true"], name
        assert ("secrets:/secrets:ro" in each["volumes"]) == (name != "lab"), name


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["A", "a"], "would have the same service"), (["Lab", "B"], "reserved name"), (["Spark-1"], "reserved name")],
)
def test_invalid_service_names_are_refused(names: list[str], expected: str) -> None:
    """Services have the server names in lower case; a collision is refused in one line."""
    with pytest.raises(LabError, match=expected):
        addresses_of(names)
