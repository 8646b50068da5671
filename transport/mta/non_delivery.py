"""Notices of non-delivery: the mail that a sender receives if its mail expired or was refused.

A notice is a multipart/report (RFC 3462, 3464) from the null sender, so nothing answers it. It repeats the header of the
returned mail, never its body. It depends only on lab time and the mail: the same failure gives the same bytes.

# spec: ML-7, RT-2
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from traces.labtime import LabTime
from transport.envelope import OutgoingMail, Priority
from transport.mime.headers import header_of
from transport.protocol.hop_headers import rfc5322_date

NULL_SENDER: Final = ""
"""The envelope sender `<>`: no notice is sent to it (RFC 5321 4.5.5)."""

MAX_HEADER_BYTES: Final = 8 * 1024
"""How many bytes of the returned mail's header a notice repeats (decision)."""

MAX_REASON_CHARS: Final = 500
"""How many characters of a peer's answer a notice repeats (decision; RFC 5321 4.5.3.1.5 allows a reply line 512 octets)."""

MAX_SUBJECT_CHARS: Final = 200
"""How many characters of the returned mail's subject a notice repeats (decision; header lines stay under 998 octets)."""

STATUS_OTHER: Final = "5.0.0"
"""Enhanced status code if the peer gave none (RFC 3463)."""

_STATUS = re.compile(r"\b[45]\.\d{1,3}\.\d{1,3}\b", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_ENCODED_CHARS: Final = 10
"""Characters in one encoded word: at most 40 octets of UTF-8, which fit in the 75 columns of RFC 2047."""


def notice(server: str, domain: str, at: LabTime, mail: OutgoingMail, failures: Mapping[str, str]) -> OutgoingMail:
    """Return the notice of `server` that `mail` did not reach the addresses in `failures` (address to reason).

    `domain` is the organization's domain. The notice comes from this domain, whoever sent the mail. Raise ValueError for a
    mail from the null sender: no notice answers a notice.
    """
    if mail.sender == NULL_SENDER:
        raise ValueError("a mail from the null sender gets no notice")
    digest = hashlib.sha256("\n".join([server, str(at), mail.message_id, *failures]).encode()).hexdigest()[:24]
    message_id = f"notice.{digest}@{server}.{domain}"
    subject = f"Undeliverable: {_one_line(mail.subject)[:MAX_SUBJECT_CHARS]}"
    boundary = f"=_notice_{digest}"
    lines = [
        f"From: Mail delivery of {_encoded(server)} <postmaster@{domain}>",
        f"To: <{mail.sender}>",
        f"Subject: {_encoded(subject)}",
        f"Date: {rfc5322_date(at)}",
        f"Message-ID: <{message_id}>",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/report; report-type=delivery-status; boundary="{boundary}"',
        "",
        f"--{boundary}",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        f"Your mail did not reach some or all of its recipients; {server} gave up on",
        "",
        *(f"  {address}: {_reason(reason)}" for address, reason in failures.items()),
        "",
        f"--{boundary}",
        "Content-Type: message/delivery-status",
        "",
        f"Reporting-MTA: dns; {_ascii(server)}",
        *_status_lines(failures),
        "",
        f"--{boundary}",
        "Content-Type: text/rfc822-headers",
        "",
    ]
    head = "\r\n".join(lines).encode() + b"\r\n"
    content = head + _bounded_header(mail.content) + f"\r\n--{boundary}--\r\n".encode()
    return OutgoingMail(message_id, NULL_SENDER, (mail.sender,), content, Priority.NORMAL, subject)


def _status_lines(failures: Mapping[str, str]) -> list[str]:
    lines = []
    for address, reason in failures.items():
        status = _STATUS.search(reason)
        lines += [
            "",
            f"Final-Recipient: rfc822; {_ascii(address)}",
            "Action: failed",
            f"Status: {status[0] if status else STATUS_OTHER}",
            f"Diagnostic-Code: smtp; {_ascii(_reason(reason))}",
        ]
    return lines


def _bounded_header(content: bytes) -> bytes:
    header = header_of(content)
    if len(header) <= MAX_HEADER_BYTES:
        return header
    cut = header.rfind(b"\r\n", 0, MAX_HEADER_BYTES)
    return header[: cut + 2] if cut >= 0 else b""


def _reason(text: str) -> str:
    return _one_line(text)[:MAX_REASON_CHARS]


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()


def _ascii(text: str) -> str:
    return _one_line(text).encode("ascii", "replace").decode("ascii")


def _encoded(text: str) -> str:
    """Return a header text as it is, or in encoded words (RFC 2047) if it is not ASCII."""
    if text.isascii():
        return text
    words = (text[i : i + _ENCODED_CHARS].encode() for i in range(0, len(text), _ENCODED_CHARS))
    return "\r\n ".join(f"=?utf-8?b?{b64encode(word).decode('ascii')}?=" for word in words)
