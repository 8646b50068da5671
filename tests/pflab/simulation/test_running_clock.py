"""The clock of a simulated lab can run, as real time passes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import pytest

from node.api.routing.dispatch import dispatch
from pflab.errors import LabError
from pflab.runs.continued import SAVED
from pflab.runs.run_folder import RunFolder
from pflab.runs.saved import SavedRuns
from pflab.server.app import app_of_live_lab
from pflab.simulation.running_clock import MOST_S, TICK_S
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.judged_traces import pflab_check
from tests.support.lab_actions import events_of, post, subjects
from tests.support.real_time import RealTime
from tests.support.running_clocks import COURSES, play_course
from tests.support.topologies import THREE_STORES, TWO_SITES
from topology.file.load import topology_from_text
from traces.errors import TimeTextError
from traces.events import ClockChanged, MailSubmitted, VersionApplied
from traces.labtime import DAY_US, END_AT, HOUR_US, MINUTE_US, SECOND_US, format_instant


@pytest.fixture
def real() -> RealTime:
    return RealTime()


def lab_of(topology: str, folder: Path, real: RealTime) -> SimulatedLab:
    run = RunFolder.at(folder / "run")
    return SimulatedLab(topology_from_text(topology), folder=run, monotonic=real.monotonic, sleep=real.sleep)


@pytest.fixture
async def lab(tmp_path: Path, real: RealTime) -> AsyncIterator[SimulatedLab]:
    async with lab_of(THREE_STORES, tmp_path, real) as lab:
        yield lab


async def test_a_running_clock_moves_with_real_time(lab: SimulatedLab, real: RealTime) -> None:
    """At rate 60 a lab minute takes a second. What comes due happens at its time, and not earlier."""
    await lab.set_rate(60)
    await real.let_pass(14 * 60 / 60)
    await post(lab, "A")
    assert abs(lab.now - (START_AT + 14 * MINUTE_US)) <= 60 * TICK_S * SECOND_US
    assert subjects(lab, "B") == []
    await real.let_pass(2)
    assert subjects(lab, "B") == ["Hello"]
    (applied, *_) = events_of(lab, VersionApplied)
    assert applied.at == START_AT + ALWAYS_US
    await lab.pause()
    stopped_at = lab.now
    await real.let_pass(10)
    assert (lab.now, lab.rate) == (stopped_at, 0)
    assert [(each.how, each.rate) for each in events_of(lab, ClockChanged)] == [("rate", 60.0), ("pause", 0.0)]


async def test_a_slow_rate_is_not_lost_to_rounding(lab: SimulatedLab, real: RealTime) -> None:
    """Also a clock whose steps are shorter than a microsecond moves."""
    await lab.set_rate(1e-6)
    await real.let_pass(100)
    assert 99 <= lab.now - START_AT <= 100


async def test_a_new_rate_counts_from_its_moment(lab: SimulatedLab, real: RealTime) -> None:
    """The time before a change of the rate has passed at the old rate."""
    await lab.set_rate(1)
    await real.let_pass(1)
    await lab.set_rate(3600)
    await real.let_pass(1)
    assert abs(lab.now - START_AT - HOUR_US - SECOND_US) <= 3600 * TICK_S * SECOND_US
    with pytest.raises(TimeTextError):
        await lab.set_rate(-1)
    assert lab.rate == 3600


async def test_a_warp_stops_the_clock(lab: SimulatedLab, real: RealTime) -> None:
    """A warp and a step begin where the clock is, and leave it paused where they end."""
    await lab.set_rate(60)
    await real.let_pass(1)
    await lab.advance(START_AT + DAY_US)
    assert (lab.now, lab.rate) == (START_AT + DAY_US, 0)
    await lab.set_rate(60)
    await real.let_pass(1)
    with pytest.raises(LabError, match="cannot go back"):
        await lab.advance(START_AT)
    assert lab.rate == 0
    await real.let_pass(5)
    await lab.set_rate(60)
    await lab.step()
    stepped_at = lab.now
    await real.let_pass(5)
    assert lab.now == stepped_at


async def test_a_clock_does_not_make_up_for_sleep(lab: SimulatedLab, real: RealTime) -> None:
    """After a machine was asleep for hours, the clock goes on where it was, and a little further."""
    await lab.set_rate(60)
    await real.let_pass(1)
    before_at = lab.now
    real.oversleep(8 * 3600)
    await real.let_pass(TICK_S)
    assert lab.now - before_at <= (MOST_S + 2 * TICK_S) * 60 * SECOND_US


async def test_requests_are_answered_while_the_clock_moves(lab: SimulatedLab, real: RealTime) -> None:
    """A fast clock does not keep the lab from answering between two instants."""
    app = app_of_live_lab(lambda: lab)
    await lab.set_rate(36_000)
    moving = asyncio.ensure_future(real.let_pass(10))
    answers = 0
    while not moving.done():
        answer = await dispatch(app, "POST", "/nodes/A/messages", b'{"folder": "Projects", "subject": "Hello"}')
        assert answer.status == 201
        answers += 1
        await asyncio.sleep(0)
    await moving
    assert answers > 10
    await lab.pause()
    await lab.advance(lab.now + DAY_US)
    assert len(subjects(lab, "B")) == answers
    times = [each.at for each in events_of(lab, MailSubmitted)]
    assert times == sorted(times)


async def test_the_clock_stops_at_the_end_of_lab_time(tmp_path: Path, real: RealTime) -> None:
    """A clock that runs for ever does not pass the last instant that a trace can have."""
    start = f"start: {format_instant(END_AT - MINUTE_US)}\n"
    async with lab_of(start + THREE_STORES, tmp_path, real) as lab:
        await lab.set_rate(60)
        await real.let_pass(10)
        assert lab.now == END_AT


async def test_a_reset_stops_the_clock(lab: SimulatedLab, real: RealTime, tmp_path: Path) -> None:
    """The history that ends does nothing more; the next one begins paused."""
    lab.saved_runs, lab.returns = SavedRuns(tmp_path / SAVED), lambda name: None
    await lab.save("start")
    await lab.set_rate(60)
    await lab.reset("start")
    before_at = lab.now
    await real.let_pass(10)
    assert (lab.now, lab.rate) == (before_at, 0)


async def test_a_failure_pauses_the_clock(
    lab: SimulatedLab, real: RealTime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If a server fails at what is due, the clock stops there and says why; the next move raises the error."""
    node = lab._servers.node("B")

    def fail(now: int) -> bool:
        raise RuntimeError("a bug")

    monkeypatch.setattr(node, "tick", fail)
    with caplog.at_level(logging.ERROR, "pflab.simulation"):
        await lab.set_rate(3600)
        await real.let_pass(48)
    assert lab.rate == 0
    assert "the clock is paused" in caplog.text
    assert events_of(lab, ClockChanged)[-1].how == "pause"
    assert lab.failure_of("B") is not None


@pytest.mark.long
async def test_the_traces_of_running_clocks_are_judged_clean(tmp_path: Path, project_root: Path) -> None:
    """CV-1: the same courses that labs with sockets play are judged converged, without a violation."""
    pytest.importorskip("duckdb", reason="the extra `analytics` is not installed")
    for course, troubled in product(COURSES, (False, True)):
        real = RealTime()
        async with lab_of(TWO_SITES, tmp_path / f"rate-{course.rate:g}-{troubled}", real) as lab:
            await play_course(lab, course, troubled=troubled, rest=real.let_pass)
    done = pflab_check(project_root, str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
