"""Mails per second from one sender to one listener over the loopback, both in one process and event loop.

The listener's callback does nothing, so only SMTP is measured, and nothing is stored. Sender and listener authenticate and use
XEXCH50, as stores do. With BDAT a mail has a binary body; with DATA, for servers without CHUNKING, the same body in base64.
"""

import asyncio
import time
from typing import Final

from node.codec.signing import LabAuthority, Verifier
from transport.envelope import IncomingHop, IncomingMail, Offers, Priority, SendState, Transmission
from transport.mime.message import BodyForm, MailHeaders, build_mail
from transport.protocol.auth import Credentials
from transport.smtp.listener import SmtpListener
from transport.smtp.sender import SmtpSender

DURABILITY: Final = "nothing is stored"

SMALL_BYTES: Final = 1_000
LARGE_BYTES: Final = 300_000
SMALL_COUNT: Final = 2_000
LARGE_COUNT: Final = 400
IN_FLIGHT: Final = 4
AUTHORITY: Final = LabAuthority(bytes(32))


def figures() -> dict[str, float]:
    """Mails per second with bodies of 1 KB and 300 KB, and MB per second of the latter, with BDAT and with DATA."""
    small = asyncio.run(_mails_per_second(SMALL_BYTES, SMALL_COUNT, chunking=True))
    large = asyncio.run(_mails_per_second(LARGE_BYTES, LARGE_COUNT, chunking=True))
    written = asyncio.run(_mails_per_second(LARGE_BYTES, LARGE_COUNT, chunking=False))
    return {
        "smtp 1 KB mails/s": round(small),
        "smtp 300 KB mails/s": round(large),
        "smtp 300 KB MB/s": round(large * LARGE_BYTES / 1e6),
        "smtp 300 KB by DATA mails/s": round(written),
        "smtp 300 KB by DATA MB/s": round(written * LARGE_BYTES / 1e6),
    }


async def _mails_per_second(size: int, count: int, *, chunking: bool) -> float:
    identity = AUTHORITY.identity("A")
    listener = SmtpListener(
        "B",
        accept=_accept,
        check_recipient=lambda address: None,
        offers=lambda: Offers(chunking=chunking),
        verify_peer=Verifier(identity.authority_key).verify,
    )
    address = await listener.start()
    sender = SmtpSender(credentials=Credentials("A", identity.certificate, identity.sign))
    mail = _transmission(size)
    left = iter(range(count))

    async def work() -> None:
        for _ in left:
            outcome = await sender.send(address, mail, "A")
            assert outcome.state is SendState.DELIVERED and not outcome.ordinary, outcome

    await sender.send(address, mail, "A")
    begun = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    seconds = time.perf_counter() - begun
    await sender.close()
    await listener.stop()
    return count / seconds


def _accept(hop: IncomingHop, mail: IncomingMail) -> None:
    """Accept the mail and discard it."""


def _transmission(size: int) -> Transmission:
    headers = MailHeaders("1@A", "A-IS@contoso.test", ("B-IS@contoso.test",), "Folder Content", 0)
    content = build_mail(headers, BodyForm.S_TNEF, (bytes(range(256)) * (size // 256 + 1))[:size])
    return Transmission(
        queue_id=1,
        next_hop="B",
        connector=None,
        sender="A-IS@contoso.test",
        recipients=("B-IS@contoso.test",),
        content=content,
        message_id="<1@A>",
        subject="Folder Content",
        attempts=0,
        priority=Priority.NORMAL,
        sent_at=0,
        lamport=1,
        system=True,
    )


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:24} {value:>10,}")
