"""The deliveries of a host: mails that are due begin to leave, and how each ends becomes a stimulus of the node.  # spec: ML-3

Which queue rows are in flight is all that is remembered here. A mail whose end is not told stays queued and goes again, which
harms nobody (OUT-9); so deliveries may be ended at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from node.host.delivery_results import Ended, Reports
from node.host.in_flight import Flights, cancelled
from topology.problems import counted
from transport.envelope import SendOutcome, SendState, Transmission
from transport.mime.tamper import altered
from transport.protocol.fault_points import BeforeSend, Decide, Decision

if TYPE_CHECKING:
    from node.store.node import Node
    from traces.labtime import LabTime
    from transport.smtp.sender import Address, SmtpSender


class Deliveries:
    """Carries one node's mails to their next hops, within the bounds of `node.host.in_flight`.

    sender: theirs, closed with them. now: the lab time. up: whether the node takes stimuli. stimulus: does something to
    it, as one stimulus. stumbled: takes the error of a stimulus that nobody waits for. woken: told when a mail has ended.
    Whoever makes stimuli says so by `changed`.
    """

    def __init__(
        self,
        node: Node,
        *,
        sender: SmtpSender,
        decide: Decide,
        address_of: Callable[[str], Address | None],
        now: Callable[[], LabTime],
        up: Callable[[], bool],
        stimulus: Callable[[Callable[[Node], None]], None],
        stumbled: Callable[[Exception], None],
        woken: Callable[[], None],
    ) -> None:
        self._node = node
        self._sender = sender
        self._decide = decide
        self._address_of = address_of
        self._now = now
        self._up = up
        self._stimulus = stimulus
        self._stumbled = stumbled
        self._woken = woken
        self._in_flight = Flights()
        self._reports = Reports(node.name, decide, self._in_flight, conclude=self._conclude, told=woken)
        self._read_out = False
        self.begun = 0
        """How many have left."""

    @property
    def under_way(self) -> bool:
        """Whether any mail is in flight."""
        return bool(self._in_flight)

    def busy(self) -> str:
        """What is still to come of mails that have begun, in words; '' if nothing is."""
        if self._in_flight:
            return f"{counted(len(self._in_flight), 'mail')} on the way out"
        if self._reports.on_their_way:
            return f"{counted(self._reports.on_their_way, 'report')} on the way"
        return ""

    def changed(self) -> None:
        """Something happens to the node: there may be more in its queue."""
        self._read_out = False

    # --- the end

    def forget(self, address: Address) -> None:
        """Drop kept connections to an address that is gone or cut off."""
        self._sender.forget(address)

    def lost(self, servers: Collection[str]) -> None:
        """These servers have gone or fallen silent: what is under way to them is not waited for."""
        for task in self._in_flight.to(servers):
            task.cancel()

    async def drain(self, drain_s: float) -> None:
        """Give what is in flight `drain_s` of real time to get through."""
        if self._in_flight:
            await asyncio.wait(self._in_flight.tasks, timeout=drain_s)
            self._reports.flush()

    async def cancel(self) -> None:
        """Break off what is in flight; what this leaves unreported is sent again, which harms nobody."""
        await cancelled(self._in_flight.tasks)
        self._reports.flush()

    async def close(self) -> None:
        """Give up the connections."""
        await self._sender.close()

    # --- one mail

    def begin_due(self, now: LabTime) -> bool:
        """Begin with due mails that are not in flight; True if there was any."""
        if self._read_out:
            return False
        flights, begun = self._in_flight, False
        room = flights.room
        found = self._node.outgoing(now, room, flights.ids, flights.crowded) if room else []
        # There are no more, so the queue need not be read again before something happens here or the next tick.
        self._read_out = len(found) < room
        for transmission in found:
            if flights.takes(transmission.next_hop):
                self._begin(transmission, now)
                begun = True
        return begun

    def _begin(self, transmission: Transmission, now: LabTime) -> None:
        decision = self._decide(BeforeSend(self._node.name, transmission, now))
        if isinstance(decision, Decision):
            self._begin_as(decision, transmission, now)
        else:
            later = self._begin_later(transmission, now, decision)
            task = asyncio.create_task(later, name=f"decision about mail {transmission.queue_id}")
            self._in_flight.begin(transmission, task)

    async def _begin_later(self, transmission: Transmission, now: LabTime, awaited: Awaitable[Decision]) -> None:
        try:
            decision = await awaited
        finally:
            self._in_flight.end(transmission)
            self._woken()
        if self._up():
            try:
                self._begin_as(decision, transmission, now)
            except Exception as error:
                self._stumbled(error)

    def _begin_as(self, decision: Decision, transmission: Transmission, now: LabTime) -> None:
        hold_until_at = decision.hold_until_at
        if hold_until_at is not None:
            self._stimulus(lambda node: node.hop_held(now, transmission.queue_id, hold_until_at))
            return
        address = transmission.outside or self._address_of(transmission.next_hop)
        if decision.refuse is not None or address is None:
            reason = decision.refuse or f"connection refused: {transmission.next_hop} is not running"
            outcome = SendOutcome(SendState.DEFERRED, reason, unreachable=True)
            self._reports.tell(transmission, outcome)
            self._conclude([(transmission, outcome)])
            return
        self.begun += 1
        delivery = self._deliver(transmission, address, decision)
        task = asyncio.create_task(delivery, name=f"mail {transmission.queue_id} of {self._node.name}")
        self._in_flight.begin(transmission, task)

    async def _deliver(self, transmission: Transmission, address: Address, decision: Decision) -> None:
        outcome = SendOutcome(SendState.DEFERRED, "not sent")
        sent = replace(transmission, content=altered(transmission.content)) if decision.alter else transmission
        try:
            for _ in range(decision.copies):
                outcome = await self._sender.send(address, sent, self._node.name, fresh=decision.fresh)
                if outcome.state is not SendState.DELIVERED:
                    break
        except asyncio.CancelledError:
            if self._up() and self._address_of(transmission.next_hop) is None:
                lost = f"{transmission.next_hop} has fallen silent"
                self._reports.take(transmission, SendOutcome(SendState.DEFERRED, lost))
                return
            self._in_flight.end(transmission)
            self._woken()
            raise
        except BaseException:
            self._in_flight.end(transmission)
            self._woken()
            raise
        self._reports.take(transmission, outcome)

    def _conclude(self, ended: Ended) -> None:
        """What became of mails, in one stimulus."""
        self._woken()
        if not self._up():
            return
        now = self._now()
        try:
            self._stimulus(lambda node: node.hops_concluded(now, [(mail.queue_id, how) for mail, how in ended]))
        except Exception as error:
            self._stumbled(error)  # where there is no room they stay queued and go again (spec: OUT-9)
