"""A lab in a process of its own, as the plugin starts it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pflab.client import ClientError
from pflab.testing import AsyncLab, Driver, Lab, LabNotStarted, LabProcess, up_process
from pflab.testing import lab as testing_lab
from traces.events import RunEnded
from traces.reading import read_folder

pytestmark = [pytest.mark.live, pytest.mark.long]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[LabProcess]:
    found = LabProcess("one-site", tmp_path / "lab", driver="embedded")
    yield found
    found.close()


def test_a_reset_while_the_clock_moves(process: LabProcess) -> None:
    """A call that moves the clock is told that the lab went back meanwhile."""
    lab, told = process.lab, list[str]()
    lab.save("start")

    def move() -> None:
        with Lab(lab.url) as other, pytest.raises(ClientError) as refused:
            other.advance("3000 d")
        told.append(str(refused.value))

    moving = threading.Thread(target=move)
    moving.start()
    while not lab.clock()["warping"]:
        pass
    lab.go_back()
    moving.join()
    assert told == ["the lab was reset while its clock was moved"]
    assert lab.now() == "2003-10-21T00:00:00Z"
    lab.post("A", "Projects", subject="Hello")
    lab.assert_converged("Projects", within="20 min")


def test_a_user_who_posts_while_the_lab_goes_back(process: LabProcess) -> None:
    """While a lab is reset, users are told that it starts."""
    lab, told, ended = process.lab, set[tuple[int, str]](), threading.Event()
    lab.save("start")

    def post() -> None:
        with Lab(lab.url) as other:
            while not ended.is_set():
                try:
                    other.post("A", "Projects", subject="Hello")
                except ClientError as error:
                    told.add((error.status, str(error)))

    posting = threading.Thread(target=post)
    posting.start()
    for _ in range(5):
        lab.go_back()
    ended.set()
    posting.join()
    assert told <= {(503, "the lab is starting; wait until /readyz answers 200")}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_of_the_tests_does_not_keep_a_lab_up(process: LabProcess) -> None:
    """A process that the tests have forked has a copy of the lab's standard input. The lab still ends, and ends well."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(writer)
        os.read(reader, 1)  # until the parent closes its end
        os._exit(0)
    os.close(reader)
    folder = process.lab.run_folder
    process.close()
    os.close(writer)
    os.waitpid(child, 0)
    assert any(isinstance(event, RunEnded) for event in read_folder(folder / "traces").events)


def test_a_fork_is_a_copy_that_the_lab_does_not_notice(process: LabProcess) -> None:
    """A fork begins with what the lab has, its faults too. What is done in one does not happen in the other, and untouched both
    have the same future."""
    lab = process.lab
    lab.inject("lose", from_="A", to="B", type="content", count=1)
    lab.post("A", "Projects", subject="Hello")
    with lab.fork() as fork:
        assert fork.now() == lab.now()
        assert fork.faults() == lab.faults() != []
        fork.stop("C")
        fork.post("A", "Projects", subject="only there")
        fork.advance("3 d")
        assert {message["subject"] for message in fork.messages("B", "Projects")} == {"Hello", "only there"}
    assert lab.lab()["servers"][2]["status"] == "running"
    assert [message["subject"] for message in lab.messages("A", "Projects")] == ["Hello"]
    with lab.fork() as fork:
        expected = fork.until_converged("Projects", "4 d")
        assert lab.until_converged("Projects", "4 d")["now_at"] == expected["now_at"]
        assert lab.state("B", "Projects") == fork.state("B", "Projects")


async def test_a_fork_in_coroutines(process: LabProcess) -> None:
    """The fork of an AsyncLab is an AsyncLab, and ends with its block, also with an error."""
    lab = AsyncLab(process.lab)
    with pytest.raises(ZeroDivisionError):
        async with lab.fork() as fork:
            await fork.post("A", "Projects", subject="only there")
            assert await lab.messages("A", "Projects") == []
            raise ZeroDivisionError
    with pytest.raises(ClientError, match="is the lab up"):
        await fork.now()


async def test_a_call_after_a_cancelled_call(process: LabProcess) -> None:
    """A cancelled call ends in its thread, then the next one begins: they never share a connection."""
    lab = AsyncLab(process.lab)
    begun_at = datetime.fromisoformat(await lab.now())
    moving = asyncio.ensure_future(lab.advance("20 d"))
    await asyncio.sleep(0)
    assert lab.alone.locked()
    moving.cancel()
    await asyncio.gather(moving, return_exceptions=True)
    await lab.advance("1 min")
    assert datetime.fromisoformat(await lab.now()) - begun_at == timedelta(days=20, minutes=1)


def test_a_failure_names_only_what_is_lacking(process: LabProcess) -> None:
    """A server that has deleted a message does not lack it. The others lack its deletion, and of the messages only the last."""
    lab = process.lab
    old = lab.post("A", "Projects", subject="old")["id"]
    lab.assert_converged("Projects", within="20 min")
    lab.delete("B", "Projects", old)
    lab.post("A", "Projects", subject="second")
    with pytest.raises(AssertionError) as failed:
        lab.assert_converged("Projects")
    lines = str(failed.value).splitlines()
    assert [each for each in lines if "lacks" in each] == [
        "  A lacks B-1",
        "  B lacks A-2 ('second')",
        "  C lacks A-2, B-1 ('second')",
    ]


def test_a_lab_that_a_signal_has_stopped_fails_the_call_that_waits_for_it(
    process: LabProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that moves the clock has no limit while the lab lives. A silent lab fails the call and the calls after it, and is
    killed at the end."""
    monkeypatch.setattr(testing_lab, "SILENCE_TIMEOUT_S", 0.1)
    lab = process.lab
    lab.advance("1 h")
    os.kill(process._process.pid, signal.SIGSTOP)
    silent = (
        f"the lab at {lab.url} has fallen silent: the answer to POST /lab/clock/advance did not come"
        r" \(no sign of life for 0\.1 s\); a signal has stopped its process$"
    )
    with pytest.raises(ClientError, match=silent):
        lab.advance("1 h")
    with pytest.raises(ClientError, match=silent):
        lab.now()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        process.close()
    assert process._process.returncode == -signal.SIGKILL


def test_a_lab_that_continues_answers_again(process: LabProcess) -> None:
    """A test may stop the lab's process for a while: the call after it works."""
    lab = process.lab
    lab.timeout_s = 0.1
    lab.close()
    os.kill(process._process.pid, signal.SIGSTOP)
    with pytest.raises(ClientError, match=r"the answer to GET /lab/clock did not come within 0\.1 s"):
        lab.now()
    os.kill(process._process.pid, signal.SIGCONT)
    lab.timeout_s = 60.0
    lab.close()
    assert lab.now() == "2003-10-21T00:00:00Z"


def test_a_lab_frozen_at_its_start_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what was waited for, and what is known about the process."""
    begun = subprocess.Popen

    def frozen(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started: subprocess.Popen[bytes] = begun(*args, **options)
        os.kill(started.pid, signal.SIGSTOP)
        return started

    monkeypatch.setattr(up_process, "START_TIMEOUT_S", 0.1)
    monkeypatch.setattr(subprocess, "Popen", frozen)
    with pytest.raises(LabNotStarted) as failed:
        LabProcess("one-site", tmp_path / "lab", driver="simulated")
    assert str(failed.value) == ("the lab did not start within 0.1 s, and was killed; a signal has stopped its process")


def test_a_lab_that_does_not_end_is_killed_with_a_warning(process: LabProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning names the folder whose traces are incomplete."""
    monkeypatch.setattr(up_process, "STOP_TIMEOUT_S", 0.1)
    os.kill(process._process.pid, signal.SIGSTOP)
    with pytest.warns(UserWarning, match=r"lab did not end within 0\.1 s, and was killed; .*; a signal has stopped"):
        process.close()


@pytest.mark.parametrize("driver", ["simulated", "embedded"])
def test_nothing_happens_between_two_lines(tmp_path: Path, driver: Driver) -> None:
    """A change returns when the mails that it sends at once have arrived, so the next line cannot overtake them."""
    process = LabProcess("one-site", tmp_path / "lab", driver=driver)
    lab = process.lab
    lab.save("start")
    for _ in range(5):
        lab.go_back()
        asked = lab.synchronize("A", "Projects")["asked"]
        assert asked
        assert lab.queue("A") == []
        lab.kill("A")
        events = list(lab.events())
        assert sum(each["type"] == "mail.received" and each["node"] in asked for each in events) >= len(asked)
    process.close()


def test_a_topology_with_a_mistake(tmp_path: Path) -> None:
    """The error says where the topology is wrong."""
    with pytest.raises(LabNotStarted, match=r"servers\.A\.version"):
        LabProcess({"servers": {"A": {"version": "2004"}}}, tmp_path, driver="simulated")


def test_smtp_of_a_server_that_has_none(process: LabProcess) -> None:
    """`smtp` tells in words why a server has no address."""
    process.lab.stop("B")
    with pytest.raises(ClientError, match="server B is not running"):
        process.lab.smtp("B")
    with pytest.raises(ClientError, match="there is no server 'Z'; the lab has A, B, C"):
        process.lab.smtp("Z")


def test_until_awaits_a_condition(process: LabProcess) -> None:
    """The `until` of an AsyncLab awaits what its condition returns, so that time passes until it is true."""
    lab = AsyncLab(process.lab)

    async def arrived() -> bool:
        return bool(await lab.messages("C", "Projects"))

    async def play() -> None:
        await lab.post("A", "Projects", subject="Hello")
        await lab.until(lambda: lab.messages("B", "Projects"), within="1 h")
        assert await lab.messages("B", "Projects") != []
        await lab.until(arrived, within="1 h")
        await lab.until(lambda: lab.sync.messages("C", "Projects"), within="0 s")
        with pytest.raises(
            AssertionError, match=r"^the condition was false from .* to .* \(5 min\), at the end \[\]\n"
        ):
            await lab.until(lab.faults, within="5 min")

    asyncio.run(play())


def test_until_refuses_what_is_no_condition(process: LabProcess) -> None:
    """A coroutine or a list would be true or false for ever."""
    lab, later = process.lab, AsyncLab(process.lab)
    with pytest.raises(TypeError, match=r"returns a coroutine, .* write for example lambda: lab\.messages"):
        lab.until(lambda: later.messages("B", "Projects"), within="1 h")
    with pytest.raises(
        TypeError, match=r"a function .*, not a value \(list\); write for example lambda: lab\.messages"
    ):
        lab.until(lab.messages("B", "Projects"), within="1 h")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a function .*, not a value \(coroutine\)"):
        asyncio.run(later.until(later.messages("B", "Projects"), within="1 h"))  # type: ignore[arg-type]
    assert lab.now() == "2003-10-21T00:00:00Z"


def test_a_folder_has_not_converged_while_a_holder_lacks_it_or_is_stopped(process: LabProcess) -> None:
    """The error names each holder that has not heard of the folder, and each that does not run."""
    lab = process.lab
    lab.create_folder("A", "New", replicas=["A", "B", "C"])
    with pytest.raises(AssertionError, match=r"New has not converged .*\n  B lacks the folder\n  C lacks the folder\n"):
        lab.assert_converged("New")
    lab.assert_converged("New", within="20 min")
    lab.kill("C")
    with pytest.raises(AssertionError, match="\n  C does not run, so its content is unknown\n"):
        lab.assert_converged("New")


def test_last_events_begin_after_the_start(process: LabProcess) -> None:
    """The events with which a lab starts, or goes back to its start, are shown only if there are no others."""
    lab = process.lab
    assert any(each.endswith("C starts") for each in lab.last_events())
    lab.save("start")
    lab.go_back()
    lab.post("A", "Projects", subject="Hello")
    assert lab.last_events() == ["2003-10-21 00:00:00  A makes 'Hello' in Projects as A-1"]
