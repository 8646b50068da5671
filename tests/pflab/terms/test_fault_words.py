"""A fault is told in words, in events as in `pflab fault`."""

from __future__ import annotations

import pytest

from pflab.faults.fault import Fault, FaultKind
from pflab.terms.fault_words import fault_words
from traces.labtime import HOUR_US, MINUTE_US, parse_instant

AT = parse_instant("2003-10-21T02:00:00Z")

TOLD = {
    "loses content mails from A to B, once": Fault("f1", FaultKind.LOSE, from_="A", to="B", type="content", count=1),
    "alters all mails": Fault("f1", FaultKind.ALTER),
    "delays one mail by 20 min": Fault("f1", FaultKind.DELAY, mail="1@A", by_us=20 * MINUTE_US),
    "duplicates mails from A to B, 3 times": Fault("f1", FaultKind.DUPLICATE, link=("A", "B"), count=3),
    "reorders mails on WAN by 1 h": Fault("f1", FaultKind.REORDER, connector="WAN", by_us=HOUR_US),
    "refuses connections between A and B": Fault("f1", FaultKind.CUT, between=("A", "B")),
    "refuses connections from A to B": Fault("f1", FaultKind.CUT, between=("A", "B"), one_way=True),
    "refuses connections on WAN until 2003-10-21T02:00:00Z": Fault("f1", FaultKind.CUT, connector="WAN", until_at=AT),
    "drops all packets from A to B": Fault("f1", FaultKind.BLACKHOLE, between=("A", "B"), one_way=True),
    "drops all packets on WAN": Fault("f1", FaultKind.BLACKHOLE, connector="WAN"),
    "holds all mail to B until 2003-10-21T02:00:00Z": Fault("f1", FaultKind.HOLD, to="B", until_at=AT),
    "holds one mail": Fault("f1", FaultKind.HOLD, mail="1@A"),
    "B has no mail address in the directory": Fault("f1", FaultKind.UNSTAMP, server="B"),
    "B was killed": Fault("f1", FaultKind.KILL, server="B"),
    "crashes B before commit": Fault("f1", FaultKind.CRASH, server="B", point="before commit"),
}


@pytest.mark.parametrize(("told", "fault"), TOLD.items(), ids=list(TOLD))
def test_words(told: str, fault: Fault) -> None:
    """Each kind of fault says what it does, to which mails, where and how often."""
    assert fault_words(fault.kind.value, fault.details()) == told
