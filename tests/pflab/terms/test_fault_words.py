"""A fault in words, in events as in `pflab fault`."""

from __future__ import annotations

import pytest

from pflab.faults.active_fault import ActiveFault, count_of
from pflab.faults.fault import (
    Alter,
    Blackhole,
    Crash,
    Cut,
    Delay,
    Duplicate,
    Fault,
    Hold,
    Kill,
    Lose,
    Reorder,
    Rewrite,
    Skew,
    Smtp,
    Stall,
    Unstamp,
)
from pflab.terms.fault_words import fault_words
from traces.labtime import parse_instant

AT = parse_instant("2003-10-21T02:00:00Z")

WORDS = {
    "loses content mails from A to B, once": Lose(from_="A", to="B", type="content", count=1),
    "alters all mails": Alter(),
    "rewrites Subject of mails to B": Rewrite(header="Subject", to="B"),
    "delays one mail by 20 min": Delay(mail="1@A"),
    "duplicates mails from A to B, 3 times": Duplicate(link=["A", "B"], count=3),
    "reorders mails on WAN by 1 h": Reorder(connector="WAN", by="1 h", count=None),
    "refuses connections between A and B": Cut(between=["A", "B"]),
    "refuses connections from A to B": Cut(between=["A", "B"], one_way=True),
    "refuses connections on WAN": Cut(connector="WAN"),
    "drops all packets from A to B": Blackhole(between=["A", "B"], one_way=True),
    "drops all packets on WAN": Blackhole(connector="WAN"),
    "holds all mail to B until 2003-10-21T02:00:00Z": Hold(to="B", lasts="1 h"),
    "MAIL ends with 451 on WAN, once": Smtp(verb="mail", does="451", connector="WAN", count=1),
    "RCPT ends with a delay of 5 min": Smtp(verb="RCPT", does="tarpit", by="5 min"),
    "B has no mail address in the directory": Unstamp(server="B"),
    "B was killed": Kill(server="B"),
    "crashes B before commit": Crash(server="B"),
    "B answers nobody until 2003-10-21T02:00:00Z": Stall(server="B", lasts="1 h"),
    "the clock of B is 10 min fast": Skew(server="B", by="10 min"),
    "the clock of B is 1 h slow": Skew(server="B", by="-1 h"),
}


@pytest.mark.parametrize(("words", "fault"), WORDS.items(), ids=list(WORDS))
def test_words(words: str, fault: Fault) -> None:
    """Each kind of fault says what it does, to which mails, where and how often."""
    until_at = None if fault.lasts_us is None else AT
    active = ActiveFault("F1", fault, count_of(fault), until_at)
    assert fault_words(fault.kind, active.details()) == words
