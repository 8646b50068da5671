"""Whichever driver runs a lab: what is left of a run, in the trace and in its folder."""

from __future__ import annotations

from pflab.faults.fault import FaultKind, Mails
from tests.drivers.conftest import LabFactory
from tests.support.lab_actions import ALWAYS_US, START_AT, post
from traces import read_folder
from traces.events import (
    HopSent,
    RunEnded,
    RunStarted,
)
from traces.labtime import HOUR_US
from transport.mime.describe import describe_mail, outline
from transport.mime.tamper import altered


async def test_the_traces_of_a_run_are_whole(make_lab: LabFactory) -> None:
    """After a run with a stop, a kill and a fault, the segments hold every event, of every node, without gaps."""
    lab = make_lab()
    async with lab:
        lab.faults.inject(FaultKind.LOSE, Mails("A", "C"), count=1)
        await post(lab, "A")
        await lab.advance(START_AT + HOUR_US)
        await lab.stop("B")
        await lab.start("B")
        await lab.kill("C")
        lab.verdict = "passed"
    trace = read_folder(lab.folder / "traces")
    assert trace.report() == []
    by_node = {name: [event.seq for event in trace.events if event.node == name] for name in ("lab", *lab.names)}
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_node.values())
    assert len(trace.events) == len(lab.events())
    own = [event for event in trace.events if event.node == "lab"]
    assert isinstance(own[0], RunStarted)
    assert isinstance(own[-1], RunEnded)
    assert own[-1].verdict == "passed"
    assert {event.run for event in trace.events} == {lab.run}


async def test_a_run_folder_says_what_was_run(make_lab: LabFactory) -> None:
    """Topology and seed are in the run folder, and `latest` points at it."""
    lab = make_lab(seed=77)
    async with lab:
        pass
    assert (lab.folder / "seed").read_text() == "77\n"
    assert "Projects" in (lab.folder / "topology.yaml").read_text()
    assert (lab.folder.parent.parent / "latest").resolve() == lab.folder.resolve()


async def test_mails_are_kept_if_they_are_wanted(make_lab: LabFactory) -> None:
    """Each mail that crossed a hop is a file that can be taken apart, also one that was lost on arrival."""
    async with make_lab(keeps_mails=True) as lab:
        lab.faults.inject(FaultKind.LOSE, Mails("A", "B", "content"), count=1)
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
        crossed = [event for event in lab.events() if isinstance(event, HopSent)]
    kept = sorted((lab.folder / "mails").iterdir())
    at = "2003-10-21T001500Z"
    assert [each.name for each in kept] == [f"{at}-A-to-B-content.eml", f"{at}-A-to-C-content.eml"]
    assert len(kept) == len(crossed)
    for each in kept:
        told = [line for _, line in outline(describe_mail(each.read_bytes()))]
        assert "Subject: Folder Content" in told
        assert any(line.startswith("X-Pflab-Hop: server=A") for line in told)


async def test_an_altered_mail_is_kept_as_it_crossed(make_lab: LabFactory) -> None:
    """The file of a mail that was altered on its way is what the other end got."""
    async with make_lab(keeps_mails=True) as lab:
        lab.faults.inject(FaultKind.ALTER, Mails("A", "B", "content"), count=1)
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
    to_b, to_c = (each.read_bytes() for each in sorted((lab.folder / "mails").iterdir()))
    assert body_of(to_b) == body_of(altered(to_c)) != body_of(to_c)


def body_of(mail: bytes) -> bytes:
    return mail.partition(b"\r\n\r\n")[2]


async def test_no_mails_are_kept_unless_they_are_wanted(make_lab: LabFactory) -> None:
    """A run folder holds copies of mails only on request."""
    async with make_lab() as lab:
        await post(lab, "A")
        await lab.advance(START_AT + ALWAYS_US)
    assert not (lab.folder / "mails").exists()


async def test_events_come_in_the_order_of_commits(make_lab: LabFactory) -> None:
    """The lab's list has each node's events in the order of their numbers, and `since` leaves out what was read."""
    async with make_lab() as lab:
        await post(lab, "A")
        before = len(lab.events())
        await lab.advance(START_AT + HOUR_US)
        later = lab.events(before)
        assert [*lab.events()][before:] == [*later]
        for name in lab.names:
            numbers = [event.seq for event in lab.events() if event.node == name]
            assert numbers == sorted(numbers)


async def test_closing_twice_does_nothing(make_lab: LabFactory) -> None:
    """A lab that is closed stays closed, whoever closes it again."""
    lab = make_lab()
    async with lab:
        await lab.close()
    assert not any(lab.running(name) for name in lab.names)
