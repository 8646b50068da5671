"""XEXCH50: the properties of a mail that are not in its content, as bytes.

    C: XEXCH50 <size> <n>          after MAIL and RCPT
    S: 354 Send binary data        or 504 Need to authenticate first
    C: <size bytes>
    S: 250 ...

A server that offers X-BLOB-AHEAD lets a sender wait for neither answer, as the literals of IMAP that end in `+` (RFC 7888):

    C: XEXCH50 <size>+ <n>        in one group with MAIL, RCPT and the content
    C: <size bytes>               which the server reads whatever it answers
    S: 250 ...                    or 504 Need to authenticate first

The verb, its sizes and its refusal are those of Exchange [reference/exchange.md 3.1]. The real blob is not public, so pflab
defines its own: two 32-bit little-endian numbers (version 1, length of the message's bag), the message's bag of MAPI
properties, and one bag for each of the `n` recipients. A mail with the message class of replication is a system message. A
mail without the blob is an ordinary mail, whatever its content.

# spec: ML-3
"""

import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from transport.envelope import IncomingHop, Priority
from transport.errors import CodecError
from transport.mapi.properties import Bag, decode_bag, decode_bag_at, encode_bag
from transport.mapi.property_tags import PR_ADDRTYPE, PR_EMAIL_ADDRESS, PR_MESSAGE_CLASS, PR_PRIORITY, PR_RECIPIENT_TYPE
from transport.mapi.system_message import CLASS_REPLICATION
from transport.protocol.hop_headers import MAX_NAME_BYTES, MAX_SENT_AT

BLOB_LIMIT_BYTES: Final = 1024 * 1024
"""Largest blob that is accepted (decision; Exchange allows 1 GB). A thousand recipients need 100 KB."""

GO_AHEAD: Final = "354 Send binary data"

AHEAD: Final = "X-BLOB-AHEAD"
"""The keyword of the reply to EHLO."""

NEED_AUTHENTICATION: Final = "504 Need to authenticate first"
"""The reply to an unauthenticated peer [reference/exchange.md 3.1]."""

CLASS_NOTE: Final = "IPM.Note"

P_SERVER: Final = 0x66F0001F
P_SENT_AT: Final = 0x66F10014
P_LAMPORT: Final = 0x66F20014
"""The hop, as properties of the lab: the sending server, its lab time, and its Lamport number."""

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<II")
_ARGUMENTS: Final = re.compile(r"([0-9]{1,10}) ([0-9]{1,6})")
_AHEAD: Final = re.compile(r"([0-9]{1,10})\+( [0-9]{1,6})")
_RECIPIENT_TO: Final = 1
_PRIORITIES: Final = {int(priority): priority for priority in Priority}


def command(blob: bytes, recipients: int) -> bytes:
    """Return the command line, without its line end."""
    return b"XEXCH50 %d %d" % (len(blob), recipients)


def read_command(argument: str | None) -> tuple[int, int] | None:
    """Return size and number of `XEXCH50 <size> <n>`; None for a malformed command."""
    match = _ARGUMENTS.fullmatch(argument) if argument else None
    return None if match is None else (int(match[1]), int(match[2]))


def command_ahead(blob: bytes, recipients: int) -> bytes:
    """Return the command line and the blob that follows it at once."""
    return b"XEXCH50 %d+ %d\r\n%b" % (len(blob), recipients, blob)


def read_ahead(argument: str) -> tuple[int, str] | None:
    """Return the size of a blob that follows at once, and the argument without its `+`; None for any other argument."""
    match = _AHEAD.fullmatch(argument)
    return None if match is None else (int(match[1]), match[1] + match[2])


def encode(hop: IncomingHop, recipients: Sequence[str]) -> bytes:
    """Return the blob of a mail that `hop.peer` sends."""
    message: Bag = {
        PR_MESSAGE_CLASS: CLASS_REPLICATION if hop.system else CLASS_NOTE,
        PR_PRIORITY: int(hop.priority),
        P_SERVER: hop.peer,
        P_LAMPORT: hop.lamport,
    }
    if hop.sent_at is not None:
        message[P_SENT_AT] = hop.sent_at
    bag = encode_bag(message)
    return b"".join((_HEAD.pack(_VERSION, len(bag)), bag, *map(_recipient, recipients)))


def decode(blob: bytes, recipients: int, store: str, known: Sequence[str] = ()) -> IncomingHop:
    """Return the hop of a blob; `store` is the authenticated peer.

    Raise CodecError for a malformed blob, a wrong number of recipients, or a server name other than `store`. `known` are the
    recipients of RCPT; if the blob has the same recipients, their bags are not decoded.
    """
    if len(blob) < _HEAD.size:
        raise CodecError("the XEXCH50 blob is shorter than its head")
    version, size = _HEAD.unpack_from(blob)
    if version != _VERSION:
        raise CodecError(f"the XEXCH50 blob has version {version}; only version {_VERSION} is read")
    if size > len(blob) - _HEAD.size:
        raise CodecError(f"the XEXCH50 blob announces {size} bytes, but only {len(blob) - _HEAD.size} follow")
    at = _HEAD.size + size
    message = decode_bag(blob[_HEAD.size : at])
    if len(known) != recipients or blob[at:] != b"".join(map(_recipient, known)):
        for _ in range(recipients):
            _, at = decode_bag_at(blob, at, len(blob))
    else:
        at = len(blob)
    if at != len(blob):
        raise CodecError(f"the XEXCH50 blob has more than {recipients} recipients")
    return _hop(message, _named(message, store))


@lru_cache(maxsize=4096)  # the recipients are mostly the same stores
def _recipient(address: str) -> bytes:
    return encode_bag({PR_RECIPIENT_TYPE: _RECIPIENT_TO, PR_ADDRTYPE: "SMTP", PR_EMAIL_ADDRESS: address})


def _named(message: Bag, store: str) -> str:
    if message.get(P_SERVER) != store or len(store) > MAX_NAME_BYTES:
        raise CodecError(f"the XEXCH50 blob names another server than {store}")
    return store


def _hop(message: Bag, peer: str) -> IncomingHop:
    sent_at, lamport, urgency = message.get(P_SENT_AT), message.get(P_LAMPORT), message.get(PR_PRIORITY)
    sound = isinstance(sent_at, int) and 0 <= sent_at <= MAX_SENT_AT
    return IncomingHop(
        peer=peer,
        sent_at=sent_at if sound and isinstance(sent_at, int) else None,
        lamport=lamport if isinstance(lamport, int) and lamport >= 0 else 0,
        priority=_PRIORITIES.get(urgency, Priority.NORMAL) if isinstance(urgency, int) else Priority.NORMAL,
        authenticated=True,
        system=message.get(PR_MESSAGE_CLASS) == CLASS_REPLICATION,
    )
