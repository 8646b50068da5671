"""Notices of non-delivery."""

from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message

import pytest

from traces.labtime import parse_instant
from transport.envelope import OutgoingMail, Priority
from transport.mta.non_delivery import MAX_HEADER_BYTES, notice
from transport.smtp.data import check_lines

START_AT = parse_instant("2003-10-21T00:15:00Z")


def returned(
    subject: str = "Folder Content", header: bytes = b"X-Own: 1\r\n", sender: str = "A-IS@contoso.test"
) -> OutgoingMail:
    content = b"Subject: s\r\n" + header + b"\r\nsecret body\r\n"
    return OutgoingMail("<1@A>", sender, ("b@x.test",), content, Priority.URGENT, subject)


def parts(mail: OutgoingMail) -> list[Message]:
    message = message_from_bytes(mail.content)
    assert message.get_content_type() == "multipart/report"
    assert not message.defects
    payload = message.get_payload()
    assert isinstance(payload, list)
    return payload  # type: ignore[return-value]


def test_a_notice_is_a_report_that_mail_programs_understand() -> None:
    """RT-2: a notice has a text, the status of each recipient, and the header of the returned mail without its body."""
    mail = notice("A", "contoso.test", START_AT, returned(), {"b@x.test": "550 5.1.1 unknown", "c@x.test": "who knows"})
    words, status, header = parts(mail)
    assert "550 5.1.1 unknown" in words.get_payload(decode=True).decode()  # type: ignore[union-attr]
    fields = [block.items() for block in status.get_payload()]  # type: ignore[union-attr]
    assert fields == [
        [("Reporting-MTA", "dns; A")],
        [
            ("Final-Recipient", "rfc822; b@x.test"),
            ("Action", "failed"),
            ("Status", "5.1.1"),
            ("Diagnostic-Code", "smtp; 550 5.1.1 unknown"),
        ],
        [
            ("Final-Recipient", "rfc822; c@x.test"),
            ("Action", "failed"),
            ("Status", "5.0.0"),
            ("Diagnostic-Code", "smtp; who knows"),
        ],
    ]
    assert header.get_content_type() == "text/rfc822-headers" and b"X-Own: 1" in mail.content
    assert b"secret body" not in mail.content


def test_a_notice_has_the_null_sender() -> None:
    """ML-7: the envelope sender is null, and a field tells programs not to answer."""
    mail = notice("A", "contoso.test", START_AT, returned(), {"b@x.test": "no"})
    message = message_from_bytes(mail.content)
    assert (mail.sender, mail.recipients, mail.subject) == ("", ("A-IS@contoso.test",), "Undeliverable: Folder Content")
    assert message["To"] == "<A-IS@contoso.test>" and message["Subject"] == mail.subject
    assert message["Message-ID"] == f"<{mail.message_id}>" and message["Date"] == "Tue, 21 Oct 2003 00:15:00 +0000"
    assert message["Auto-Submitted"] == "auto-replied"
    check_lines(mail.content)


def test_a_notice_comes_from_the_organization_whoever_gets_it() -> None:
    """ML-7: From and Message-ID have the organization's domain, also if the returned mail came from outside."""
    mail = notice("A", "contoso.test", START_AT, returned(sender="kim@elsewhere.test"), {"b@x.test": "no"})
    message = message_from_bytes(mail.content)
    assert message["From"] == "Mail delivery of A <postmaster@contoso.test>"
    assert mail.message_id.endswith("@A.contoso.test") and mail.recipients == ("kim@elsewhere.test",)


def test_a_notice_gets_no_notice() -> None:
    """ML-7: a mail from the null sender raises ValueError."""
    with pytest.raises(ValueError, match="null sender"):
        notice("A", "contoso.test", START_AT, returned(sender=""), {"b@x.test": "no"})


def test_notices_of_different_failures_have_different_message_ids() -> None:
    """The Message-ID depends only on server, time, mail and recipients."""
    ids = [
        notice(server, "contoso.test", at, returned(), {to: "no"}).message_id
        for server in "AB"
        for at in (START_AT, START_AT + 1)
        for to in ("b@x.test", "c@x.test")
    ]
    assert len(set(ids)) == 8
    assert notice("A", "contoso.test", START_AT, returned(), {"b@x.test": "no"}).message_id == ids[0]


def test_foreign_text_cannot_break_the_report() -> None:
    """ML-7: line ends in subjects and answers become spaces, non-ASCII subjects are encoded, every length is bounded."""
    subject = "x\r\nBcc: y@z.test " + "\u00e4\u20ac\U0001f600" * 200
    mail = notice(
        "A",
        "contoso.test",
        START_AT,
        returned(subject),
        {"b@x.test": "no\r\n\r\n--=_x\r\nSubject: z\u00e9" + "y" * 9999},
    )
    message = message_from_bytes(mail.content)
    assert "Bcc" not in message and len(parts(mail)) == 3
    assert str(make_header(decode_header(message["Subject"]))) == mail.subject
    assert mail.subject.startswith("Undeliverable: x Bcc: y@z.test \u00e4\u20ac")
    assert max(map(len, mail.content.split(b"\r\n"))) < 998
    check_lines(mail.content)


def test_a_large_header_is_cut_at_a_line() -> None:
    """A notice repeats a limited part of the header, whole lines only."""
    mail = notice("A", "contoso.test", START_AT, returned(header=b"X: y\r\n" * 10_000), {"b@x.test": "no"})
    assert len(mail.content) < MAX_HEADER_BYTES + 2000
    check_lines(mail.content)
    endless = OutgoingMail("", "a@b", (), b"x" * 100_000, Priority.NORMAL, "")
    assert len(notice("A", "contoso.test", START_AT, endless, {}).content) < 2000
