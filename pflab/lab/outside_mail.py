"""Ordinary mail that a lab sends to a server as a mail program outside the organization does (`Lab.mail`).

Every driver checks and writes the mail in the same way, so a simulated lab takes the same mails as one with sockets, byte
for byte. As in SMTP, a mail goes to the recipients that the server accepts, and the sender learns which were refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from node.errors import MailRefused, Misuse
from topology.problems import quoted

OUTSIDE_HOST: Final = "mail.outside.test"
"""The host name of the mail program. No server of any organization has it."""

_ADDRESS: Final = re.compile(r"[^\s<>\"\\,:@]+@[^\s<>\"\\,:@]+")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


def check_addresses(sender: str, recipients: Sequence[str]) -> None:
    """Raise Misuse for an address that cannot be sent by SMTP. An empty sender is that of a notice."""
    for address in (*recipients, *filter(None, (sender,))):
        if not (address.isascii() and address.isprintable() and _ADDRESS.fullmatch(address)):
            raise Misuse(f"{quoted(address)} is not a mail address; write an address such as kim@outside.test")


def with_line_ends(content: bytes) -> bytes:
    """Return a mail as SMTP carries it: each line, also the last, ends with CRLF."""
    lines = _LINE_END.sub(b"\r\n", content)
    return lines if lines.endswith(b"\r\n") else lines + b"\r\n"


def check_taken(recipients: Sequence[str], refused: Mapping[str, MailRefused]) -> None:
    """Raise MailRefused, with all reasons, if the server has refused every recipient."""
    if all(address in refused for address in recipients):
        first = next(iter(refused.values()))
        raise MailRefused(first.code, "; ".join(dict.fromkeys(refusal.text for refusal in refused.values())))
