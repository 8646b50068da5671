"""A mail server of the test that collects what the lab sends to addresses outside the organization."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from aiosmtpd.smtp import Envelope, Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReceivedMail:
    """A mail with its envelope."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes

    @property
    def message(self) -> EmailMessage:
        """The mail as `email` parses it."""
        return message_from_bytes(self.content, policy=default)


@dataclass(slots=True)
class Mailbox:
    """The mails that have arrived, oldest first.

    `address`: host:port, for the setting Smart Host of a server.
    """

    address: str
    mails: list[ReceivedMail] = field(default_factory=list)

    def to(self, recipient: str) -> list[ReceivedMail]:
        """Return the mails to one recipient."""
        return [mail for mail in self.mails if recipient.lower() in (to.lower() for to in mail.recipients)]


@contextmanager
def open_mailbox() -> Iterator[Mailbox]:
    """Run a mail server that accepts every mail, in a thread, on a free port of the loopback interface."""
    from aiosmtpd.smtp import SMTP  # noqa: PLC0415 - only tests with a mailbox need it

    class Collector:
        async def handle_DATA(self, _server: object, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
            content = envelope.original_content or b""
            mailbox.mails.append(ReceivedMail(envelope.mail_from or "", tuple(envelope.rcpt_tos), content))
            return "250 OK"

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="pflab mailbox", daemon=True)
    thread.start()

    def wait_for(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    try:
        opened = loop.create_server(lambda: SMTP(Collector(), hostname="mailbox.test", loop=loop), "127.0.0.1", 0)
        server = wait_for(opened)
        try:
            mailbox = Mailbox("{}:{}".format(*server.sockets[0].getsockname()))
            yield mailbox
        finally:
            wait_for(_end(server))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: asyncio.Server) -> None:
    """Listen no more, and end all sessions. A server is no object for several threads, so its own loop closes it."""
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
