"""A copy of a lab has the future that the lab then really has."""

from __future__ import annotations

from collections import Counter

import pytest

from pflab.faults.fault import Cut, Delay, Lose
from pflab.forecast.fork import present_of
from pflab.lab.served_lab import ServedLab
from pflab.terms.event_words import tag_of
from tests.support.lab_factory import LabFactory
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US


def happened(lab: ServedLab, since: int) -> Counter[tuple[str, str, int]]:
    """Return type, server and second of each event from an index on."""
    return Counter((tag_of(e), e.node, e.at // SECOND_US) for e in lab.events(since))


@pytest.fixture(
    params=[
        "simulated lab",
        pytest.param("live", marks=pytest.mark.live),
        pytest.param("managed", marks=[pytest.mark.live, pytest.mark.long]),
    ]
)
def driver(request: pytest.FixtureRequest) -> str:
    """The drivers of labs with an HTTP server."""
    return str(request.param)


class TestFork:
    async def test_a_fork_has_the_future_of_its_lab(self, make_lab: LabFactory) -> None:
        """A fork does to the second what the lab then does: with faults in force, and with servers that do not run."""
        async with make_lab() as lab:
            assert isinstance(lab, ServedLab)
            await lab.advance(lab.now + 20 * MINUTE_US)
            lab.faults.inject(Lose(from_="A", to="B", type="content", count=1))
            lab.faults.inject(Delay(from_="B", by="3 h", count=2))
            lab.faults.inject(Cut(between=["A", "C"]))
            await lab.do("A", lambda node, now: node.post(now, "Projects", subject="One"))
            await lab.do("B", lambda node, now: node.post(now, "Projects", subject="Two"))
            await lab.advance(lab.now + 16 * MINUTE_US)
            await lab.kill("C")
            since = lab.record.count
            async with (await present_of(lab)).fork() as fork:
                await fork.advance(fork.began_at + 40 * HOUR_US)
                forecast = happened(fork, 0)
            assert lab.record.count == since
            await lab.advance(lab.now + 40 * HOUR_US)
            assert forecast == happened(lab, since)
