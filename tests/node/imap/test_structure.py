"""ENVELOPE and BODYSTRUCTURE of mails: what RFC 3501 (7.4.2) says about them, and what agrees with the bytes of each part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.real_world_mails import HAND_MADE, cpython_mails

specials = pytest.importorskip("pymap.parsing.specials")
messages = pytest.importorskip("node.imap.messages")
entities = pytest.importorskip("node.imap.entities")

_WORD = re.compile(rb'\s*(?:(\()|(\))|"((?:[^"\\]|\\.)*)"|\{(\d+)\}\r\n|([^\s()"{]+))', re.DOTALL)


def read_list(text: bytes) -> Any:
    """Return an answer of IMAP as lists of bytes, numbers and None, as a client reads it."""
    stack: list[list[Any]] = [[]]
    at = 0
    while at < len(text):
        word = _WORD.match(text, at)
        assert word is not None, text[at : at + 80]
        at = word.end()
        opens, closes, quoted, size, atom = word.groups()
        if opens:
            stack.append([])
        elif closes:
            done = stack.pop()
            stack[-1].append(done)
        elif quoted is not None:
            stack[-1].append(re.sub(rb"\\(.)", rb"\1", quoted))
        elif size is not None:
            stack[-1].append(text[at : at + int(size)])
            at += int(size)
        else:
            stack[-1].append(None if atom == b"NIL" else int(atom) if atom.isdigit() else atom)
    ((only,),) = stack
    return only


def content(mail: bytes) -> Any:
    return messages.Content(specials.FetchRequirement.CONTENT, mail)


def structure(mail: bytes) -> Any:
    return read_list(bytes(content(mail).get_body_structure().extended))


def leaves(found: Sequence[Any], section: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Sequence[Any]]]:
    """Yield section and structure of each part that is no multipart, also inside attached mails."""
    if isinstance(found[0], list):
        parts = [part for part in found if isinstance(part, list)]
        for number, part in enumerate(parts[: _count(found)], start=1):
            yield from leaves(part, (*section, number))
        return
    yield section or (1,), found
    if found[:2] == [b"message", b"rfc822"]:
        yield from leaves(found[8], (section or (1,)) if isinstance(found[8][0], list) else (*(section or (1,)), 1))


def _count(found: Sequence[Any]) -> int:
    return next(place for place, part in enumerate(found) if not isinstance(part, list))


def agrees(mail: bytes) -> None:
    """Assert that octets and lines of each part are those of what BODY[n] returns."""
    read = content(mail)
    for section, part in leaves(structure(mail)):
        body = read.get_body(section).tobytes()
        assert part[6] == len(body), section
        if part[0] == b"text":
            assert part[7] == body.count(b"\n"), section
        if part[:2] == [b"message", b"rfc822"]:
            assert part[9] == body.count(b"\n"), section


ALTERNATIVE = (
    b"From: Kim <kim@contoso.test>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\npreamble\r\n"
    b"--o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n"
    b"--i\r\nContent-Type: text/plain; charset=utf-8; format=flowed\r\nContent-Language: de, en\r\n\r\nHallo\r\nWelt\r\n"
    b"--i\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Hallo=\r\n</p>\r\n"
    b"--i--\r\n"
    b"--o\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-ID: <1@x>\r\nContent-Description: the plan\r\n"
    b"Content-Disposition: attachment;\r\n filename*=utf-8''%C3%BCber.pdf; size=3\r\nContent-Transfer-Encoding: base64\r\n"
    b"Content-MD5: Q2hlY2s=\r\nContent-Location: http://x.test/a.pdf\r\n\r\nAAEC\r\n"
    b"--o--\r\nepilogue\r\n"
)


def test_every_field_of_a_part_is_shown() -> None:
    """Parameters, id, description, encoding, octets, lines, MD5, disposition with its parameters, language and location."""
    assert structure(ALTERNATIVE) == [
        [
            [
                b"text",
                b"plain",
                [b"charset", b"utf-8", b"format", b"flowed"],
                None,
                None,
                b"7bit",
                11,
                1,
                None,
                None,
                [b"de", b"en"],
                None,
            ],
            [b"text", b"html", None, None, None, b"quoted-printable", 15, 1, None, None, None, None],
            b"alternative",
            [b"boundary", b"i"],
            None,
            None,
            None,
        ],
        [
            b"application",
            b"pdf",
            [b"name", b"a.pdf"],
            b"<1@x>",
            b"the plan",
            b"base64",
            4,
            b"Q2hlY2s=",
            [b"attachment", [b"filename*", b"utf-8''%C3%BCber.pdf", b"size", b"3"]],
            None,
            b"http://x.test/a.pdf",
        ],
        b"mixed",
        [b"boundary", b"o"],
        None,
        None,
        None,
    ]
    agrees(ALTERNATIVE)
    assert content(ALTERNATIVE).get_body((1, 1)).tobytes() == b"Hallo\r\nWelt"
    assert content(ALTERNATIVE).get_body((1, 2), binary=True).tobytes() == b"<p>Hallo</p>"
    assert content(ALTERNATIVE).get_body((2,), binary=True).tobytes() == b"\0\1\2"


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (b"--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n", [b"one", b"two"]),
        (b"--b\n\none\n--b\n\ntwo\n--b--\n", [b"one", b"two"]),
        (b"--b\r\n\r\none\r\n\r\n--b--\r\n", [b"one\r\n"]),
        (b"--b\r\n\r\none without an end", [b"one without an end"]),
        (b"--b  \r\n\r\none\r\n--bc\r\nstill one\r\n--b--", [b"one\r\n--bc\r\nstill one"]),
        (b"--b\r\nX: y\r\n--b--\r\n", [b""]),
    ],
)
def test_the_line_end_before_a_boundary_is_no_part_of_a_text(body: bytes, parts: list[bytes]) -> None:
    """RFC 2046, 5.1.1: with CRLF and with LF; an end that is missing is the end of the mail."""
    mail = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + body
    read = content(mail)
    assert [read.get_body((number,)).tobytes() for number in range(1, len(parts) + 1)] == parts
    assert len(structure(mail)[: _count(structure(mail))]) == len(parts)
    agrees(mail)


@pytest.mark.parametrize("field", [b"multipart/mixed; boundary=b", b"multipart/mixed", b'multipart/mixed; boundary=""'])
def test_a_multipart_has_a_part(field: bytes) -> None:
    """RFC 3501 has no multipart without parts, and clients fail at one: what has no boundary is one text."""
    mail = b"Content-Type: " + field + b"\r\n\r\nno boundary\r\n"
    ((*text, _), subtype) = structure(mail)[:2]
    assert (text[:2], subtype) == ([b"text", b"plain"], b"mixed")
    assert content(mail).get_body((1,)).tobytes() == b"no boundary\r\n"
    agrees(mail)


def test_an_attached_mail_has_an_envelope_and_a_structure() -> None:
    """RFC 3501, 6.4.5: the sections of an attached mail are numbered below its part, with HEADER, TEXT and MIME."""
    inner = b"From: Lee <lee@contoso.test>\r\nSubject: inner\r\n\r\ninner text\r\n"
    mail = (
        b"Subject: outer\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nouter text\r\n"
        b"--b\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n" + inner + b"\r\n--b--\r\n"
    )
    _, attached = structure(mail)[:2]
    assert attached[:2] == [b"message", b"rfc822"]
    assert attached[6] == len(inner)
    assert attached[7][1] == b"inner"
    assert attached[7][2] == [[b"Lee", None, b"lee", b"contoso.test"]]
    assert attached[8][:2] == [b"text", b"plain"]
    assert attached[9] == inner.count(b"\n")
    read = content(mail)
    assert read.get_body((2,)).tobytes() == inner
    assert read.get_body((2, 1)).tobytes() == b"inner text\r\n"
    assert read.get_headers((2,)).tobytes().startswith(b"Content-Type: message/rfc822")
    assert read.get_message_headers((2,)).tobytes() == inner[: inner.index(b"inner text")]
    assert read.get_message_headers((2,), [b"SUBJECT"]).tobytes() == b"Subject: inner\r\n\r\n"
    assert read.get_message_headers((2,), [b"SUBJECT"], True).tobytes() == b"From: Lee <lee@contoso.test>\r\n\r\n"
    assert read.get_message_text((2,)).tobytes() == b"inner text\r\n"
    assert read.get_message_text((1,)).tobytes() == b""
    assert read.get_body((7,)).tobytes() == b""
    agrees(mail)


@pytest.mark.parametrize(
    ("field", "addresses"),
    [
        (b"kim@contoso.test", [[None, None, b"kim", b"contoso.test"]]),
        (
            b'"Lee, Kim" <kim@contoso.test>, b@x.test',
            [[b"Lee, Kim", None, b"kim", b"contoso.test"], [None, None, b"b", b"x.test"]],
        ),
        (b"kim@contoso.test (Kim Lee)", [[b"Kim Lee", None, b"kim", b"contoso.test"]]),
        (
            b"team: a@x.test, b@x.test;",
            [
                [None, None, b"team", None],
                [None, None, b"a", b"x.test"],
                [None, None, b"b", b"x.test"],
                [None, None, None, None],
            ],
        ),
        (b"undisclosed-recipients:;", [[None, None, b"undisclosed-recipients", None], [None, None, None, None]]),
        (b"=?utf-8?q?J=C3=BCrgen?= <j@x.test>", [[b"=?utf-8?q?J=C3=BCrgen?=", None, b"j", b"x.test"]]),
        (b"<@a.test,@b.test:kim@contoso.test>", [[None, b"@a.test,@b.test", b"kim", b"contoso.test"]]),
    ],
)
def test_addresses_of_an_envelope(field: bytes, addresses: list[Any]) -> None:
    """Names, comments, groups, routes and encoded words; without Sender and Reply-To, both are those of From."""
    date, _, from_, sender, reply, to, *_ = read_list(
        bytes(
            content(b"Date: Tue, 21 Oct 2003 10:00:00 +0200\r\nFrom: " + field + b"\r\n\r\n").get_envelope_structure()
        )
    )
    assert date == b"Tue, 21 Oct 2003 10:00:00 +0200"
    assert from_ == sender == reply == addresses
    assert to is None


def test_a_name_without_a_host_is_a_mailbox() -> None:
    """RFC 3501, 7.4.2: an address without a host, which is no valid one, keeps its name."""
    *_, to, _, _, _, _ = read_list(bytes(content(b"To: undisclosed\r\n\r\n").get_envelope_structure()))
    assert [address[2] for address in to] == [b"undisclosed"]


def test_a_long_list_of_addresses_takes_linear_time() -> None:
    """Anyone can post a mail with such a field; an envelope of it must not stop the store."""
    assert bytes(content(b"To: " + b"<@a," * 250_000 + b"\r\n\r\n").get_envelope_structure())


def test_the_values_are_those_of_python() -> None:
    """Types, names of files and dispositions of mails that Python's email package composes are those that it reads."""
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"] = "Größe"
    mail.set_content("plain\n")
    mail.add_alternative("<p>html</p>\n", subtype="html")
    mail.add_attachment(b"\0" * 3000, maintype="image", subtype="png", filename="Übersicht €.png")
    mail.add_attachment("text\n" * 100, filename="notes.txt")
    raw = mail.as_bytes()
    agrees(raw)
    read = [part for _, part in leaves(structure(raw))]
    parts = [part for part in message_from_bytes(raw, policy=policy.SMTP).walk() if not part.is_multipart()]
    for shown, part in zip(read, parts, strict=True):
        assert (shown[0] + b"/" + shown[1]).decode() == part.get_content_type()
        disposition = shown[9 if shown[0] == b"text" else 8]
        assert (disposition is None) == (part.get_content_disposition() is None)
        if disposition is not None:
            assert disposition[0].decode() == part.get_content_disposition()


@pytest.mark.parametrize("mails", [lambda: HAND_MADE, cpython_mails], ids=["hand-made", "CPython's"])
def test_mails_of_the_real_world(mails: Callable[[], dict[str, bytes]]) -> None:
    """Each mail has a structure that a client can read, and its sizes are those of its parts."""
    for mail in mails().values():
        agrees(mail)
        assert len(read_list(bytes(content(mail).get_envelope_structure()))) == 10


PIECES = st.sampled_from(
    [
        b"\r\n",
        b"\n",
        b"--b",
        b"--b--",
        b"--c",
        b"x",
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n",
        b"\r\n\r\n",
        b"(",
        b'"',
        b"\\",
        b"Content-Type: message/rfc822\r\n\r\n",
        b"Content-Type: multipart/digest; boundary=c\r\n\r\n",
        b"Content-Disposition: ",
        b"\xff",
        b"\0",
        b"Subject: ",
        b"From: ",
        b"a@b",
        b"<",
        b">",
        b",",
        b";",
        b":",
    ]
)


@given(st.lists(PIECES, max_size=60).map(b"".join))
def test_any_mail_has_a_structure_that_agrees_with_its_parts(mail: bytes) -> None:
    """Whatever is posted: a client can read the answers, and each size is that of its part."""
    agrees(mail)
    assert len(read_list(bytes(content(mail).get_envelope_structure()))) == 10
    read_list(bytes(content(mail).get_body_structure()))
