"""pflab top shows the events of a running lab, one a line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client, ClientError
from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode
from tests.support.cut_connections import cut_line
from tests.support.named_commands import examples_of
from tests.support.running_lab import lab_up

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A lab in which a post at A has reached B, and another one in News has not left its store."""
    with lab_up(tmp_path_factory.mktemp("lab")) as url:
        with Client(url) as client:
            client.post("A", "Projects", subject="Hello")
            client.advance("20 min")
            client.post("B", "News", subject="Aside")
        yield url


def test_one_line_an_event_with_names(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line has the time, the server and the event in words, with names instead of ids."""
    assert run(["top", "--lab", lab, "--once", "--last", "1000"]) == ExitCode.GOOD
    lines = capsys.readouterr().out.splitlines()
    assert "2003-10-21T00:00:00Z  A       makes 'Hello' in Projects as A-1" in lines
    assert all(line[20:22] == "  " and line[0:4] == "2003" for line in lines)


def test_filters_say_what_is_shown(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Servers, a folder and types are filters that can be combined; JSON has one line for each event."""
    order = ["top", "--lab", lab, "--once", "--last", "1000", "--json"]
    assert run([*order, "--node", "B", "--type", "version"]) == ExitCode.GOOD
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events and {(each["node"], each["type"].partition(".")[0]) for each in events} == {("B", "version")}
    assert run([*order, "News", "--type", "change"]) == ExitCode.GOOD
    (only,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "Aside" in only["words"]
    assert run([*order[:-1], "--last", "2"]) == ExitCode.GOOD
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(("option", "value", "right"), [("--node", "X", 'no server "X"'), ("--type", "mial", "mail")])
def test_an_unknown_filter_is_misuse(
    lab: str, option: str, value: str, right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown server or type is refused in one line with what would be right."""
    assert run(["top", "--lab", lab, "--once", option, value]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert right in line


def test_it_goes_on_with_what_happens(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --once it waits for further events, and ends after --count lines."""
    with Client(lab) as client:
        before = len(list(client.events()))
        made = client.post("A", "Projects", subject="Live")["id"]
        events = [event for event in client.events() if event.get("subject") == "Live"]
        with closing(client.events(follow=True, after=before)) as stream:
            assert next(stream) == events[0]
        assert made
    assert run(["top", "--lab", lab, "--type", "change", "--last", "1", "--count", "1"]) == ExitCode.GOOD
    assert "Live" in capsys.readouterr().out


def test_a_stream_that_is_cut_goes_on(lab: str) -> None:
    """Events come in order, each exactly once, although the connection is cut repeatedly, also inside an event."""
    with Client(lab) as client:
        client.post_batch("A", "Projects", [{"subject": f"Many {n}"} for n in range(60)])
        right = list(client.events())
    with cut_line(lab, 5000) as (url, connections), Client(url) as client:
        with closing(client.events(follow=True)) as stream:
            assert list(islice(stream, len(right))) == right
        assert len(connections) > 3


def test_a_stream_does_not_continue_in_another_lab(lab: str, tmp_path: Path) -> None:
    """If another lab has started at the same address, the client says so."""
    with lab_up(tmp_path) as url, Client(url) as client:
        stream = client.events(follow=True)
        next(stream)
        port = int(url.rpartition(":")[2])
    with lab_up(tmp_path, port=port), pytest.raises(ClientError, match="was replaced or reset"):
        for _ in stream:
            pass


@pytest.mark.long
def test_the_end_of_the_lab_ends_top_in_one_line(tmp_path: Path) -> None:
    """A watched lab stops as any other, and top says in one line that it no longer answers."""
    # Both wait at the same time for their labs to come back.
    watched = [_watch_until_the_end(tmp_path / "one"), _watch_until_the_end(tmp_path / "processes", "--processes")]
    for url, top_process in watched:
        _, errors = top_process.communicate(timeout=60)
        assert (top_process.returncode, errors.count("\n")) == (ExitCode.UNKNOWN, 1)
        assert errors.startswith(f"pflab: no answer from {url}")


def _watch_until_the_end(folder: Path, *more: str) -> tuple[str, subprocess.Popen[str]]:
    """Watch a lab until it has ended. Return its URL, and pflab top, which does not know that yet."""
    folder.mkdir()
    order = [sys.executable, "-P", "-c", "from pflab.cli import main; main()", "top", "--all", "--lab"]
    with lab_up(folder, *more) as url:
        pipe = subprocess.PIPE
        top_process = subprocess.Popen(
            [*order, url], stdout=pipe, stderr=pipe, text=True, env=node_environment(), cwd=folder
        )
        assert top_process.stdout is not None
        assert top_process.stdout.readline()
        with Client(url) as client:
            client.post("A", "Projects", subject="Seen")
        while "Seen" not in (line := top_process.stdout.readline()):
            assert line
    assert (folder / "errors").read_text() == ""
    return url, top_process


def test_the_example_of_its_help_works(lab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example in the help works."""
    (example,) = examples_of("top")
    assert run([*example, "--lab", lab]) == ExitCode.GOOD
