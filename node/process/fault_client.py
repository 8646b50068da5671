"""Fault decisions for a node in a separate process: the node asks the coordinator at each point.

The coordinator tells the node in advance whether any fault is active; while none is, the node does not ask. If the coordinator
has ended or refuses to decide, the mail goes on without a fault, and the log says so once. The node waits for a busy lab,
however long that takes, because the decision must not depend on the speed of the machine.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from http import HTTPStatus

import msgspec
from msgspec.structs import replace

from node.api.control import Peers
from node.api.http_client import Address, HttpLine, Unanswered
from transport.protocol.fault_points import GO, AfterSend, AtVerb, BeforeSend, Decision, FaultPoint

log = logging.getLogger("pflab.faults")


class FaultClient:
    """Asks the coordinator for decisions, and knows the addresses of the other servers."""

    def __init__(self, name: str, token: str | None = None) -> None:
        self._name = name
        self._token = token
        self._addresses: dict[str, Address] = {}
        self._line: HttpLine | None = None
        self._asks = False
        self._keeps = False
        self._verbs = False
        self._answered = True
        self.lost: Callable[[Collection[str]], None] = lambda _: None
        """Called with the servers that have left."""

    def meet(self, peers: Peers) -> None:
        """Replace what is known about the other servers and the coordinator."""
        lost_servers = self._addresses.keys() - peers.addresses.keys()
        self._addresses = {name: (host, port) for name, (host, port) in peers.addresses.items()}
        if lost_servers:
            self.lost(lost_servers)
        self._asks, self._keeps, self._verbs = peers.asks, peers.keeps, peers.verbs
        if peers.coordinator is None:
            self._line = None
        else:
            host, _, port = peers.coordinator.rpartition(":")
            if self._line is None or self._line.address != (host, int(port)):
                self._line = HttpLine((host, int(port)), self._token)

    def address_of(self, server: str) -> Address | None:
        """Return the address at which a server takes mail; None if it does not run."""
        return self._addresses.get(server)

    def close(self) -> None:
        """Close the connection to the coordinator."""
        if self._line is not None:
            self._line.close()

    def decide(self, point: FaultPoint) -> Decision | Awaitable[Decision]:
        """Decide for one point. The content of a mail is sent only if the lab captures mails."""
        if not (self._verbs if isinstance(point, AtVerb) else self._asks):
            return GO
        if isinstance(point, BeforeSend) or (isinstance(point, AfterSend) and not self._keeps):
            point = replace(point, transmission=replace(point.transmission, content=b""))
        return self._ask(point)

    async def _ask(self, point: FaultPoint) -> Decision:
        if self._line is None:
            return GO
        try:
            decision = await self._decided(self._line, point)
        except Unanswered as error:
            if self._answered:
                log.warning("%s: mails go on without faults until the lab answers: %s", self._name, error)
            self._answered = False
            return GO
        self._answered = True
        return decision

    @staticmethod
    async def _decided(line: HttpLine, point: FaultPoint) -> Decision:
        status, answer = await line.ask("POST", "/lab/fault-decision", msgspec.json.encode(point))
        if status != HTTPStatus.OK:
            raise Unanswered(f"the lab answered status {status}")
        return msgspec.json.decode(answer, type=Decision)
