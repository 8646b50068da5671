"""An outsider's statements about a hop are optional and change nothing that the lab depends on (spec: ML-3, ML-7)."""

import pytest

from tests.support.post_office import PostOffice
from traces.events import HopReceived
from transport.envelope import IncomingHop, Priority
from transport.mime.headers import incoming_mail
from transport.protocol.hop_headers import MAX_LAMPORT, MAX_LEAP

MAIL = b"Subject: from a stranger\r\n\r\nhello\r\n"


def lamport_after(office: PostOffice, lamport: int, *, authenticated: bool) -> int:
    hop = IncomingHop("B", 0, lamport, Priority.URGENT, authenticated=authenticated)
    office["A"].mail_in(office.at(1), hop, incoming_mail("x@evil.test", ("Projects@contoso.test",), MAIL))
    received = [event for event in office.events if isinstance(event, HopReceived)]
    return received[-1].lamport


@pytest.mark.parametrize("lamport", [MAX_LAMPORT, MAX_LEAP * 2])
def test_an_outsider_cannot_use_up_the_lamport_numbers(lamport: int) -> None:
    """An unauthenticated peer's very large Lamport number is ignored, because no event could follow it."""
    assert lamport_after(PostOffice(), lamport, authenticated=False) < MAX_LEAP


def test_the_order_of_events_holds_over_a_hop_without_authentication() -> None:
    """The events of a store that could not authenticate still come before those of its receiver."""
    assert lamport_after(PostOffice(), 5000, authenticated=False) > 5000


def test_a_stores_lamport_number_is_accepted() -> None:
    """A store that has been busy alone for long may be far ahead."""
    assert lamport_after(PostOffice(), MAX_LEAP * 2, authenticated=True) > MAX_LEAP * 2
