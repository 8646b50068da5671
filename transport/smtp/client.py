"""aiosmtplib's client with groups of commands (PIPELINING, RFC 2920): several commands are written at once, and their
replies are read one by one.

aiosmtplib reads one reply for each command and drops further replies that arrive together with it. This client keeps them. It
uses names of aiosmtplib that are not public: `_create_connection`, `_on_connection_lost`, `_command_lock`, `_response_waiter`,
`_response_pending`, `_buffer`, `_read_response_from_buffer`; tests/transport/smtp/test_contract.py checks that the installed
version has them.
"""

import asyncio
import ssl

from aiosmtplib import SMTP, SMTPConnectResponseError, SMTPResponse, SMTPServerDisconnected
from aiosmtplib.protocol import SMTPProtocol

from transport.connecting import connecting
from transport.smtp.data import read_in_small_blocks

READY = 220
SERVICE_CLOSING = 421


class HungUp(SMTPServerDisconnected):
    """The peer closed the connection after `replies` replies to a group."""

    def __init__(self, message: str, replies: int) -> None:
        super().__init__(message)
        self.replies = replies


class GroupProtocol(SMTPProtocol):
    """An SMTP protocol that reads the replies to a group of commands."""

    _in_group = False

    async def exchange(self, data: bytes, replies: int) -> list[SMTPResponse]:
        """Write `data` and return the next `replies` replies. A reply 421 is the last, because the peer then hangs up."""
        if self._command_lock is None:
            raise HungUp("Server not connected", 0)
        answers: list[SMTPResponse] = []
        async with self._command_lock:
            self._in_group = self._response_pending = True
            try:
                self.write(data)
                while len(answers) < replies and (not answers or answers[-1].code != SERVICE_CLOSING):
                    answers.append(await self.read_response(timeout=None))
            except SMTPServerDisconnected as error:
                raise HungUp(str(error), len(answers)) from error
            finally:
                self._in_group = False
                del self._buffer[:]
        return answers

    def data_received(self, data: bytes) -> None:
        if self._in_group and self._response_waiter is not None and self._response_waiter.done():
            self._buffer.extend(data)
        else:
            super().data_received(data)

    async def read_response(self, timeout: float | None = None) -> SMTPResponse:  # noqa: ASYNC109 - aiosmtplib's
        waiter = self._response_waiter
        if self._in_group and self._buffer and waiter is not None and not waiter.done():
            response = self._read_response_from_buffer()
            if response is not None:
                waiter.set_result(response)
        return await super().read_response(timeout=timeout)


class StoreClient(SMTP):
    """A connection to one server.

    connect_s: real time until the connection must be open. The caller sets the other time-outs.
    """

    authenticated = False
    told_links: tuple[str, ...] = ()

    def __init__(self, host: str, port: int, greeting_name: str, connect_s: float) -> None:
        self._address = (host, port)
        self._connect_s = connect_s
        super().__init__(hostname=host, port=port, local_hostname=greeting_name, start_tls=False, timeout=None)

    async def _create_connection(self, timeout: float | None) -> SMTPResponse:  # noqa: ASYNC109 - aiosmtplib's
        del timeout
        loop = asyncio.get_running_loop()
        async with connecting(self._address, self._connect_s):
            transport, protocol = await loop.create_connection(
                lambda: GroupProtocol(loop=loop, connection_lost_callback=self._on_connection_lost),
                *self._address,
            )
        self.protocol, self.transport = protocol, transport
        read_in_small_blocks(transport)
        response = await protocol.read_response(timeout=None)
        if response.code != READY:
            raise SMTPConnectResponseError(response.code, response.message)
        return response

    async def exchange(self, data: bytes, replies: int) -> list[SMTPResponse]:
        """Write `data` and return the next `replies` replies; fewer if one is 421."""
        if not isinstance(self.protocol, GroupProtocol):
            raise HungUp("Server not connected", 0)
        answers = await self.protocol.exchange(data, replies)
        if answers[-1].code == SERVICE_CLOSING:
            self.close()
        return answers

    async def command(self, line: bytes) -> SMTPResponse:
        """Send one command, given without its line end, and return the reply."""
        return (await self.exchange(line + b"\r\n", 1))[0]

    async def secure(self, context: ssl.SSLContext, server_name: str) -> SMTPResponse:
        """Begin TLS and say EHLO again (RFC 3207 4.2). Raise SMTPException or OSError."""
        answer = await self.starttls(server_hostname=server_name, tls_context=context)
        await self.ehlo()
        return answer
