"""The forms of mbox files: mails are never cut or merged silently (spec: ML-5)."""

from __future__ import annotations

import re

import pytest

from pflab.errors import LabError
from pflab.workload.mail_files import split_file
from pflab.workload.mail_transfer import export_mbox
from pflab.workload.mbox import mbox_of, split_mbox
from tests.support.clock import START_AT
from tests.support.post_office import PostOffice

ONE = b"From: kim@x.test\nSubject: one\n\nHello\n"
TWO = b"Received: by x.test\nFrom: lee@x.test\nSubject: two\n\nBye\n"
A = b"From kim@x.test Thu Mar  4 10:05:00 1999\n"
B = b"From lee@x.test Fri Mar  5 10:05:00 1999\n"


def measured(mail: bytes) -> bytes:
    """Return a mail with its Content-Length."""
    header, _, body = mail.partition(b"\n\n")
    return b"%s\nContent-Length: %d\n\n%s" % (header, len(body), body)


@pytest.mark.parametrize(
    "separator",
    [
        b"From kim@x.test Thu Mar  4 10:05:00 1999",
        b"From kim@x.test  Thu Mar 4 10:05 1999",
        b"From kim@x.test Thu Mar 04 10:05:00 +0000 1999",
        b"From 1234567890@xxx Thu Mar 04 10:05:00 +0100 1999",
        b"From kim Thu Mar  4 10:05:00 MET DST 1999",
        b"From kim@x.test Thu Mar  4 10:05:00 1999 -0500 (EST)",
        b"From kim@x.test Thu Mar  4 10:05:00 1999 remote from relay",
        b"From kim@x.test Thu, 4 Mar 1999 10:05:00 +0000",
        b"From kim@x.test Thu, 04-Mar-99 10:05:00 GMT",
        b"From kim@x.test 1999-03-04T10:05:00Z",
        b"From kim@x.test 1999-03-04 10:05:00.123 +01:00",
        b"From MAILER-DAEMON Thu Mar  4 10:05:00 1999",
        b"From ???@??? Thu Mar 04 10:05:00 1999",
        b"From - Thu Mar 04 10:05:00 1999",
        b'From "kim lee"@x.test Thu Mar  4 10:05:00 1999',
        b"From " + b"0123456789abcdef" * 2 + b"01234567 Mon Sep 17 00:00:00 2001",
        b"From ",
        b"From -",
    ],
    ids=bytes.decode,
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("space", [True, False], ids=["empty lines", "no empty lines"])
def test_separators_of_many_programs_are_read(separator: bytes, end: bytes, space: bool) -> None:
    """A separator has an address and a date in any usual form, or is Thunderbird's; an empty line may come before it."""
    mails = [each.replace(b"\n", end) for each in (ONE, TWO, ONE)]
    box = b"".join(separator + end + mail + end * space for mail in mails)
    assert list(split_mbox(box)) == mails
    assert list(split_mbox(b"\xef\xbb\xbf" + box)) == mails
    assert list(split_mbox(end + box)) == mails


@pytest.mark.parametrize(
    "line",
    [
        b"From our side, three questions:",
        b"From 10:05 to 11:05 on Thu Mar  4 1999",
        b"From kim@x.test",
        b"From kim@x.test:\nhello",
        b"From now on\n\nSubject: this",
        b"From the log\n Subject: hello\n  Folder: inbox",
        b"From ",
    ],
)
def test_a_line_of_a_text_separates_nothing(line: bytes) -> None:
    """A line that begins with `From ` after an empty line, without address and date, belongs to its mail."""
    mail = ONE + b"\n" + line + b"\n\n* who pays\n"
    assert list(split_mbox(A + mail + b"\n" + B + TWO + b"\n")) == [mail, TWO]


def test_quoted_lines_of_mboxo_and_mboxrd_come_back() -> None:
    """One `>` is removed before each line that a writer quoted."""
    box = A + ONE + b"\n>From here\n>>From there\n > From\n\n" + B + TWO
    assert list(split_mbox(box)) == [ONE + b"\nFrom here\n>From there\n > From\n", TWO]


def test_an_mboxcl_is_read_by_its_lengths() -> None:
    """In an mboxcl, lines are quoted, and Content-Length counts them as they are in the file."""
    mail = measured(ONE + b"\n>From here\n")
    assert list(split_mbox(A + mail + b"\n" + B + measured(TWO) + b"\n")) == [
        mail.replace(b">From", b"From"),
        measured(TWO),
    ]


@pytest.mark.parametrize("space", [b"\n", b""], ids=["empty lines", "no empty lines"])
def test_an_mboxcl2_is_read_by_its_lengths(space: bytes) -> None:
    """In an mboxcl2 no line is quoted: even a separator with a header may be part of a mail."""
    mails = [measured(ONE + b"\n" + B + TWO + b">From here\n"), measured(TWO + b">From there\n")]
    assert list(split_mbox(b"".join(A + each + space for each in mails))) == mails


@pytest.mark.timeout(20)
def test_many_lines_that_look_like_separators_take_linear_time() -> None:
    """The time to read an mbox grows with its size, whatever its lines are: 100,000 lines take a fraction of a second."""
    mail = b"Subject: one\n\n" + b"From a\n" * 100_000
    assert list(split_mbox(A + mail)) == [mail]


@pytest.mark.parametrize("wrong", [0, 3, 1000, 10**11])
def test_a_wrong_length_is_ignored(wrong: int) -> None:
    """A Content-Length that does not lead to a separator or to the end of the file neither cuts nor merges mails."""
    mail = measured(ONE).replace(b"Content-Length: 6", b"Content-Length: %d" % wrong)
    assert list(split_mbox(A + mail + b"\n" + B + TWO + b"\n")) == [mail, TWO]


def test_a_mail_with_a_length_is_read_back_from_our_mbox() -> None:
    """pflab's own mbox gives a mail back to the byte, also if the mail has a Content-Length, whatever it says."""
    for length in range(40):
        mails = [b"Content-Length: %d\n\nFrom here\n>From\n\n" % length, ONE, measured(TWO)]
        assert list(split_mbox(b"".join(mbox_of(("k@x.test", START_AT, each) for each in mails)))) == mails


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        (b"From kim@x.test\n" + ONE, "line 1 "),
        (b"From me to you\n\nHello\n", "the first line"),
        (A.replace(b"\n", b"\r") + ONE.replace(b"\n", b"\r"), "the first line"),
        (A + ONE + b"\nFrom kim@x.test\n" + TWO, "line 7 "),
        (A + ONE + b"\nFrom kim@x.test Donnerstag, 4.3.99\n" + TWO, "line 7 "),
        (A + ONE + b"From kim@x.test\n" + TWO, "line 6 "),
    ],
)
def test_what_cannot_be_read_is_refused(box: bytes, reason: str) -> None:
    """If two mails would become one, the file is refused before its first mail, in one line with the number of the line."""
    with pytest.raises(LabError, match=f"^old.mbox: {re.escape(reason)}") as error:
        next(split_file("old.mbox", box))
    assert "\n" not in str(error.value)


def test_a_mail_with_a_byte_order_mark_is_read_without_it() -> None:
    """The mark that an editor put before a single mail is not part of it."""
    assert [each.content for each in split_file("a.eml", b"\xef\xbb\xbf" + ONE)] == [ONE]


def test_an_exported_mail_names_the_address_of_its_sender() -> None:
    """The separators of an exported mbox have the address in From, Sender or Return-Path; the name is not the address."""
    office = PostOffice()
    node = office["A"]
    headers = [
        b"From: Kim Lee <kim@example.com>\nSender: x@example.com",
        b'From: "old@example.com" <kim@example.com>, lee@example.com',
        b"From: lee@example.com (Lee)",
        b"Sender: Lee <lee@example.com>",
        b"Return-Path: <kim@example.com>\nFrom: nobody",
        b"From: nobody",
    ]
    for header in headers:
        node.post_mail(office.at(1), "Projects", header + b"\nSubject: x\n\nx\n")
    node.post(office.at(1), "Projects", subject="x", sender="Kim")
    box = b"".join(export_mbox(node, "Projects"))
    addresses = [b"kim@example.com", b"kim@example.com", b"lee@example.com", b"lee@example.com", b"kim@example.com"]
    assert re.findall(rb"(?m)^From (\S+) ", box) == [*addresses, b"MAILER-DAEMON", b"Projects@contoso.test"]
