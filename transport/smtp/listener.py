"""The SMTP server of a node: it accepts connections within limits, and each connection is a `StoreSession`.

The reply 250 is sent only after the callback has stored the mail (spec: IN-2). The listener refuses unknown recipients,
commands and contents with a lone CR or LF, and everything beyond the limits (spec: ML-7).
"""

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection
from typing import Final, cast

from transport.envelope import IncomingHop, IncomingMail, Offers
from transport.errors import TransportError
from transport.protocol.auth import VerifyPeer
from transport.protocol.fault_points import OnVerb, Verb, VerbFault
from transport.smtp.limits import COMMAND_LINE_LIMIT_BYTES, ListenerLimits, Room
from transport.smtp.session import StoreSession

__all__ = ["COMMAND_LINE_LIMIT_BYTES", "AcceptMail", "CheckRecipient", "ListenerLimits", "SmtpListener"]

AcceptMail = Callable[[IncomingHop, IncomingMail], Awaitable[None] | None]
"""Stores a mail durably, or raises RefusalError. If it must ask another process first, it returns an awaitable."""

CheckRecipient = Callable[[str], None]
"""Raises RefusalError unless this server accepts mail for the address."""


ACCEPT_STEPS: Final = 4
"""Rounds of the event loop in which asyncio makes a connection that it has accepted. Python 3.11 needs two."""

logging.getLogger("mail.log").setLevel(logging.ERROR)  # aiosmtpd's: a line for each wrong command would fill the disk


def check_free(host: str, port: int) -> None:
    """Raise OSError if a port is taken; 0 never is. A store that cannot listen does not open, so its start leaves no event."""
    if port:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)


async def _no_fault(peer: str, verb: Verb) -> VerbFault | None:
    return None


class SmtpListener:
    """An SMTP server with the name `hostname`.

    ===============  ======================================================================================
    accept           stores a mail
    check_recipient  raises RefusalError unless the server accepts mail for an address
    limits           see `transport.smtp.limits`
    offers           called at each EHLO: what the server offers; may raise RefusalError
    verify_peer      returns whether a store belongs to the organization; by default no store does
    tls              the certificates with which the server offers STARTTLS, and takes mail only in TLS
    on_verb          returns the fault that acts at a verb
    link_state       called with a report of a link, from an authenticated store
    check_room       raises RefusalError if there is no room for this many bytes of a stranger
    ===============  ======================================================================================

    The callbacks run in the event loop and must not block for long. An exception that is not a RefusalError is logged, and the
    reply tells the peer to try again.
    """

    def __init__(
        self,
        hostname: str,
        *,
        accept: AcceptMail,
        check_recipient: CheckRecipient,
        limits: ListenerLimits | None = None,
        offers: Callable[[], Offers] = Offers,
        verify_peer: VerifyPeer = lambda *_: False,
        tls: ssl.SSLContext | None = None,
        on_verb: OnVerb | None = None,
        link_state: Callable[[str, str], None] = lambda *_: None,
        check_room: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.hostname = hostname
        self.accept = accept
        self.check_recipient = check_recipient
        self.limits = limits or ListenerLimits()
        self.offers = offers
        self.verify_peer = verify_peer
        self.tls = tls
        self.on_verb = on_verb or _no_fault
        self.link_state = link_state
        self.check_room = check_room
        self.room = Room(self.limits.contents_bytes)
        self.sessions: set[StoreSession] = set()
        self._server: asyncio.Server | None = None
        self.stops = False

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Listen, on a free port if `port` is 0; return host and port. Raises OSError if the port is taken or no file handle is
        free."""
        loop = asyncio.get_running_loop()
        # A connection that finds no place in the backlog seems dropped to its sender, which soon gives up.
        server = await loop.create_server(self._connected, host, port, backlog=self.limits.connections)
        if not server.sockets:  # asyncio takes a socket that cannot be made for an unknown address family, and goes on
            raise OSError(errno.EMFILE, "no socket could be made to listen for mail")
        self._server = server
        return self.address

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port. Raise TransportError if the listener is not started."""
        if self._server is None or not self._server.sockets:
            raise TransportError(f"the SMTP listener of {self.hostname} is not started")
        host, port = self._server.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def open_transactions(self) -> int:
        """Return the number of open mail transactions for which the lab's clock waits."""
        # spec: TM-1
        return sum(1 for session in self.sessions if session.holds_clock)

    def hang_up_on(self, peers: Collection[str]) -> None:
        """Close the connections of these peers, which no longer run. A mail whose content has not ended is not stored."""
        for session in list(self.sessions):
            if session.peer_name in peers and session.transport is not None:
                cast(asyncio.Transport, session.transport).abort()

    async def stop(self) -> None:
        """Stop listening and close all connections. A mail whose content has not ended is not stored."""
        if self._server is None:
            return
        self.stops = True
        loop = asyncio.get_running_loop()
        for server_socket in self._server.sockets:
            loop.remove_reader(server_socket.fileno())
        # asyncio makes an accepted connection in several steps, and loses one that it has not made when the server closes.
        for _ in range(ACCEPT_STEPS):
            await asyncio.sleep(0)
        self._server.close()
        sessions = list(self.sessions)
        for session in sessions:
            session.hang_up()
        await asyncio.gather(*(session.done() for session in sessions))
        await self._server.wait_closed()
        self._server = None

    def _connected(self) -> asyncio.Protocol:
        return cast(asyncio.Protocol, _Door(self))


class _Door(asyncio.Protocol):
    """Accepts a connection, or refuses it because there are too many connections of stores."""

    def __init__(self, listener: SmtpListener) -> None:
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # spec: ML-7
        stream = cast(asyncio.Transport, transport)
        if self._listener.stops:
            stream.abort()
            return
        if not self._find_room(stream):
            name = self._listener.hostname.encode("ascii", "replace")
            stream.write(b"421 %b 4.3.2 too many connections\r\n" % name)
            stream.close()
            return
        session = StoreSession(self._listener)
        stream.set_protocol(cast(asyncio.BaseProtocol, session))
        session.connection_made(stream)

    def _find_room(self, stream: asyncio.Transport) -> bool:
        """Return whether there is room for a connection. If there is none, the stranger who was silent longest loses its
        connection."""
        limits, sessions = self._listener.limits, self._listener.sessions
        if len(sessions) < min(limits.connections, limits.stranger_connections):
            return True
        machine = stream.get_extra_info("peername")[0]
        open_ = [session for session in sessions if not session.closing]
        strangers = [session for session in open_ if session.store is None]
        neighbours = [session for session in strangers if session.address == machine]
        if len(neighbours) >= limits.stranger_connections:
            strangers = neighbours
        elif len(open_) < limits.connections:
            return True
        if strangers:
            min(strangers, key=lambda session: session.heard_s).make_room()
        return bool(strangers)
