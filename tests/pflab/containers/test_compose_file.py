"""`pflab compose`: what it writes, and that the project's own file is its output."""

from __future__ import annotations

import socket
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


AT = "127.0.0.${PFLAB_LOOPBACK:-1}"


def test_servers_that_were_added_have_a_file_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RT-6: a second file has only the services and volumes of these servers, as the file for all servers would have them."""
    (tmp_path / "now.yaml").write_text("servers: {A: , B: , F: {joins: later}, SEA-01: {joins: later}}\n", "utf-8")
    whole, second = tmp_path / "docker-compose.yml", tmp_path / "added.yml"
    assert run(["compose", str(tmp_path / "now.yaml"), "-o", str(whole)]) == ExitCode.GOOD
    assert run(["compose", str(tmp_path / "now.yaml"), "--only", "F,SEA-01", "-o", str(second)]) == ExitCode.GOOD
    assert f"docker compose -f docker-compose.yml -f {second} up -d f sea-01" in capsys.readouterr().out
    all_of, added = (yaml.safe_load(file.read_text("utf-8")) for file in (whole, second))
    assert added["services"] == {name: all_of["services"][name] for name in ("f", "sea-01")}
    assert (set(added), set(added["volumes"])) == ({"services", "volumes"}, {"store-f", "store-sea-01"})
    assert run(["compose", str(tmp_path / "now.yaml"), "--only", "G"]) == ExitCode.UNKNOWN
    assert 'there is no server "G"' in capsys.readouterr().err


def test_each_server_is_reached_by_smtp_and_imap() -> None:
    """Each server publishes SMTP and IMAP on loopback, with a variable for each port. The lab tells users these addresses. A
    port in the topology is the default for SMTP."""
    services = written("servers: {A: , SEA-01: {smtp_port: 12525}, B: }")["services"]
    assert services["a"]["ports"] == [f"{AT}:${{PFLAB_SMTP_A:-12526}}:2525", f"{AT}:${{PFLAB_IMAP_A:-11143}}:1143"]
    assert services["sea-01"]["ports"][0] == f"{AT}:${{PFLAB_SMTP_SEA_01:-12525}}:2525"
    assert services["b"]["ports"] == [f"{AT}:${{PFLAB_SMTP_B:-12527}}:2525", f"{AT}:${{PFLAB_IMAP_B:-11145}}:1143"]
    told = services["lab"]["command"]
    assert told[told.index("--imap-port") + 1] == "1143"
    assert f"SEA-01={AT}:${{PFLAB_SMTP_SEA_01:-12525}}" in told
    assert f"B={AT}:${{PFLAB_IMAP_B:-11145}}" in told


@pytest.mark.parametrize(
    ("file", "name"), [("six.yaml", "pflab-six"), ("Meine Übung.yaml", "pflab-meine-bung"), ("../x/_.yml", "pflab-_")]
)
def test_a_project_is_named_after_its_topology(file: str, name: str) -> None:
    """Labs of two topologies are two projects: neither takes over the containers of the other."""
    document = yaml.safe_load(compose_text(topology_from_text("servers: {A: }"), ComposeOrder(file, None)))
    assert document["name"] == name


def test_a_changed_topology_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If the file was written for another topology, one line says that a lab cannot go over to this one, and what to do. The
    container `lab` is made again. The same topology, written in another way, gives no such line."""
    file = tmp_path / "compose.yml"
    labels = []
    for text, changed in (("{A: , B: }", False), ("{A: {}, B: }", False), ("{A: , B: , C: }", True)):
        (tmp_path / "lab.yaml").write_text(f"servers: {text}\n", "utf-8")
        assert run(["compose", str(tmp_path / "lab.yaml"), "-o", str(file)]) == ExitCode.GOOD
        told = [line for line in capsys.readouterr().err.splitlines() if "another topology" in line]
        assert len(told) == int(changed)
        assert all(line.endswith(f"docker compose -f {file} down --volumes") for line in told)
        labels.append(yaml.safe_load(file.read_text("utf-8"))["services"]["lab"]["labels"])
    assert labels[0] == labels[1] != labels[2]


def test_a_taken_port_is_named_with_its_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pflab compose` says which port is taken, and which variable chooses another one; it respects variables that are set."""
    (tmp_path / "lab.yaml").write_text("servers: {A: , B: }\n", "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("PFLAB_IMAP_B", str(port))
        assert run(["compose", str(tmp_path / "lab.yaml")]) == ExitCode.GOOD
        (line,) = [line for line in capsys.readouterr().err.splitlines() if f"port {port} " in line]
        assert "(B, IMAP) is taken" in line
        assert "PFLAB_IMAP_B chooses another port" in line
        monkeypatch.setenv("PFLAB_LOOPBACK", "2")
        assert run(["compose", str(tmp_path / "lab.yaml")]) == ExitCode.GOOD
        assert f"port {port} " not in capsys.readouterr().err


def test_an_installed_pflab_builds_no_images() -> None:
    """Without the source tree, neither the file nor its comments speak of a build."""
    text = compose_text(topology_from_text("servers: {A: }"), ComposeOrder("lab.yaml", None))
    assert "build" not in text


def test_containers_have_no_more_access_than_they_need() -> None:
    """All ports are published on loopback, whatever the variables are. Every container has no capabilities and a read-only
    root; only the coordinator can write the secrets."""
    services = written("servers: {A: , B: }")["services"]
    published = [port for each in services.values() for port in each.get("ports", [])]
    assert len(published) == 1 + 2 * 2
    assert all(each.startswith("127.0.0.$") for each in published)
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
