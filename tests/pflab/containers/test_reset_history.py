"""What a lab shows of its past after a reset, and after its coordinator was restarted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.client import Client, ClientError
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import ExitCode
from tests.support.coordinator_process import running_coordinator, wait_for_history
from tests.support.lab_factory import TOKEN
from tests.support.process_supervisor import ProcessSupervisor
from tests.support.topologies import TWO_STORES
from topology.file.load import topology_from_text
from traces.reading import read_folder

pytestmark = [pytest.mark.live, pytest.mark.long]


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessSupervisor]:
    monkeypatch.setenv("PFLAB_TOKEN", TOKEN)
    (tmp_path / "lab.yaml").write_text(TWO_STORES, "utf-8")
    with ProcessSupervisor(topology_from_text(TWO_STORES), RunFolder.at(tmp_path / "run"), token=TOKEN) as supervisor:
        yield supervisor


def output_of(capsys: pytest.CaptureFixture[str], *order: str) -> str:
    """Run a verb that must succeed, and return what it prints."""
    capsys.readouterr()
    assert run(list(order)) == ExitCode.GOOD
    return capsys.readouterr().out


def reset(client: Client, name: str, history: str) -> None:
    client.reset(name)
    wait_for_history(client, history)


def happened(client: Client) -> list[dict[str, Any]]:
    return list(client.events())


def test_events_before_the_save_remain_after_a_reset(
    supervisor: ProcessSupervisor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a reset `explain`, `events` and `trace` show what happened up to the save as before, with folder names, and
    nothing later. The same holds after a second reset and after the coordinator was killed."""
    with running_coordinator(supervisor, tmp_path, signal.SIGKILL) as url, Client(url, token=TOKEN) as client:
        client.create_folder("A", "Made", replicas=["A", "B"])
        client.advance("1 h")
        client.post("A", "Made", subject="Hello")
        client.advance("1 h")
        life = output_of(capsys, "explain", "A-2", "--lab", url)
        assert "'Hello' in Made" in life
        client.save("start")
        before = happened(client)
        trace = output_of(capsys, "trace", "--lab", url, "--type", "change", "--type", "version")
        client.post("B", "Made", subject="afterwards")
        client.advance("1 h")
        for history in ("Contoso-2", "Contoso-3"):
            reset(client, "start", history)
            after = happened(client)
            assert after[: len(before)] == before
            assert "change.made" not in {each["type"] for each in after[len(before) :]}
            assert output_of(capsys, "explain", "A-2", "--lab", url) == life
            assert output_of(capsys, "trace", "--lab", url, "--type", "change", "--type", "version") == trace
        client.post("A", "Projects", subject="anew")
        client.advance("1 h")
        before = happened(client)
        life = output_of(capsys, "explain", "A-2", "--lab", url)
        events = output_of(capsys, "events", "--lab", url)
    with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
        assert happened(client)[: len(before)] == before
        assert output_of(capsys, "explain", "A-2", "--lab", url) == life
        again = output_of(capsys, "events", "--lab", url)
        assert again.startswith(events)
        assert "Setup" not in again
        numbers = [(each["node"], each["seq"]) for each in happened(client)]
        assert len(numbers) == len(set(numbers))


def test_a_trace_after_a_reset_begins_with_the_past(
    supervisor: ProcessSupervisor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pflab lab export` writes all events of every server into the folder of the run history that it names. After a reset it
    also has the events up to the save, each once and without gaps. The folder of the abandoned run history has them too."""
    traces = tmp_path / "run" / "traces"
    with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
        client.post("A", "Projects", subject="before")
        client.advance("1 h")
        assert output_of(capsys, "lab", "export", "--lab", url).startswith("traces/Contoso-1: ")
        client.post("B", "Projects", subject="before too")
        client.advance("1 h")
        client.save("start")
        before = happened(client)
        client.post("A", "Projects", subject="left")
        client.advance("1 h")
        reset(client, "start", "Contoso-2")
        client.post("A", "Projects", subject="anew")
        client.advance("1 h")
        assert output_of(capsys, "lab", "ship", "--lab", url).startswith("traces/Contoso-2: ")  # its former name
        now = happened(client)
        for history in ("Contoso-1", "Contoso-2"):
            found = read_folder(traces / history)
            assert found.report() == []
            numbers = {(each.node, each.seq) for each in found.events}
            assert numbers >= {(each["node"], each["seq"]) for each in before}
        assert numbers == {(each["node"], each["seq"]) for each in now}


def test_save_does_not_overwrite_without_replace(
    supervisor: ProcessSupervisor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pflab lab save` refuses an existing name in one line and keeps that save; with --replace it overwrites it."""
    with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
        started_at = client.now()
        output_of(capsys, "lab", "save", "start", "--lab", url)
        client.advance("1 h")
        assert run(["lab", "save", "start", "--lab", url]) == ExitCode.UNKNOWN
        (line,) = capsys.readouterr().err.splitlines()
        assert "'start'" in line
        assert "--replace" in line
        with pytest.raises(ClientError) as refused:
            client.save("start")
        assert (refused.value.status, refused.value.kind) == (409, "Taken")
        reset(client, "start", "Contoso-2")
        assert client.now() == started_at
        client.advance("2 h")
        at = client.now()
        output_of(capsys, "lab", "save", "start", "--replace", "--lab", url)
        client.advance("1 h")
        reset(client, "start", "Contoso-3")
        assert client.now() == at


def test_a_stream_ends_when_the_lab_is_reset(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    """A stream of events does not continue silently in another run history."""
    with running_coordinator(supervisor, tmp_path) as url, Client(url, token=TOKEN) as client:
        client.save("start")
        client.post("A", "Projects", subject="left")
        with Client(url, token=TOKEN) as other:
            stream = other.events(follow=True, after=0)
            next(stream)
            reset(client, "start", "Contoso-2")
            with pytest.raises(ClientError, match="was replaced or reset"):
                list(stream)
