"""Real mails: CPython's own test messages if they are installed, and samples of other mails seen in practice."""

from __future__ import annotations

from importlib import resources
from importlib.util import find_spec

import pytest


def cpython_mails() -> dict[str, bytes]:
    """Return the message files of CPython's email tests by name. They come with Python itself, or with Debian's package
    libpython3.x-testsuite; without both, the tests that need them are skipped."""
    if find_spec("test.test_email") is None:
        pytest.skip("no test.test_email in this Python: install its test suite (Debian: libpython3.x-testsuite)")
    data = resources.files("test.test_email") / "data"
    return {file.name: file.read_bytes() for file in sorted(data.iterdir(), key=lambda each: each.name)}


def _mixed(*parts: bytes, head: bytes = b"Subject: parts\r\n", end: bytes = b"--b--\r\n") -> bytes:
    body = b"".join(b"--b\r\n" + part + b"\r\n" for part in parts)
    return head + b'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\npreamble\r\n' + body + end


TEXT = b"Content-Type: text/plain\r\n\r\nhello\r\n"

HAND_MADE: dict[str, bytes] = {
    "empty": b"",
    "no header": b"\r\nonly a body\r\n",
    "no body": b"Subject: all there is",
    "bare line feeds": b"Subject: x\nFrom: a@b.test\n\nline\nline\n",
    "mixed line ends": b"Subject: x\r\nFrom: a@b.test\n\nline\r\nline\nline\rend",
    "nul bytes": b"Subject: a\0b\r\nFrom: \0\r\n\r\nbefore\0after\0",
    "raw 8-bit header": "Subject: Größe €\r\nFrom: Jürgen <j@b.test>\r\n\r\nx\r\n".encode(),
    "raw latin-1 header": "Subject: Größe\r\nFrom: Jürgen <j@b.test>\r\n\r\nx\r\n".encode("latin-1"),
    "unknown charset": b"Subject: =?x-nothing?q?=E4?=\r\nContent-Type: text/plain; charset=x-nothing\r\n\r\n\xe4\xf6\r\n",
    "untrue charset": b"Content-Type: text/plain; charset=utf-8\r\n\r\n\xe4\xf6\r\n",
    "shift_jis": b"Content-Type: text/plain; charset=shift_jis\r\n\r\n" + "日本語".encode("shift_jis"),
    "iso-2022-jp": b"Subject: =?iso-2022-jp?b?GyRCRnxLXDhsGyhC?=\r\n\r\nx",
    "koi8": b"Content-Type: text/plain; charset=koi8-r\r\n\r\n" + "привет".encode("koi8-r"),
    "broken encoded word": b"Subject: =?utf-8?b?!!!?= =?utf-8?q?=ZZ?= =?nope\r\n\r\nx",
    "continued without a field": b" folded first\r\nSubject: x\r\n\r\nx",
    "colonless line": b"Subject: x\r\nthis is no field\r\nFrom: a@b.test\r\n\r\nx",
    "twice the same field": b"Subject: one\r\nSubject: two\r\nMessage-ID: <1@x>\r\nMessage-ID: <2@x>\r\n\r\nx",
    "multipart without boundary": b"Content-Type: multipart/mixed\r\n\r\n--x\r\n\r\nhello\r\n--x--\r\n",
    "boundary never seen": b'Content-Type: multipart/mixed; boundary="b"\r\n\r\nhello\r\n',
    "no last boundary": _mixed(TEXT, TEXT, end=b""),
    "boundary in base64": _mixed(b"Content-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b"),
    "alternative": b'Content-Type: multipart/alternative; boundary="b"\r\n\r\n--b\r\n\r\nplain\r\n--b\r\n'
    b"Content-Type: text/html; charset=utf-8\r\n\r\n<p>html</p>\r\n--b--\r\n",
    "rfc 2231 name": _mixed(
        TEXT,
        b"Content-Type: application/octet-stream\r\nContent-Disposition: attachment;\r\n filename*0*=utf-8''Gr%C3%B6;\r\n"
        b' filename*1="%C3 stays";\r\n filename*2*=%C3%9Fe.bin\r\n\r\ndata',
    ),
    "rfc 2047 name": _mixed(b'Content-Disposition: attachment; filename="=?utf-8?q?Gr=C3=B6=C3=9Fe=2Ebin?="\r\n\r\nx'),
    "broken name": _mixed(b'Content-Disposition: attachment; filename="no end; =\r\n\r\nx'),
    "name with a path": _mixed(b'Content-Disposition: attachment; filename="../../etc/passwd"\r\n\r\nx'),
    "rfc 2231 broken": _mixed(b"Content-Disposition: attachment; filename*=nope''%ZZ%; filename*1*=x; *=y\r\n\r\nx"),
    "nested message": _mixed(TEXT, b"Content-Type: message/rfc822\r\n\r\nSubject: within\r\n\r\nwithin\r\n"),
    "nested message in base64": _mixed(
        b"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\nU3ViamVjdDogeA0KDQp4DQo=\r\n"
    ),
    "digest": b'Content-Type: multipart/digest; boundary="b"\r\n\r\n--b\r\n\r\nSubject: 1\r\n\r\none\r\n--b\r\n\r\n'
    b"Subject: 2\r\n\r\ntwo\r\n--b--\r\n",
    "broken base64": _mixed(b"Content-Transfer-Encoding: base64\r\n\r\nnot really base64!\r\n"),
    "short base64 lines": _mixed(b"Content-Transfer-Encoding: base64\r\n\r\naGVs\r\nbG8g\r\nd29y\r\nbGQ=\r\n"),
    "uneven base64 lines": _mixed(b"Content-Transfer-Encoding: base64\r\n\r\naGVsbG8gd2\r\n9ybGQ=\r\n"),
    "base64 with line feeds": b"Content-Type: application/x\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n",
    "base64 padding missing": _mixed(b"Content-Transfer-Encoding: base64\r\n\r\naGVsbG8\r\n"),
    "quoted-printable": _mixed(
        b"Content-Type: x/y\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=41=ZZ=\r\n=\r\n"
    ),
    "unknown encoding": _mixed(b"Content-Transfer-Encoding: x-rot13\r\n\r\nuryyb\r\n"),
    "8-bit attachment": _mixed(b"Content-Type: application/x\r\n\r\n" + bytes(range(256))),
    "strange type": b'Content-Type: ///;;;=="\r\n\r\nx',
    "text as attachment": _mixed(
        b"Content-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nnot the text\r\n"
    ),
}
