"""The IMAP listener of one store."""

from __future__ import annotations

import asyncio
import logging
import ssl
from argparse import Namespace
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from proxyprotocol.sock import SocketInfoLocal
from pymap.concurrent import Subsystem
from pymap.config import BackendCapability, IMAPConfig
from pymap.context import connection_exit
from pysasl import SASLAuth
from pysasl.hashing import BuiltinHash

from node.api.access.tokens import Tokens
from node.imap.connection import COMMAND_BYTES, LINE_BYTES, Budget, Connection, LimitExceeded
from node.imap.names import replace_decoder
from node.imap.session import Login, State

if TYPE_CHECKING:
    from node.api.hosts import ServedHost

Address = tuple[str, int]

CONNECTIONS: Final = 64
"""The largest number of connections to one store. A mail program opens up to five. If there are too many, a new connection
replaces the one that has waited longest without log-in."""

WRONG_COMMANDS: Final = 3
"""After this many wrong commands in a row, the connection is closed. The lines of an HTTP request, which a web page can send
here, are such commands."""

log = logging.getLogger("pflab.imap")


class _Config(IMAPConfig):
    """What pymap offers here: no TLS, because the listener is on loopback, and only mechanisms that send the token itself."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Namespace(proxy_protocol=None),
            host=None,
            port=0,
            tls_enabled=False,
            ssl_context=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
            hash_context=BuiltinHash(),
            cpu_subsystem=Subsystem.for_asyncio(),
            max_append_len=COMMAND_BYTES,
            bad_command_limit=WRONG_COMMANDS,
        )
        self._name = name

    @property
    def backend_capability(self) -> BackendCapability:
        return BackendCapability(idle=True, object_id=True, multi_append=False)

    @property
    def tls_auth(self) -> SASLAuth:
        return SASLAuth.named([b"PLAIN"])

    @property
    def greeting(self) -> bytes:
        return f"pflab server {self._name}: public folders".encode()

    @property
    def id_response(self) -> Mapping[bytes, bytes]:
        return {b"name": b"pflab"}


class ImapListener:
    """Serves the folders of one store. Call `start`, then `stop`, once each."""

    def __init__(self, name: str, host: ServedHost, token: str) -> None:
        replace_decoder()
        self._config = _Config(name)
        self._login = Login(host, Tokens(token), self._config)
        self._budget = Budget()
        self._open: dict[asyncio.Task[None], Connection] = {}
        self._server: asyncio.Server | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen (port 0: on a free port) and return the address. Raises OSError if the port is taken."""
        self._server = await asyncio.start_server(self._serve, host, port, limit=LINE_BYTES)
        bound = self._server.sockets[0].getsockname()
        return str(bound[0]), int(bound[1])

    async def stop(self) -> None:
        """Close the listener and all connections."""
        if self._server is None:
            return
        self._server.close()
        for task, connection in self._open.items():
            connection.writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        strangers = (connection for connection in self._open.values() if not connection.logged_in)
        if len(self._open) >= CONNECTIONS and (stranger := next(strangers, None)) is not None:
            stranger.writer.transport.abort()
        elif len(self._open) >= CONNECTIONS:
            writer.write(b"* BYE too many connections to this store\r\n")
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        connection = Connection(self._config, reader, writer, SocketInfoLocal(writer), self._budget)
        self._open[task] = connection
        try:
            await self._converse(connection)
        except (LimitExceeded, ConnectionError):
            pass
        except Exception:
            log.exception("a connection failed; this is a bug")
        finally:
            del self._open[task]
            writer.close()

    async def _converse(self, connection: Connection) -> None:
        async with AsyncExitStack() as stack:
            connection_exit.set(stack)
            await connection.run(State(self._login, self._config))
