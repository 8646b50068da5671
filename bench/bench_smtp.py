"""Mails a second from one sender to one listener over the loopback, both in one event loop and one process.

The callback of the listener does nothing, so this is the cost of SMTP alone: nothing is stored, nothing is durable.
"""

import asyncio
import base64
import time
from collections.abc import Sequence
from typing import Final

from transport.mta_values import IncomingHop, Priority, SendState, Transmission
from transport.smtp_listener import SmtpListener
from transport.smtp_sender import SmtpSender

DURABILITY: Final = "nothing is stored"

SMALL_BYTES: Final = 1_000
LARGE_BYTES: Final = 300_000
SMALL_COUNT: Final = 2_000
LARGE_COUNT: Final = 400
IN_FLIGHT: Final = 4
LINE_COLUMNS: Final = 996
"""Base64 lines as our mails have them."""


def figures() -> dict[str, float]:
    """Mails a second of 1 KB and of 300 KB, and MB a second of the latter."""
    small = asyncio.run(_mails_per_second(SMALL_BYTES, SMALL_COUNT))
    large = asyncio.run(_mails_per_second(LARGE_BYTES, LARGE_COUNT))
    return {
        "smtp 1 KB mails/s": round(small),
        "smtp 300 KB mails/s": round(large),
        "smtp 300 KB MB/s": round(large * LARGE_BYTES / 1e6),
    }


async def _mails_per_second(size: int, count: int) -> float:
    listener = SmtpListener("B.contoso.test", accept=_accept, check_recipient=lambda address: None)
    address = await listener.start()
    sender = SmtpSender()
    mail = _transmission(size)
    left = iter(range(count))

    async def work() -> None:
        for _ in left:
            outcome = await sender.send(address, mail, "A")
            assert outcome.state is SendState.DELIVERED, outcome

    await sender.send(address, mail, "A")
    begun = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    seconds = time.perf_counter() - begun
    await sender.close()
    await listener.stop()
    return count / seconds


def _accept(hop: IncomingHop, sender: str, recipients: Sequence[str], content: bytes) -> None:
    """Takes the mail and forgets it."""


def _transmission(size: int) -> Transmission:
    encoded = base64.b64encode(bytes(range(256)) * (size // 256 + 1))[:size]
    lines = [encoded[at : at + LINE_COLUMNS] for at in range(0, len(encoded), LINE_COLUMNS)]
    content = b"Subject: Folder Content\r\n\r\n" + b"\r\n".join(lines) + b"\r\n"
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
    )


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:24} {value:>10,}")
