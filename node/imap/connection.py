"""One connection, with limits on everything that a client sends or does not take.

pymap itself limits neither the lengths of commands nor any time, and it writes a whole answer before it waits for the client.
Its parser raises ValueError for some numbers and texts, and RecursionError for deep lists. This module uses internal names of
pymap: `_untagged` of a response, `_session` of a state.

| limit | when it is exceeded |
|---|---|
| LINE_BYTES; COMMAND_BYTES; ANSWER_BYTES for each message; ALL_BYTES | BYE, and the connection is closed |
| LOGIN_S, IDLE_S, COMMAND_S, WRITE_S | the same; a client that takes no answer gets none |
| SEARCH_KEYS; what the parser cannot read | BAD |
"""

from __future__ import annotations

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import closing
from io import BytesIO
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from proxyprotocol.sock import SocketInfo
from pymap.config import IMAPConfig
from pymap.imap import IMAPConnection
from pymap.imap.state import ConnectionState
from pymap.parsing import Params
from pymap.parsing.command import Command
from pymap.parsing.command.select import SearchCommand
from pymap.parsing.commands import InvalidCommand
from pymap.parsing.response import CommandResponse, Response, ResponseBye, ResponseCode, ResponseNo
from pymap.parsing.response.specials import FetchResponse
from pymap.parsing.specials import SearchKey
from pysasl.creds.server import ServerCredentials
from pysasl.exception import AuthenticationError

from node.imap.messages import Undecodable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

T = TypeVar("T")

LINE_BYTES: Final = 64 * 1024
"""The longest line."""

COMMAND_BYTES: Final = 64 * 1024 * 1024
"""The largest number of bytes of a command with its literals. An item of 40 MiB in base64 fits, as over HTTP and SMTP."""

LOGIN_BYTES: Final = 8 * 1024
"""The same limit before log-in, without the first line."""

ANSWER_BYTES: Final = COMMAND_BYTES
"""The largest number of bytes that one command may return about one message. One mail of this size fits."""

ALL_BYTES: Final = 4 * COMMAND_BYTES
"""The largest number of bytes of commands and answers that one listener holds at the same time, without FREE_BYTES of each."""

FREE_BYTES: Final = LINE_BYTES
"""How many bytes of each command and each answer do not count towards ALL_BYTES. So clients with large mails do not stop those
with small ones, and each client hears why a command has failed."""

SEARCH_KEYS: Final = 32
"""The largest number of keys of one SEARCH. Each key may read a whole mail, and the store waits meanwhile."""

LOGIN_S: Final = 60.0
"""Real time within which a client must log in, however many commands it sends."""

IDLE_S: Final = 30 * 60.0
"""Real time after which a silent client is logged out (RFC 3501, 5.4)."""

COMMAND_S: Final = 300.0
"""Real time for the rest of a command after its first line."""

WRITE_S: Final = 60.0
"""Real time in which a client must take a part of an answer."""

_LITERAL: Final = re.compile(rb"\{([0-9]+)\+\}\r?\n\Z")

_UNREADABLE: Final = (ValueError, LookupError, RecursionError)
"""What pymap's parser raises for numbers of thousands of digits, for texts that are not in the charset named, for charsets that
nobody knows, and for deep lists."""


class Unreadable(InvalidCommand):
    """A command that the parser cannot read, or that has too many keys. The client gets BAD."""

    def __init__(self, line: bytes) -> None:
        tag, _, remainder = line.partition(b" ")
        super().__init__(
            Params(tag=tag if tag.isalnum() else b"*"),
            None,
            remainder.split(maxsplit=1)[0].upper() if remainder.strip() else None,
        )

    @property
    def message(self) -> bytes:
        return b"%b: Too long or unreadable arguments." % (self.command_name or b"")


class LimitExceeded(ConnectionError):
    """A client exceeded a limit. pymap ends a connection with a ConnectionError without a traceback."""


class Budget:
    """The bytes of commands and answers that the connections of one listener hold."""

    def __init__(self) -> None:
        self.taken = 0


class _Share:
    """The bytes that one command or one answer holds."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.size = 0

    def take(self, size: int) -> bool:
        """Count more bytes; if there is no room for them, return False and count nothing."""
        counted = max(self.size + size - FREE_BYTES, 0) - max(self.size - FREE_BYTES, 0)
        if self._budget.taken + counted > ALL_BYTES:
            return False
        self._budget.taken += counted
        self.size += size
        return True

    def release(self) -> None:
        self._budget.taken -= max(self.size - FREE_BYTES, 0)
        self.size = 0


class _Answer(BytesIO):
    """An answer in memory. pymap writes many small pieces, and asyncio would send each of them alone."""

    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self._share = _Share(budget)

    def write(self, piece: ReadableBuffer) -> int:
        size = memoryview(piece).nbytes
        if self._share.size + size > ANSWER_BYTES:
            raise LimitExceeded(f"an answer about one message has at most {ANSWER_BYTES} bytes")
        if not self._share.take(size):
            raise LimitExceeded("too many mails are being sent; try again later")
        return super().write(piece)

    def close(self) -> None:
        self._share.release()
        super().close()


class Connection(IMAPConnection):
    """A connection with limits."""

    def __init__(
        self, config: IMAPConfig, reader: StreamReader, writer: StreamWriter, info: SocketInfo, budget: Budget
    ) -> None:
        super().__init__(config.commands, config, reader, writer, info)
        self._budget = budget
        self._held = _Share(budget)
        self._state: ConnectionState | None = None
        self._waits_s = LOGIN_S
        self._login_until_s = 0.0
        self._began = b""
        """The first line of the present command."""

    async def run(self, state: ConnectionState) -> None:
        self._state = state
        self._login_until_s = asyncio.get_running_loop().time() + LOGIN_S
        try:
            await super().run(state)
        finally:
            self._held.release()

    async def read_command(self, state: ConnectionState) -> Command:
        self._held.release()
        await asyncio.sleep(0)  # a client may send many commands at once; let the store work in between
        self._waits_s = self._in_all_s(IDLE_S)
        self._began = b""
        try:
            command = await super().read_command(state)
        except _UNREADABLE:
            return Unreadable(self._began)
        self._waits_s = self._in_all_s(IDLE_S)  # for DONE after IDLE, and for an answer in SASL
        if isinstance(command, SearchCommand) and _count(command.keys) > SEARCH_KEYS:
            return Unreadable(self._began)
        return command

    async def authenticate(self, state: ConnectionState, mech_name: bytes) -> ServerCredentials | None:
        try:
            return await super().authenticate(state, mech_name)
        except UnicodeDecodeError:
            raise AuthenticationError("names and passwords are UTF-8") from None

    async def readline(self) -> memoryview:
        waits_s, self._waits_s = self._waits_s, self._in_all_s(COMMAND_S)
        line = await self._in_time(waits_s, self.reader.readline())
        self._began = self._began or line
        buffer = bytearray(line)
        while literal := _LITERAL.search(line):
            buffer += await self._literal(int(literal[1][:12]))
            line = await self._in_time(self._in_all_s(COMMAND_S), self.reader.readline())
            await self._check(len(line))
            await self._take(len(line))
            buffer += line
        if not line.endswith(b"\n"):
            raise EOFError
        return memoryview(buffer)

    async def read_continuation(self, literal_length: int) -> memoryview:
        literal = await self._literal(literal_length)
        literal += await self.readline()
        return memoryview(literal)

    async def write_response(self, resp: Response) -> None:
        if isinstance(resp, CommandResponse):
            try:
                for part in resp._untagged:
                    await self._write(part)
            except Undecodable as error:
                resp = ResponseNo(resp.tag, str(error).encode("ascii"), ResponseCode.of(b"UNKNOWN-CTE"))
            Response.write(resp, self.writer)
            await self._drained()
        else:
            await self._write(resp)

    @property
    def logged_in(self) -> bool:
        """Whether the client has logged in."""
        return self._state is not None and self._state._session is not None

    def _in_all_s(self, limit_s: float) -> float:
        """Return how long the connection waits: before log-in, no longer than until the client must have logged in."""
        return limit_s if self.logged_in else self._login_until_s - asyncio.get_running_loop().time()

    async def _literal(self, size: int) -> bytearray:
        await self._check(size)
        return await self._in_time(self._in_all_s(COMMAND_S), self._pieces(size))

    async def _pieces(self, size: int) -> bytearray:
        """Read a literal. It is counted as it arrives: a client that only announces mails takes nothing from others."""
        buffer = bytearray()
        while len(buffer) < size:
            piece = await self.reader.read(min(size - len(buffer), LINE_BYTES))
            if not piece:
                raise EOFError
            await self._take(len(piece))
            buffer += piece
        return buffer

    async def _check(self, size: int) -> None:
        """End the connection if the present command would be too long with so many more bytes."""
        limit = COMMAND_BYTES if self.logged_in else LOGIN_BYTES
        if self._held.size + size > limit:
            await self._end(f"a command has at most {limit} bytes")

    async def _take(self, size: int) -> None:
        """Count bytes that the present command takes."""
        if not self._held.take(size):
            await self._end("too many mails are being received; try again later")

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
        with closing(_Answer(self._budget)) as answer:
            try:
                await _compose(part, answer)
            except LimitExceeded as limit:
                await self._end(str(limit))
            if self.writer.transport.is_closing():
                raise ConnectionResetError
            self.writer.write(answer.getvalue())
            await self._drained()

    async def _drained(self) -> None:
        try:
            async with asyncio.timeout(WRITE_S):
                await self.writer.drain()
        except TimeoutError:
            self.writer.transport.abort()
            raise LimitExceeded("the client takes no answer") from None


async def _compose(part: Response, answer: _Answer) -> None:
    """Write one response. Each item of a FETCH may read a whole mail, so the store works in between."""
    if not isinstance(part, FetchResponse) or part.writing_hook is None:
        await part.async_write(answer)
        return
    async with part.writing_hook:
        answer.write(b"* %b (" % part.text)
        for place, item in enumerate(part.data.values()):
            answer.write(b" " if place else b"")
            text = bytes(item)
            if text.startswith(b"BINARY.PEEK["):  # a name only for commands (RFC 3516, 7)
                text = text.replace(b".PEEK", b"", 1)
            answer.write(text)
            await asyncio.sleep(0)
        answer.write(b")\r\n")


def _count(keys: Iterable[object]) -> int:
    """Return how many keys a SEARCH has, with those inside other keys."""
    search_keys = [key for key in keys if isinstance(key, SearchKey)]
    inner = [key.filter for key in search_keys if isinstance(key.filter, Sequence) and not isinstance(key.filter, str)]
    return len(search_keys) + sum(map(_count, inner))
