"""How the command line ends early (Ctrl-C, a closed pipe), and what it imports at its start."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pflab.cli
from pflab.cli import app, run_or_lab
from pflab.cli.exit_codes import STOPPED
from pflab.errors import LabError
from pflab.terms.verdict import ExitCode
from tests.support.samples import sampled

PFLAB = [sys.executable, "-c", "from pflab.cli import main; main()"]
PATIENCE_S = 60.0
"""Far more than any of these needs; only a program that hangs reaches it."""


@pytest.fixture
def env(project_root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(project_root)}


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def stopped_badly(*_: object) -> None:
    try:
        raise KeyboardInterrupt
    finally:
        raise LabError("server A is running; start it first")


@pytest.mark.parametrize("verb", [stopped, stopped_badly])
def test_ctrl_c_ends_a_verb_with_130(
    verb: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupted verb says so in one line, and reports no errors of its clean-up."""
    monkeypatch.setattr(run_or_lab, "existing_run", verb)
    assert app.run(["state"]) == STOPPED
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "pflab: stopped\n")


def test_ctrl_c_during_the_imports_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the first import on there is no traceback."""
    monkeypatch.setattr(app, "run", stopped)
    with pytest.raises(SystemExit) as ended:
        pflab.cli.main([])
    assert ended.value.code == STOPPED


def test_help_needs_no_lab(env: dict[str, str]) -> None:
    """pflab --help imports no libraries of stores, mail and models."""
    code = (
        "import sys; from pflab.cli import app; app.run(['--help']);"
        "print(*{'sqlalchemy', 'pydantic', 'aiosmtpd', 'cryptography', 'yaml'} & set(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ended.stderr == "\n"
    assert "simulate" in ended.stdout


@pytest.mark.parametrize("args", [["--help"], ["schema", "topology"], ["decode", "mail.eml"]])
def test_a_closed_pipe_is_no_error(args: list[str], env: dict[str, str], tmp_path: Path) -> None:
    """Output into a closed pipe ends quietly, and not with the exit code of a violation."""
    (tmp_path / "mail.eml").write_bytes(b"Subject: Hi\r\n\r\nHello\r\n")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [*PFLAB, *args], env=env, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (app.BROKEN_PIPE, b"")


@pytest.mark.parametrize(
    "args", sampled(["validate nothing.yaml", "--version", "example one-site", "schema topology"], 4)
)
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_error(args: str, closed: str, env: dict[str, str], tmp_path: Path) -> None:
    """A verb that a shell starts without stdout, stderr or stdin has the exit code that it has with /dev/null."""
    pflab = f'"$0" -c "from pflab.cli import main; main()" {args}'
    codes = [
        subprocess.run(
            ["sh", "-c", f"{pflab} {streams}", sys.executable], env=env, cwd=tmp_path, check=False
        ).returncode
        for streams in (closed, "< /dev/null > /dev/null 2>&1")
    ]
    assert codes == [ExitCode.UNKNOWN if "validate" in args else ExitCode.GOOD] * 2


@pytest.mark.live
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_verb_as_ctrl_c_does(env: dict[str, str], tmp_path: Path, number: signal.Signals) -> None:
    """Enter goes on to the next question of the demo. Ctrl-C, SIGTERM and SIGHUP stop it without Enter, in one line."""
    ours, theirs = pty.openpty()
    demo = subprocess.Popen([*PFLAB, "demo"], env=env, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        assert b"Press Enter to continue" in _read_until(ours, b"Press Enter to continue")
        os.write(ours, b"\n")
        assert b"Press Enter to continue" in _read_until(ours, b"Press Enter to continue")
        demo.send_signal(number)
        shown = _read_until(ours, b"pflab: stopped")
        assert demo.wait(PATIENCE_S) == STOPPED
    finally:
        demo.kill()
        demo.wait()
        os.close(ours)
    assert b"Traceback" not in shown


def _read_until(terminal: int, wanted: bytes) -> bytes:
    """Return the output up to `wanted`, to its end, or until no more comes."""
    shown = b""
    while wanted not in shown:
        if not select.select([terminal], [], [], PATIENCE_S)[0]:
            break
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end has been closed
            break
        if not part:
            break
        shown += part
    return shown


def test_a_verb_that_ends_well_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """A verb that prints and ends keeps its own exit code."""
    assert app.run(["schema", "topology"]) == ExitCode.GOOD
    assert capsys.readouterr().out.startswith("{")
