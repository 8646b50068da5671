"""The form in which a mail crosses an X.400 connector, as header fields and a body.

X.400 has its own envelope, addresses and bodies. pflab still carries the mail by SMTP, and writes what X.400 changes:

- Addresses: the originator and the recipients of the envelope are O/R addresses, in the header fields and the syntax that
  RFC 2156 gives them. A store is `/C=US/ADMD= /PRMD=Contoso/O=Exchange/S=A-IS/`. An address of people keeps its SMTP address in
  a domain-defined attribute.
- Body: servers of Exchange exchange MDBEF by X.400, so a replication mail in TNEF or S-TNEF becomes one in MDBEF. Its items and
  its signature stay as they are (ML-2). Other mails keep their body.
- Envelope properties: X.400 has no verb XEXCH50, so the mail crosses without it. The receiving MTA knows a replication mail by
  its header.

Example: A's TNEF mail to C and D crosses SEA-NYC once, as MDBEF, to two O/R addresses. NYC's servers read MDBEF.

# spec: RT-1, ML-4, ML-2
"""

from collections.abc import Sequence
from typing import Final

from transport.errors import CodecError
from transport.mapi.mdbef import encode_mdbef
from transport.mapi.tnef import decode_tnef
from transport.mime.headers import header_size
from transport.mime.message import HEAD_ENDS, BodyForm, encoded_lines, system_body

MAX_PRMD: Final = 16
"""Longest private management domain of an O/R address (ITU-T X.411)."""

MAX_FIELD: Final = 900
"""Longest header field that is written; further recipients are left out of it. A line of SMTP has at most 998 bytes."""

ORIGINATOR: Final = "X400-Originator"
RECIPIENTS: Final = "X400-Recipients"
CONTENT_TYPE: Final = "X400-Content-Type"
"""Fields of RFC 2156."""


def or_address(address: str, organization: str, *, is_store: bool) -> str:
    """Return the O/R address of a mail address, in the syntax of RFC 2156."""
    local = address.partition("@")[0]
    who = f"S={local}" if is_store else f"DD.RFC-822={address.replace('@', '(a)')}"
    return f"/C=US/ADMD= /PRMD={organization[:MAX_PRMD]}/O=Exchange/{who}/"


def as_x400(content: bytes, originator: str, recipients: Sequence[str]) -> bytes:
    """Return a mail as it crosses an X.400 connector, between these O/R addresses."""
    body, form = _as_mdbef(content), b"MDBEF"
    if body is None:
        body, form = content, b"P2"
    named = ", ".join(recipients)
    fields = ((ORIGINATOR, originator), (RECIPIENTS, named), (CONTENT_TYPE, form.decode("ascii")))
    head = [f"{name}: {value[:MAX_FIELD]}".encode("ascii", "replace") for name, value in fields]
    return b"\r\n".join([*head, body])


def _as_mdbef(content: bytes) -> bytes | None:
    """Return a replication mail with its TNEF body as MDBEF, or None for any other mail."""
    size = header_size(content)
    for form in (BodyForm.TNEF, BodyForm.S_TNEF):
        end = HEAD_ENDS[form].encode("ascii")
        if content.endswith(end, 0, size):
            try:
                form_and_body = system_body(content)
                if form_and_body is None:
                    return None
                body = encode_mdbef(decode_tnef(form_and_body[1]))
            except CodecError:
                return None  # the receiving store says what is wrong with it
            head = content[: size - len(end)] + HEAD_ENDS[BodyForm.MDBEF].encode("ascii")
            return b"\r\n".join([head, *encoded_lines(body), b""])
    return None
