"""The host of one node: its SMTP listener, its deliveries, its timer.  # spec: TM-1, ML-3

The host is the part of a running server that touches sockets and waits. It asks its node what is due and does it: a
tick for timers, a delivery for each mail, within the bounds of `node.flights`. It remembers only which queue rows are in
flight; everything else is in the node's database, so a host may be thrown away at any time.

It knows nothing of other nodes but `address_of(server)`. No address, or nobody listening there, is a failed hop like
any other, and the MTA's retry takes over (RT-2).

`busy(at)` and `activity` are what a coordinator needs to tell when a lab is quiet.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from inspect import isawaitable
from typing import TYPE_CHECKING, TypeVar

from node.errors import CannotWrite, MailRefused, NodeError, NotRunning
from node.flights import Flights, cancelled
from node.gate import Arriving, Gate, SendPlan
from node.labclock import LabClock
from node.reports import Ended, Reports
from topology.problems import counted
from traces.labtime import LabTime, format_instant
from transport.alteration import altered
from transport.mta_values import IncomingHop, RefusalError, SendOutcome, SendState, Transmission
from transport.smtp_listener import SmtpListener
from transport.smtp_sender import SmtpSender
from transport.smtp_tls import Tls

if TYPE_CHECKING:
    from node.core import Node

T = TypeVar("T")

TICK_WHILE_SENDING_S = 0.05
"""A mail in flight is a row that is due, and hides when the next timer is; while there is one, timers are looked
after this often."""

STUCK_PAUSE_S = 0.01
"""How long a host rests when its node has a row due that neither a tick nor a delivery takes away."""

FRUITLESS_TICKS = 100
"""Such ticks in a row after which the node is stuck, and the host has failed."""

NO_ROOM_PAUSE_S = 0.5
"""Real time between two tries to write where nothing can be written at present."""

DRAIN_S = 5.0
"""Real time that an orderly stop gives the mails in flight; what is not through stays queued."""

Address = tuple[str, int]

log = logging.getLogger("pflab.host")


class HostStuck(NodeError):
    """A node has a row due that it never does."""


class Host:
    """Runs one opened node. `start` it, then `stop` or `kill` it, once each.

    clock: this host's own; whoever coordinates sets it by `set_clock`. idle: called when the host has run out of work
    or has failed. `failure` is the error of a stimulus of the host's own (a tick, a mail, a report); the host may
    have ended with it.
    """

    def __init__(
        self,
        node: Node,
        *,
        clock: LabClock,
        address_of: Callable[[str], Address | None],
        gate: Gate,
        idle: Callable[[], None],
        tls: Tls | None = None,
        arriving: Arriving | None = None,
    ) -> None:
        self.name = node.name
        self.activity = 0
        self._node = node
        self._clock = clock
        self._address_of = address_of
        self._gate = gate
        self._idle = idle
        self._arriving = arriving
        self._listener = SmtpListener(
            node.name,
            accept=self._accept if arriving is None else self._accept_later,
            check_recipient=self._check_recipient,
            check_room=self._check_room,
            offers=node.offers,
            verify_peer=node.verify_peer,
            link_state=lambda peer, line: self._taken(lambda node: node.link_state(clock.now(), peer, [line])),
            tls=tls.server if tls is not None else None,
            on_verb=lambda peer, verb: gate.at_verb(peer, node.name, verb, clock.now()),
        )
        self._sender = SmtpSender(credentials=node.credentials, tls=tls.client if tls is not None else None)
        self._wake = asyncio.Event()
        self._in_flight = Flights()
        self._reports = Reports(node.name, gate, self._in_flight, conclude=self._conclude, told=self._wake.set)
        self._due_at: LabTime | None = None
        self._stale = True
        self._read_out = False
        self._ticked_s = 0.0
        self._held = False
        self._no_room = ""
        self._up = False
        self._pump_task: asyncio.Task[None] | None = None
        self._fruitless = 0
        self.failure: Exception | None = None

    # --- life

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen (on a free port when `port` is 0) and begin; returns the address. Raises OSError if it is taken."""
        address = await self._listener.start(host, port)
        self._up = True
        self._pump_task = asyncio.create_task(self._pump(), name=f"pump of {self.name}")
        return address

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        """Take nothing new, give what is in flight `drain_s` to get through, close the node (event node.stopped)."""
        await self._end_pump()
        if self._in_flight:
            await asyncio.wait(self._in_flight.tasks, timeout=drain_s)
            self._reports.flush()
        await self._end_io()
        self._node.close(self._clock.now())
        self._idle()

    async def kill(self) -> None:
        """Die at once: nothing is finished, nothing said; the node is abandoned."""
        self._up = False
        self._node.abandon()
        await self._end_pump()
        await self._end_io()
        self._idle()

    def forget(self, address: Address) -> None:
        """Drop kept connections to an address that is gone or cut off."""
        self._sender.forget(address)

    def lost(self, servers: Collection[str]) -> None:
        """These servers have gone or fallen silent: what is under way to or from them is not waited for."""
        for task in self._in_flight.to(servers):
            task.cancel()
        self._listener.hang_up_on(servers)

    # --- stimuli

    def do(self, fn: Callable[[Node, LabTime], T]) -> T:
        """One stimulus from outside, at the present lab time; what it leaves to be done is begun at once."""
        return self._stimulus(lambda node: fn(node, self._clock.now()))

    def read(self, fn: Callable[[Node], T]) -> T:
        """Look at the node's state."""
        return fn(self._node)

    def _stimulus(self, fn: Callable[[Node], T]) -> T:
        if not self._up:
            raise NotRunning(f"server {self.name} is not running")
        self.activity += 1
        self._stale = True
        self._read_out = False
        self._wake.set()
        return fn(self._node)

    async def _accept_later(self, hop: IncomingHop, sender: str, recipients: Sequence[str], content: bytes) -> None:
        assert self._arriving is not None
        await self._arriving(sender, recipients, content)
        self._accept(hop, sender, recipients, content)

    def _accept(self, hop: IncomingHop, sender: str, recipients: Sequence[str], content: bytes) -> None:
        """A mail has come in whole; when this returns it is durable.  # spec: IN-2"""
        self._taken(lambda node: node.mail_in(self._clock.now(), hop, sender, recipients, content))

    def _taken(self, fn: Callable[[Node], None]) -> None:
        """A stimulus from a peer; RefusalError is for its ears."""
        try:
            self._stimulus(fn)
        except MailRefused as refusal:
            raise RefusalError(refusal.code, refusal.text) from refusal
        except NotRunning as error:
            raise RefusalError(421, "4.3.2 shutting down") from error
        except CannotWrite as error:
            self._without_room(error)
            raise RefusalError(452, "4.3.1 nothing can be written here now, try again later") from error
        except Exception as error:
            self._failed(error)
            raise

    def _check_recipient(self, address: str) -> None:
        try:
            self._node.check_recipient(address)
        except MailRefused as refusal:
            raise RefusalError(refusal.code, refusal.text) from refusal

    def _check_room(self, size: int) -> None:
        try:
            self._node.check_room(size)
        except MailRefused as refusal:
            raise RefusalError(refusal.code, refusal.text) from refusal

    # --- what a coordinator asks

    @property
    def now(self) -> LabTime:
        """The lab time here."""
        return self._clock.now()

    @property
    def rate(self) -> float:
        """Lab seconds per real second; 0 while the clock stands."""
        return self._clock.rate

    @property
    def up(self) -> bool:
        """Whether it takes stimuli."""
        return self._up

    def next_due(self) -> LabTime | None:
        """When the node's next row is due; a mail in flight is a row long due."""
        if self._stale:
            self._due_at = self._node.next_due() if self._up else None
            self._stale = False
        return self._due_at

    def busy(self, at: LabTime) -> str:
        """Why this host is not idle at `at`, in words; '' if it is."""
        if self.failure is not None:
            return f"it failed: {self.failure}"
        if self._no_room:
            return self._no_room
        if self._in_flight:
            return f"{counted(len(self._in_flight), 'mail')} on the way out"
        if self._reports.on_their_way:
            return f"{counted(self._reports.on_their_way, 'report')} on the way"
        if self._listener.open_transactions:
            return f"{counted(self._listener.open_transactions, 'mail')} on the way in"
        due_at = self.next_due()
        if due_at is not None and due_at <= at:
            return f"a row has been due since {format_instant(due_at)}"
        return ""

    async def hold(self) -> LabTime:
        """Stop the clock and begin nothing new until `go`; returns where the clock stands."""
        self._held = True
        self._clock.set_rate(0.0)
        return self._clock.now()

    async def set_clock(self, at: LabTime, rate: float) -> None:
        """Stand at `at`, or run from there at `rate`."""
        self._clock.jump(at)
        self._clock.set_rate(rate)
        self._wake.set()

    async def go(self) -> None:
        """Go on after `hold`."""
        self._held = False
        self._wake.set()

    # --- the pump

    async def _pump(self) -> None:
        """Do what is due, for ever; one turn after the other, then wait for the clock or a stimulus."""
        try:
            while True:
                self._wake.clear()
                try:
                    if self._held:
                        await self._wake.wait()
                        continue
                    more = self._turn()
                    self._no_room = ""
                    if more:
                        await asyncio.sleep(0)
                    else:
                        await self._rest()
                except CannotWrite as error:
                    self._without_room(error)
                    self._no_room = str(error)
                    await asyncio.sleep(NO_ROOM_PAUSE_S)
        except Exception as error:
            self._failed(error)

    def _without_room(self, error: CannotWrite) -> None:
        """Nothing could be written, nothing is lost: what was to be done is still due, and tried again."""
        if str(error) != self._no_room:  # else it has been said
            log.warning("%s", error)
        self._stale = True

    def _failed(self, error: Exception) -> None:
        """Tell whoever waits for this host. The node has rolled the stimulus back."""
        self.failure = self.failure or error
        log.error("server %s failed", self.name, exc_info=error)
        self._idle()

    def _turn(self) -> bool:
        """Do a part of what is due now. False: there is nothing to do before a wake or the clock."""
        now = self._clock.now()
        due_at = self.next_due()
        if due_at is None or due_at > now:
            return False
        if not self._read_out and self._send_due(now):
            return True
        if self._in_flight and asyncio.get_running_loop().time() < self._ticked_s + TICK_WHILE_SENDING_S:
            return False
        self._ticked_s = asyncio.get_running_loop().time()
        self._stimulus(lambda node: node.tick(now))
        if self._in_flight:
            return False
        due_at = self.next_due()
        if due_at is None or due_at > now or self._send_due(now):
            self._fruitless = 0
            return True
        self._fruitless += 1
        if self._fruitless > FRUITLESS_TICKS:
            raise HostStuck(
                f"server {self.name} has a row due since {format_instant(due_at)} that {FRUITLESS_TICKS} ticks"
                " did not take away"
            )
        return False

    async def _rest(self) -> None:
        """Wait until something is due or happens."""
        due_at = self.next_due()
        overdue = due_at is not None and due_at <= self._clock.now()
        if overdue:
            pause_s = TICK_WHILE_SENDING_S if self._in_flight else STUCK_PAUSE_S
            alarm = asyncio.get_running_loop().call_later(pause_s, self._wake.set)
            await self._wake.wait()
            alarm.cancel()
            return
        if not self._in_flight:
            self._idle()
        # While the clock stands nothing comes due; whoever moves it wakes the pump. No task is needed to wait for it.
        wait_s = None if due_at is None else self._clock.real_seconds_to(due_at)
        timer = None if wait_s is None else asyncio.get_running_loop().call_later(wait_s, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()

    # --- deliveries

    def _send_due(self, now: LabTime) -> bool:
        """Begin with due mails that are not in flight; True if there was any."""
        flights, begun = self._in_flight, False
        room = flights.room
        found = self._node.outgoing(now, room, flights.ids, flights.crowded) if room else []
        # There are no more, so the queue need not be read again before something happens here or the next tick.
        self._read_out = len(found) < room
        for transmission in found:
            if flights.takes(transmission.next_hop):
                self._begin(transmission, now)
                begun = True
        if begun:
            self._ticked_s = asyncio.get_running_loop().time()
        return begun

    def _begin(self, transmission: Transmission, now: LabTime) -> None:
        plan = self._gate.before_send(self.name, transmission, now)
        if isawaitable(plan):
            later = self._begin_later(transmission, now, plan)
            task = asyncio.create_task(later, name=f"plan of mail {transmission.queue_id}")
            self._in_flight.begin(transmission, task)
        else:
            self._begin_as(plan, transmission, now)

    async def _begin_later(self, transmission: Transmission, now: LabTime, asked: Awaitable[SendPlan]) -> None:
        try:
            plan = await asked
        finally:
            self._in_flight.end(transmission)
            self._wake.set()
        if self._up:
            try:
                self._begin_as(plan, transmission, now)
            except CannotWrite as error:
                self._without_room(error)  # it stays due, and is asked about again
            except Exception as error:
                self._failed(error)

    def _begin_as(self, plan: SendPlan, transmission: Transmission, now: LabTime) -> None:
        hold_until_at = plan.hold_until_at
        if hold_until_at is not None:
            self._stimulus(lambda node: node.hop_held(now, transmission.queue_id, hold_until_at))
            return
        address = transmission.outside or self._address_of(transmission.next_hop)
        if plan.refuse is not None or address is None:
            reason = plan.refuse or f"connection refused: {transmission.next_hop} is not running"
            outcome = SendOutcome(SendState.DEFERRED, reason, unreachable=True)
            self._reports.tell(transmission, outcome)
            self._conclude([(transmission, outcome)])
            return
        self.activity += 1
        delivery = self._deliver(transmission, address, plan)
        task = asyncio.create_task(delivery, name=f"mail {transmission.queue_id} of {self.name}")
        self._in_flight.begin(transmission, task)

    async def _deliver(self, transmission: Transmission, address: Address, plan: SendPlan) -> None:
        outcome = SendOutcome(SendState.DEFERRED, "not sent")
        sent = replace(transmission, content=altered(transmission.content)) if plan.alter else transmission
        try:
            for _ in range(plan.copies):
                outcome = await self._sender.send(address, sent, self.name, fresh=plan.fresh)
                if outcome.state is not SendState.DELIVERED:
                    break
        except asyncio.CancelledError:
            if self._up and self._address_of(transmission.next_hop) is None:
                lost = f"{transmission.next_hop} has fallen silent"
                self._reports.take(transmission, SendOutcome(SendState.DEFERRED, lost))
                return
            self._in_flight.end(transmission)
            self._wake.set()
            raise
        except BaseException:
            self._in_flight.end(transmission)
            self._wake.set()
            raise
        self._reports.take(transmission, outcome)

    def _conclude(self, ended: Ended) -> None:
        """What became of mails, in one stimulus."""
        self._wake.set()
        if not self._up:
            return
        now = self._clock.now()
        try:
            self._stimulus(lambda node: node.hops_concluded(now, [(mail.queue_id, how) for mail, how in ended]))
        except CannotWrite as error:
            self._without_room(error)  # they stay queued and go again, which harms nobody (spec: OUT-9)
        except Exception as error:
            self._failed(error)

    # --- the end

    async def _end_pump(self) -> None:
        if self._pump_task is not None:
            await cancelled([self._pump_task])
            self._pump_task = None

    async def _end_io(self) -> None:
        self._up = False
        await cancelled(self._in_flight.tasks)
        self._reports.flush()  # what a kill leaves unreported is sent again, which harms nobody
        await self._listener.stop()
        await self._sender.close()
