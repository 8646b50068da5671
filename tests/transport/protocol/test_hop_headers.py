"""The header lines that hops add."""

from email import message_from_bytes
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.labtime import SECOND_US, parse_instant
from transport.envelope import IncomingHop, Priority
from transport.mime.headers import MAX_HEADER_SIZE, incoming_mail, scan_header
from transport.protocol.hop_headers import MAX_SENT_AT, hop_line, received_line, rfc5322_date, take_hop_line

START_AT = parse_instant("2003-10-21T00:15:00Z")
MAIL = b"Subject: a\r\n\r\nbody\r\n"


def taken(content: bytes) -> tuple[IncomingHop | None, bytes]:
    """Return the hop line of a mail and the mail without it; its header must be as a new scan finds it."""
    hop, mail = take_hop_line(incoming_mail("", (), content))
    assert mail.header == scan_header(mail.content)
    return hop, mail.content


SERVERS = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,13}[A-Za-z0-9]", fullmatch=True)


@given(SERVERS, st.integers(0, MAX_SENT_AT), st.integers(0, 10**15 - 1), st.sampled_from(Priority), st.booleans())
def test_a_hop_line_is_read_as_it_was_written(
    server: str, sent_at: int, lamport: int, priority: Priority, relayed: bool
) -> None:
    """Every value comes back, also below the lines of a mail server in between, and the rest of the mail is unchanged."""
    above = b"Received: from x\r\n\tby y\r\n" if relayed else b""
    hop, mail = taken(above + hop_line(server, sent_at, lamport, priority) + MAIL)
    assert hop == IncomingHop(server, sent_at, lamport, priority)
    assert mail == above + MAIL


def test_a_hop_line_of_a_later_version_is_understood() -> None:
    """Unknown parts of the line are ignored."""
    line = b"X-Pflab-Hop: server=A; sent=5; lamport=6; priority=-1; colour=blue\r\n"
    assert taken(line + MAIL) == (IncomingHop("A", 5, 6, Priority.NOT_URGENT), MAIL)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"X-Pflab-Hop: server=A; sent=5\r\n",
        b"X-Pflab-Hop: server=A; sent=-5; lamport=1\r\n",
        b"X-Pflab-Hop: server=A; sent=%d; lamport=1\r\n" % (MAX_SENT_AT + 1),
        b"X-Pflab-Hop: server=A; sent=1; lamport=%d\r\n" % 10**15,
        b"X-Pflab-Hop: server=" + b"A" * 256 + b"; sent=1; lamport=1\r\n",
        b"X-Pflab-Hop: server=A B; sent=1; lamport=1\r\n",
        b"X-Pflab-Hop: server=A; sent=1; lamport=1; priority=2\xff\r\n",
        b"\r\nX-Pflab-Hop: server=A; sent=1; lamport=1\r\n",
        b"a\r\n\r\nX-Pflab-Hop: server=A; sent=1; lamport=1\r\n",
    ],
)
def test_a_malformed_hop_line_is_ignored(line: bytes) -> None:
    """ML-7: every value is bounded, and nothing is removed from a body."""
    assert taken(line + MAIL) == (None, line + MAIL)


def test_a_hop_line_beyond_the_size_of_a_header_is_ignored() -> None:
    """A mail without an empty line is searched only up to the limit of a header."""
    content = b"x\r\n" * MAX_HEADER_SIZE + hop_line("A", 1, 1)
    assert taken(content) == (None, content)
    assert scan_header(content).size == MAX_HEADER_SIZE


def test_a_received_line_is_a_header_line_that_others_can_read() -> None:
    """ML-7: the email package reads it, with the lab's date."""
    line = received_line("A", "B", START_AT)
    received = message_from_bytes(line + MAIL)["Received"]
    assert received == "from A by B with ESMTP; Tue, 21 Oct 2003 00:15:00 +0000"
    assert len(line) < 998


@pytest.mark.parametrize("peer", ["a\r\nBcc: x", "a b", "\xe9" * 300, "", "a;b", "a\x00b"])
def test_a_peer_cannot_write_header_lines_by_its_name(peer: str) -> None:
    """ML-7: any name of a peer becomes one word of bounded length."""
    line = received_line(peer, "B", START_AT)
    assert line.count(b"\n") == 1 and line.isascii() and len(line) < 998
    assert line.split()[3] == b"by" and line.count(b";") == 1


@pytest.mark.parametrize(
    ("content", "hops"),
    [
        (b"", 0),
        (MAIL, 0),
        (b"Received: a\r\n\tb\r\nRECEIVED:c\r\nX-Received: d\r\nreceived: e\r\n" + MAIL, 3),
        (b"Subject: a\r\n\r\nReceived: a\r\n", 0),
        (b"\r\nReceived: a\r\n", 0),
    ],
)
def test_hops_are_counted_in_the_header_only(content: bytes, hops: int) -> None:
    """ML-7: each Received field is a hop, in upper or lower case; text in a body or in another field is not."""
    assert scan_header(content).hops == hops


@given(at=st.integers(0, MAX_SENT_AT))
def test_dates_are_read_as_they_were_written(at: int) -> None:
    """TM-2: the email package reads the same second, in UTC."""
    read = parsedate_to_datetime(rfc5322_date(at))
    assert int(read.timestamp()) == at // SECOND_US
    assert rfc5322_date(at)[:3] == read.strftime("%a")
