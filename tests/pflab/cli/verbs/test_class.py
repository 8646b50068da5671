"""`pflab class` as a program: what it prints, how it ends, and what it refuses."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from pflab.cli.app import run
from pflab.drivers.launch import node_environment
from pflab.terms.verdict import ExitCode
from tests.support.hidden_packages import pflab_without

pytestmark = pytest.mark.live

CLASS = [sys.executable, "-P", "-c", "from pflab.cli import main; main()", "class", "--port", "0"]
END_S = 30


def started(folder: Path, *more: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*CLASS, "--stop-with-stdin", *more],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        cwd=folder,
        env=node_environment(),
    )


def test_a_program_gets_one_line_and_ends_the_class_with_its_standard_input(tmp_path: Path) -> None:
    """The line has the trainer's token and the pupils' address, whose key joins the class. A lesson that was named has begun.
    When standard input is closed, the class ends, and leaves no file."""
    with started(tmp_path, "--json", "--lesson", "new-post") as served:
        try:
            assert served.stdin is not None
            assert served.stdout is not None
            assert served.stderr is not None
            ready = json.loads(served.stdout.readline())
            assert ready["pupils"] == f"{ready['url']}/class#{ready['key']}"
            headers = {"Authorization": f"Bearer {ready['key']}", "Content-Type": "application/json"}
            with urlopen(Request(f"{ready['url']}/room/pupils", b'{"name": "Kim"}', headers)) as answer:
                assert json.load(answer)["name"] == "Kim"
            headers["Authorization"] = f"Bearer {ready['trainer']}"
            with urlopen(Request(f"{ready['url']}/room", headers=headers)) as answer:
                assert json.load(answer)["lesson"] == "new-post"
            with urlopen(f"{ready['url']}/class") as answer:
                assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            served.stdin.close()
            assert served.stdout.read() == ""
            assert served.stderr.read() == ""
            assert served.wait(END_S) == ExitCode.GOOD
        finally:
            served.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_person_reads_who_opens_which_address(tmp_path: Path) -> None:
    """The trainer and the pupils have different addresses; those behind a proxy have its address. On loopback the verb says
    that nobody else reaches the class, and otherwise what is open to the network."""
    for more, told in (
        (["--address", "https://class.example/"], "only this machine reaches the class"),
        (["--host", "0.0.0.0"], "The network reaches this server at 0.0.0.0"),
    ):
        with started(tmp_path, *more) as served:
            try:
                assert served.stdout is not None
                printed = ""
                while told not in printed:
                    line = served.stdout.readline()
                    assert line, printed
                    printed += line
                served.send_signal(signal.SIGINT)
                assert served.wait(END_S) == ExitCode.GOOD
            finally:
                served.kill()
        base = "https://class.example" if "--address" in more else r"http://[0-9a-z.-]+:\d+"
        assert re.search(rf"the trainer, and nobody else, opens +{base}/class\?trainer#\S{{22}}\n", printed)
        assert re.search(rf"pupils open +{base}/class#\S{{16}}\n", printed)
        assert "█" in printed


def test_without_the_extra_there_is_an_address_and_no_picture(tmp_path: Path) -> None:
    """Without segno, the verb says how to get the QR code."""
    done = pflab_without(tmp_path, ("segno",), "class", "--port", "0", "--stop-with-stdin")
    assert done.returncode == ExitCode.GOOD
    assert "pupils open" in done.stdout
    assert "install the extra class" in " ".join(done.stdout.split())
    assert "█" not in done.stdout


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["--lesson", "lost-mial"], "did you mean"),
        (["no-such-folder"], "no lessons"),
        (["--address", "class.example"], "https://"),
        (["--site", "no-such-folder"], "make site"),
        (["--host", "192.0.2.1"], "choose another host or port"),
        (["--host", "no such host"], "choose another host or port"),
    ],
)
def test_what_is_wrong_is_one_line(
    wrong: list[str], told: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lesson, folder, address or host that does not exist is refused before the class is open."""
    monkeypatch.chdir(tmp_path)
    assert run(["class", "--port", "0", *wrong]) == ExitCode.UNKNOWN
    printed = capfd.readouterr()
    assert told in printed.err
    assert printed.err.count("\n") == 1
