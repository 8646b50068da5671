"""Judging a run in which connectors change, and a server is added (RT-6): events are compared with the organization as the
store had read it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from analytics.embedded import engine
from analytics.ingest.places import contents_of
from pflab.drivers.live import LiveLab
from pflab.runs.run_folder import RunFolder
from tests.support.extra_runs import play_reorganized
from tests.support.lab_actions import post
from tests.support.topologies import TWO_SITES
from tests.support.trace_faults import (
    Line,
    Trace,
    again_at_the_end,
    nth,
    read_trace,
    renumber,
    set_,
    without,
    write_trace,
)
from topology.file.load import topology_from_text

READ = "running stores read the organization"
EXIST = "mails cross connectors that exist"
COSTS = "costs match the routes"
SAME = "events agree with each other"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    place = tmp_path_factory.mktemp("reorganized")
    asyncio.run(play_reorganized(place))
    return read_trace(place / "traces")


def violated(place: Path, trace: Trace) -> dict[str, str]:
    """Return the violated checks, each with its first witness."""
    write_trace(place / "traces", trace)
    with engine.judged(list(contents_of([str(place)]))) as judged:
        return {row.check: row.witness for row in judged.findings["rules"] if row.violations}


def test_a_run_with_changed_connectors_is_clean(tmp_path: Path, trace: Trace) -> None:
    """RT-6: stores that ran, that were stopped or that joined later have read each change, and use its costs and routes."""
    assert violated(tmp_path, trace) == {}
    assert {event["revision"] for event in trace["lab"] if event["type"] == "organization.changed"} == set(range(1, 9))


@pytest.mark.live
async def test_a_run_whose_clock_ran_is_clean(tmp_path: Path) -> None:
    """RT-6, TM-1: while the clock runs, a store reads a change some time after the lab has noted it. No step of the clock hides
    this here."""
    async with LiveLab(topology_from_text(TWO_SITES), folder=RunFolder.at(tmp_path)) as lab:
        await lab.set_rate(60)
        await lab.add_site("LON")
        await post(lab, "A")
        await lab.change_connector(lab.organization.connectors[0].name, cost=7)
        await lab.add_server("Z", site="LON")
        await lab.start("Z")
        await lab.pause()
    assert violated(tmp_path / "judged", read_trace(tmp_path / "traces")) == {}


def _cost_of_before(trace: Trace) -> None:
    """A, which has read that SEA-NYC costs 20, uses the costs with which the run began: 20 over NYC in place of 5."""
    choice = nth(trace, "sources.considered", where=lambda event: event["node"] == "A")
    (candidate,) = (each for each in choice["candidates"] if each["store"] == "C")
    assert candidate["cost"] == 5
    candidate["cost"] = 20


def _without_last_read_of_e(trace: Trace) -> None:
    """E, which has read the last change before it went back to a backup, does not read it again."""
    reads = [event for event in trace["E"] if event["type"] == "organization.read" and event["revision"] == 8]
    assert len(reads) == 2
    trace["E"].remove(reads[-1])
    renumber(trace["E"])


def _read(node: str, revision: int) -> Callable[[Line], bool]:
    return lambda event: event["node"] == node and event["revision"] == revision


@pytest.mark.parametrize(
    ("change", "check", "says"),
    [
        (without("organization.read", where=_read("A", 1)), READ, "A did not know change 1 "),
        (without("organization.read", where=_read("B", 2)), READ, "B did not know change 2 "),
        (without("organization.read", where=_read("D", 2)), READ, "D did not know change "),
        (set_("organization.read", where=_read("A", 4), revision=3), READ, "A did not know change 4 "),
        (set_("organization.read", where=_read("A", 1), revision=2), READ, "A knows a change 2 "),
        (set_("organization.read", where=_read("A", 4), revision=9), READ, "A knows a change 9 "),
        (_without_last_read_of_e, READ, "E did not know change 8 "),
        (without("organization.read", where=_read("F", 6)), READ, "F did not know change 1 "),
        (
            set_("node.started", where=lambda event: event["node"] == "F", version="5.5"),
            SAME,
            "else of the server <F> ",
        ),
        (_cost_of_before, COSTS, "used the cost 20 for C, but it is 5"),
        (
            set_("hop.sent", where=lambda event: event["connector"] == "SEA-NYC", connector="direct"),
            EXIST,
            "over direct, which was removed or not added yet",
        ),
        (
            again_at_the_end("hop.sent", where=lambda event: event["connector"] == "direct", begun_at=None),
            EXIST,
            "over direct, which was removed or not added yet",
        ),
    ],
)
def test_a_store_that_does_not_follow_a_change_is_noticed(
    tmp_path: Path, trace: Trace, change: Callable[[Trace], None], check: str, says: str
) -> None:
    """RT-6: a store that ran, was stopped, or joined later and does not know a change, one that knows a change too early or one
    that nobody made, one that uses the costs of before, and mail over a connector that is not there."""
    altered = copy.deepcopy(trace)
    change(altered)
    witness = violated(tmp_path, altered).get(check, "")
    assert says in witness
