"""A mail as IMAP shows it: its bytes are never the parser's, and no mail makes the parser fail a connection."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.views import NumberedMessage

specials = pytest.importorskip("pymap.parsing.specials")
messages = pytest.importorskip("node.imap.messages")

PARTS = st.sampled_from(
    [
        *(b"\r\n", b"\n", b"\r", b": ", b";", b",", b"<", b">", b'"', b"(", b"@", b"[", b"\x00", b"\xff", b"x"),
        *(
            b"From: ",
            b"To: ",
            b"Date: ",
            b"Message-ID: ",
            b"Content-Type: ",
            b"Content-Disposition: ",
            b"--b",
            b"--b--",
        ),
        *(b"multipart/mixed; boundary=b", b"message/rfc822", b"=?utf-8?q?=", b"Content-Transfer-Encoding: base64"),
    ]
)


def message() -> Any:
    return messages.Message(None, "Projects", NumberedMessage(1, f"{'0' * 31}a:1", f"{'0' * 31}a:1", 0, 0))


def content(raw: bytes | None) -> Any:
    return messages.Content(specials.FetchRequirement.CONTENT, raw)


@given(st.lists(PARTS, max_size=40).map(b"".join))
def test_any_mail_is_read_to_the_byte(raw: bytes) -> None:
    mail = content(raw)
    assert mail.get_body().tobytes() == raw
    assert mail.get_size() == len(raw)
    assert bytes(mail.get_envelope_structure())
    assert bytes(mail.get_body_structure())


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: only a header\r\n",
        b'To: a: ;"=\r\n\r\nx',
        b"To: a@: mess\x00a,ge/\xff822<\r\n\r\n",
        b"Subject: " + b"x" * 8192 + b"\r\n\r\nx",
        b"To: " + b"=?utf-8?q?a?= " * 16_000 + b"\r\n\r\nx",
        b"To: " + b"a@b," * 60_000 + b"\r\n\r\nx",
        b'Content-Disposition: attachment; a="b";' + b' a="b";' * 30_000 + b"\r\n\r\nx",
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        + (b"--b\r\nContent-Disposition: x" + b"; a=b" * 1000 + b"\r\n\r\nx\r\n") * 300,
        b"Content-Type: message/rfc822\r\n\r\n" * 2000,
    ],
)
def test_mails_at_which_the_parser_fails(raw: bytes) -> None:
    mail = content(raw)
    assert mail.get_body().tobytes() == raw
    assert bytes(mail.get_envelope_structure())
    assert bytes(mail.get_body_structure())
    assert mail.get_header(b"Subject") is not None
    assert not mail.contains(b"no such words")


def test_many_short_fields_are_parsed() -> None:
    """The limit is on long fields: a mail with hundreds of attachments has a structure."""
    part = (
        b"--b\r\nContent-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n"
    )
    raw = b"Subject: many\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + part * 500 + b"--b--\r\n"
    assert bytes(content(raw).get_body_structure().extended).count(b"a.txt") == 1000


@pytest.mark.parametrize(("words", "found"), [(b"NEEDLE", True), (b"needle", True), (b"no needle", False)])
def test_a_text_is_searched_in_any_case(words: bytes, found: bool) -> None:
    """A search of a long text for a long text takes linear time, not the product of both."""
    assert content(b"Subject: x\r\n\r\nthe Needle " + b"a" * 4_000_000).contains(words) is found
    assert not content(b"Subject: x\r\n\r\n" + b"a" * 4_000_000).contains(b"a" * 30_000 + b"b")


def test_a_mail_that_is_gone_is_empty() -> None:
    assert content(None).get_body().tobytes() == b""


def test_flags_are_kept_as_bits() -> None:
    assert [messages.bits_of(messages.flags_of(bits)) for bits in range(32)] == list(range(32))


def test_the_date_is_the_versions_lab_time() -> None:
    assert message().internal_date == datetime(1970, 1, 1, tzinfo=UTC)
