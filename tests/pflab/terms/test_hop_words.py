"""Words for a hop: how long a mail was on its way."""

from __future__ import annotations

import pytest

from pflab.simulation.simulator import Simulator
from pflab.terms.event_words import way_words
from tests.support.lab_actions import events_of
from topology.file.load import topology_from_text
from traces.events import HopSent
from traces.labtime import HOUR_US, SECOND_US

SLOW = """
sites: [SEA, NYC]
servers: {A: {site: SEA}, B: {site: NYC}}
connectors: [{name: slow, kind: routing-group, between: [SEA, NYC], cost: 10, bandwidth: 64 kbit/s, latency: 1 s}]
folders: {Projects: }
"""


async def test_a_mail_over_a_slow_line_says_how_long_it_took() -> None:
    """The time on the way is the transfer of its bytes and the latency, not the wait for the end of the hop."""
    async with Simulator(topology_from_text(SLOW)) as lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Pictures", body="x" * 500_000))
        await lab.advance(lab.now + HOUR_US)
        (hop,) = events_of(lab, HopSent, "A")
    assert hop.begun_at is not None
    assert hop.at - hop.begun_at == -(-hop.size * 8 * SECOND_US // 64_000) + SECOND_US
    assert way_words(hop) == f" after {(hop.at - hop.begun_at) // SECOND_US} s"


@pytest.mark.parametrize(("way_us", "words"), [(None, ""), (SECOND_US - 1, ""), (90 * SECOND_US, " after 90 s")])
def test_a_short_way_is_not_mentioned(way_us: int | None, words: str) -> None:
    """Less than a second is no news."""
    hop = HopSent(
        run="r",
        node="A",
        incarnation=1,
        seq=1,
        lamport=1,
        at=HOUR_US,
        next_hop="B",
        connector=None,
        recipients=("B-IS@x.test",),
        size=1,
        attempt=1,
        queue_id=1,
        begun_at=None if way_us is None else HOUR_US - way_us,
    )
    assert way_words(hop) == words
