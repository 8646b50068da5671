"""Words for a hop: how long a mail was on its way."""

from __future__ import annotations

import pytest

from pflab.simulation.simulator import Simulator
from pflab.terms.event_words import Lexicon, way_words
from pflab.terms.event_words import words as words_of
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
    hop = hop_to("B", recipients=("B-IS@x.test",), begun_at=None if way_us is None else HOUR_US - way_us)
    assert way_words(hop) == words


@pytest.mark.parametrize(
    ("recipients", "words"),
    [
        (("B-IS@x.test",), "passes a mail to B"),
        (("B-IS@x.test", "C-IS@x.test"), "passes a mail for B and C to B"),
        (("C-IS@x.test",), "passes a mail for C to B"),
    ],
)
def test_a_recipient_is_named_only_once(recipients: tuple[str, ...], words: str) -> None:
    """A hop names the stores for which the mail is, unless it is only for the server at the end of the hop."""
    assert words_of(hop_to("B", recipients=recipients), Lexicon()) == words


def hop_to(next_hop: str, *, recipients: tuple[str, ...], begun_at: int | None = None) -> HopSent:
    return HopSent(
        run="r",
        node="A",
        incarnation=1,
        seq=1,
        lamport=1,
        at=HOUR_US,
        next_hop=next_hop,
        connector=None,
        recipients=recipients,
        size=1,
        attempt=1,
        queue_id=1,
        begun_at=begun_at,
    )
