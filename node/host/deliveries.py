"""The deliveries of a host: each due mail is sent, and its outcome becomes a stimulus of the node.  # spec: ML-3

This module remembers only which queue rows are in flight. A mail whose outcome does not reach the node stays queued and is sent
again, which is harmless (OUT-9). So deliveries may be aborted at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from node.host.delivery_results import DeliveryResults, Ended
from node.host.in_flight import MailsInFlight, cancelled
from topology.problems import counted
from transport.envelope import SendOutcome, SendState, Transmission
from transport.mime.tamper import altered
from transport.protocol.fault_points import BeforeSend, Decide, Decision

if TYPE_CHECKING:
    from node.store.node import Node
    from traces.labtime import LabTime
    from transport.smtp.sender import Address, SmtpSender


class Deliveries:
    """Sends one node's mails to their next hops, within the limits of `node.host.in_flight`.

    sender: used only here, and closed by `close`.
    up: whether the node accepts stimuli.
    stimulus: runs one stimulus of the node at the present lab time.
    failed: called with the error of a stimulus that nobody waits for.
    wake: called when a delivery has ended. After each stimulus the host calls `changed`.
    """

    def __init__(
        self,
        node: Node,
        *,
        sender: SmtpSender,
        decide: Decide,
        address_of: Callable[[str], Address | None],
        up: Callable[[], bool],
        stimulus: Callable[[Callable[[Node, LabTime], None]], None],
        failed: Callable[[Exception], None],
        wake: Callable[[], None],
    ) -> None:
        self._node = node
        self._sender = sender
        self._decide = decide
        self._address_of = address_of
        self._up = up
        self._stimulus = stimulus
        self._failed = failed
        self._wake = wake
        self._in_flight = MailsInFlight()
        self._results = DeliveryResults(node.name, decide, self._in_flight, conclude=self._conclude, noted=wake)
        self._queue_read = False
        self.begun = 0
        """How many deliveries have begun."""

    @property
    def under_way(self) -> bool:
        """Whether any mail is in flight."""
        return bool(self._in_flight)

    def busy(self) -> str:
        """Return which deliveries have not ended, in words; '' if all have."""
        if self._in_flight:
            return f"{counted(len(self._in_flight), 'mail')} being sent"
        if self._results.pending:
            return f"{counted(self._results.pending, 'delivery result')} not yet stored"
        return ""

    def changed(self) -> None:
        """Note a stimulus of the node, after which its queue may have more due mails."""
        self._queue_read = False

    # --- the end

    def forget(self, address: Address) -> None:
        """Close the kept connections to the address of a server that has stopped or is cut off."""
        self._sender.forget(address)

    def lost(self, servers: Collection[str]) -> None:
        """Abort the deliveries to servers that have stopped or are silent."""
        for task in self._in_flight.to(servers):
            task.cancel()

    async def drain(self, drain_s: float, outside_s: float) -> None:
        """Wait for mails in flight to servers of the lab until no delivery has ended for `drain_s` of real time. Then wait up
        to `outside_s` for mails to other servers."""
        while tasks := self._in_flight.to_servers:
            done_tasks, _ = await asyncio.wait(tasks, timeout=drain_s, return_when=asyncio.FIRST_COMPLETED)
            if not done_tasks:
                break
        if tasks := self._in_flight.tasks:
            await asyncio.wait(tasks, timeout=outside_s)
        self._results.flush()

    async def cancel(self) -> None:
        """Abort the mails in flight; those without an outcome are sent again, which is harmless."""
        await cancelled(self._in_flight.tasks)
        self._results.flush()

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.close()

    # --- one mail

    def begin_due(self, now: LabTime) -> bool:
        """Begin deliveries of due mails that are not in flight; return True if there was any."""
        if self._queue_read:
            return False
        in_flight, has_begun = self._in_flight, False
        room = in_flight.room
        transmissions = self._node.outgoing(now, room, in_flight.ids, in_flight.crowded) if room else []
        # The queue has no more due mails, so it need not be read again before the next stimulus.
        self._queue_read = len(transmissions) < room
        for transmission in transmissions:
            if in_flight.takes(transmission.next_hop):
                self._begin(transmission, now)
                has_begun = True
        return has_begun

    def _begin(self, transmission: Transmission, now: LabTime) -> None:
        decision = self._decide(BeforeSend(self._node.name, transmission, now))
        if isinstance(decision, Decision):
            self._begin_as(decision, transmission)
        else:
            answer = asyncio.ensure_future(decision)
            self._in_flight.begin(transmission, answer)
            answer.add_done_callback(partial(self._decided, transmission))

    def _decided(self, transmission: Transmission, answer: asyncio.Future[Decision]) -> None:
        self._in_flight.end(transmission)
        self._wake()
        if answer.cancelled() or not self._up():
            return
        try:
            self._begin_as(answer.result(), transmission)
        except Exception as error:
            self._failed(error)

    def _begin_as(self, decision: Decision, transmission: Transmission) -> None:
        if decision.apart:
            self._stimulus(lambda node, now: node.hop_divided(now, transmission.queue_id, decision.apart))
            return
        hold_until_at = decision.hold_until_at
        if hold_until_at is not None:
            self._stimulus(lambda node, now: node.hop_held(now, transmission.queue_id, hold_until_at))
            return
        address = transmission.outside or self._address_of(transmission.next_hop)
        if decision.refuse is not None or address is None:
            reason = decision.refuse or f"connection refused: {transmission.next_hop} is not running"
            outcome = SendOutcome(SendState.DEFERRED, reason, unreachable=True)
            self._results.note(transmission, outcome)
            self._conclude([(transmission, outcome)])
            return
        self.begun += 1
        delivery = self._deliver(transmission, address, decision)
        task = asyncio.create_task(delivery, name=f"mail {transmission.queue_id} of {self._node.name}")
        self._in_flight.begin(transmission, task)
        task.add_done_callback(partial(self._delivered, transmission))

    async def _deliver(self, transmission: Transmission, address: Address, decision: Decision) -> SendOutcome:
        outcome = SendOutcome(SendState.DEFERRED, "not sent")
        mail = transmission
        if decision.alter:
            mail = replace(mail, content=altered(mail.content, decision.alter))
        for _ in range(decision.copies):
            outcome = await self._sender.send(address, mail, self._node.name, fresh=decision.fresh)
            if outcome.state is not SendState.DELIVERED:
                break
        return outcome

    def _delivered(self, transmission: Transmission, task: asyncio.Future[SendOutcome]) -> None:
        # A task can be cancelled before its first step, so the end of a delivery is handled here and not in the task itself.
        if task.cancelled() and self._up() and self._address_of(transmission.next_hop) is None:
            reason = f"{transmission.next_hop} has fallen silent"
            self._results.take(transmission, SendOutcome(SendState.DEFERRED, reason))
        elif task.cancelled():
            self._in_flight.end(transmission)
            self._wake()
        else:
            try:
                outcome = task.result()
            except Exception as error:
                self._in_flight.end(transmission)
                self._failed(error)
            else:
                self._results.take(transmission, outcome)

    def _conclude(self, results: Ended) -> None:
        """Give the node the outcomes of several mails in one stimulus."""
        self._wake()
        if not self._up():
            return
        outcomes = [(mail.queue_id, replace(outcome, begun_at=mail.sent_at)) for mail, outcome in results]
        try:
            self._stimulus(lambda node, now: node.hops_concluded(now, outcomes))
        except Exception as error:
            self._failed(error)  # if nothing can be written, the mails stay queued and are sent again (spec: OUT-9)
