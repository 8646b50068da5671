"""One connection, with limits on everything that a client sends or does not take.

pymap itself limits neither the lengths of lines and literals nor any time, and it writes a whole answer before it waits for the
client. This module uses internal names of pymap: `_untagged` of a response, `_session` of a state.

| limit | when it is exceeded |
|---|---|
| LINE_BYTES; LITERAL_BYTES for each command; ALL_BYTES | BYE, and the connection is closed |
| LOGIN_S, IDLE_S, COMMAND_S, WRITE_S | the same; a client that takes no answer gets none |
"""

from __future__ import annotations

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable
from io import BytesIO
from typing import Final, NoReturn, TypeVar

from proxyprotocol.sock import SocketInfo
from pymap.config import IMAPConfig
from pymap.imap import IMAPConnection
from pymap.imap.state import ConnectionState
from pymap.parsing.command import Command
from pymap.parsing.response import CommandResponse, Response, ResponseBye
from pysasl.creds.server import ServerCredentials
from pysasl.exception import AuthenticationError

T = TypeVar("T")

LINE_BYTES: Final = 64 * 1024
"""The longest line."""

LITERAL_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of a command's literals. An item of 40 MiB in base64 fits, as over HTTP and SMTP."""

LOGIN_BYTES: Final = 8 * 1024
"""The same before log-in."""

ALL_BYTES: Final = 4 * LITERAL_BYTES
"""The most bytes of the literals that one listener receives at the same time."""

LOGIN_S: Final = 60.0
"""Real time in which a client must log in."""

IDLE_S: Final = 30 * 60.0
"""Real time after which a silent client is logged out (RFC 3501, 5.4)."""

COMMAND_S: Final = 300.0
"""Real time for the rest of a command after its first line."""

WRITE_S: Final = 60.0
"""Real time in which a client must take a part of an answer."""

_LITERAL: Final = re.compile(rb"\{([0-9]+)\+\}\r?\n\Z")


class LimitExceeded(ConnectionError):
    """A client exceeded a limit. pymap ends a connection with a ConnectionError without a traceback."""


class Budget:
    """The bytes of literals that the connections of one listener hold."""

    def __init__(self) -> None:
        self.taken = 0


class Connection(IMAPConnection):
    """A connection with limits."""

    def __init__(
        self, config: IMAPConfig, reader: StreamReader, writer: StreamWriter, info: SocketInfo, budget: Budget
    ) -> None:
        super().__init__(config.commands, config, reader, writer, info)
        self._budget = budget
        self._taken = 0
        self._state: ConnectionState | None = None
        self._waits_s = LOGIN_S
        self._login_until_s = 0.0

    async def run(self, state: ConnectionState) -> None:
        self._state = state
        self._login_until_s = asyncio.get_running_loop().time() + LOGIN_S
        try:
            await super().run(state)
        finally:
            self._release()

    async def read_command(self, state: ConnectionState) -> Command:
        self._release()
        self._waits_s = IDLE_S if self._logged_in else self._login_until_s - asyncio.get_running_loop().time()
        command = await super().read_command(state)
        self._waits_s = IDLE_S if self._logged_in else LOGIN_S  # for DONE after IDLE, and for an answer in SASL
        return command

    async def authenticate(self, state: ConnectionState, mech_name: bytes) -> ServerCredentials | None:
        try:
            return await super().authenticate(state, mech_name)
        except UnicodeDecodeError:
            raise AuthenticationError("names and passwords are UTF-8") from None

    async def readline(self) -> memoryview:
        waits_s, self._waits_s = self._waits_s, COMMAND_S
        line = bytearray(await self._in_time(waits_s, self.reader.readline()))
        while literal := _LITERAL.search(line):
            line += await self._literal(int(literal[1][:12]))
            line += await self._in_time(COMMAND_S, self.reader.readline())
        if not line.endswith(b"\n"):
            raise EOFError
        return memoryview(line)

    async def read_continuation(self, literal_length: int) -> memoryview:
        literal = await self._literal(literal_length)
        return memoryview(literal + bytes(await self.readline()))

    async def write_response(self, resp: Response) -> None:
        if isinstance(resp, CommandResponse):
            for part in resp._untagged:
                await self._write(part)
            Response.write(resp, self.writer)
            await self._drained()
        else:
            await self._write(resp)

    @property
    def _logged_in(self) -> bool:
        return self._state is not None and self._state._session is not None

    async def _literal(self, size: int) -> bytes:
        limit = LITERAL_BYTES if self._logged_in else LOGIN_BYTES
        if self._taken + size > limit:
            await self._end(f"a command has at most {limit} bytes")
        if self._budget.taken + size > ALL_BYTES:
            await self._end("too many mails are being received; try again later")
        self._taken += size
        self._budget.taken += size
        return await self._in_time(COMMAND_S, self.reader.readexactly(size))

    def _release(self) -> None:
        self._budget.taken -= self._taken
        self._taken = 0

    async def _in_time(self, limit_s: float, reading: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(limit_s):
                return await reading
        except TimeoutError:
            return await self._end("no complete command has arrived for too long")
        except ValueError:
            return await self._end(f"a line has at most {LINE_BYTES} bytes")

    async def _end(self, why: str) -> NoReturn:
        await self._write(ResponseBye(why.encode("ascii")))
        self.writer.close()  # what pymap writes after this error is dropped
        raise LimitExceeded(why)

    async def _write(self, part: Response) -> None:
        answer = BytesIO()  # pymap writes many small pieces, and asyncio would send each of them alone
        await part.async_write(answer)
        if self.writer.transport.is_closing():
            raise ConnectionResetError
        self.writer.write(answer.getbuffer())
        await self._drained()

    async def _drained(self) -> None:
        try:
            async with asyncio.timeout(WRITE_S):
                await self.writer.drain()
        except TimeoutError:
            self.writer.transport.abort()
            raise LimitExceeded("the client takes no answer") from None
