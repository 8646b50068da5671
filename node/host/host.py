"""The host of one node: its SMTP listener, its deliveries, its timer.  # spec: TM-1, ML-3

The host is the part of a running server that touches sockets and waits. It asks its node what is due and does it: a
tick for timers, a delivery for each mail (`node.host.deliveries`). Nothing is remembered here but which queue rows are in
flight; everything else is in the node's database, so a host may be thrown away at any time.

It knows nothing of other nodes but `address_of(server)`. No address, or nobody listening there, is a failed hop like
any other, and the MTA's retry takes over (RT-2).

`busy(at)` and `activity` are what a coordinator needs to tell when a lab is quiet.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from node.errors import CannotWrite, MailRefused, NodeError, NotRunning, described
from node.host.clock import LabClock
from node.host.deliveries import Deliveries
from node.host.in_flight import cancelled
from topology.problems import counted
from traces.labtime import LabTime, format_instant
from transport.envelope import IncomingHop, IncomingMail, RefusalError
from transport.protocol.fault_points import AtArrival, AtVerb, Decide, Verb, VerbFault, decided
from transport.smtp.listener import SmtpListener
from transport.smtp.sender import SmtpSender
from transport.smtp.tls import Tls

if TYPE_CHECKING:
    from node.store.node import Node

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
        decide: Decide,
        idle: Callable[[], None],
        tls: Tls | None = None,
    ) -> None:
        self.name = node.name
        self._node = node
        self._clock = clock
        self._idle = idle
        self._decide = decide
        self._listener = SmtpListener(
            node.name,
            accept=self._accept,
            check_recipient=self._check_recipient,
            check_room=self._check_room,
            offers=node.offers,
            verify_peer=node.verify_peer,
            link_state=lambda peer, line: self._taken(lambda node: node.link_state(clock.now(), peer, [line])),
            tls=tls.server if tls is not None else None,
            on_verb=self._on_verb,
        )
        self._wake = asyncio.Event()
        self._deliveries = Deliveries(
            node,
            sender=SmtpSender(credentials=node.credentials, tls=tls.client if tls is not None else None),
            decide=decide,
            address_of=address_of,
            now=clock.now,
            up=lambda: self._up,
            stimulus=self._stimulus,
            stumbled=self._stumbled,
            woken=self._wake.set,
        )
        self._stimuli = 0
        self._due_at: LabTime | None = None
        self._stale = True
        self._ticked_s = 0.0
        self._held = False
        self._no_room = ""
        self._tired = False
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
        await self._deliveries.drain(drain_s)
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
        self._deliveries.forget(address)

    def lost(self, servers: Collection[str]) -> None:
        """These servers have gone or fallen silent: what is under way to or from them is not waited for."""
        self._deliveries.lost(servers)
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
        self._stimuli += 1
        self._stale = True
        self._deliveries.changed()
        self._wake.set()
        done = fn(self._node)
        self._no_room = ""
        return done

    async def _accept(self, hop: IncomingHop, mail: IncomingMail) -> None:
        """Store a mail that the listener has received; when this returns the mail is durable.  # spec: IN-2"""
        point = AtArrival(self.name, mail.sender, mail.recipients, mail.header.subject)
        lost_by = (await decided(self._decide(point))).lost_by
        self._taken(lambda node: node.mail_in(self._clock.now(), hop, mail, lost_by))

    async def _on_verb(self, peer: str, verb: Verb) -> VerbFault | None:
        return (await decided(self._decide(AtVerb(peer, self.name, verb, self._clock.now())))).at_verb

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

    @property
    def activity(self) -> int:
        """How much has happened here: stimuli, and mails that have begun to leave."""
        return self._stimuli + self._deliveries.begun

    def next_due(self) -> LabTime | None:
        """When the node's next row is due; a mail in flight is a row long due."""
        if self._stale:
            self._due_at = self._node.next_due() if self._up else None
            self._stale = False
        return self._due_at

    def busy(self, at: LabTime) -> str:
        """Why this host is not idle at `at`, in words; '' if it is."""
        if self.failure is not None:
            return f"it failed: {described(self.failure)}"
        if self._no_room:
            return self._no_room
        if leaving := self._deliveries.busy():
            return leaving
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
                    if self._tired:
                        self._tired = False
                        await asyncio.sleep(NO_ROOM_PAUSE_S)
                        continue
                    if self._turn():
                        await asyncio.sleep(0)
                    else:
                        await self._rest()
                except CannotWrite as error:
                    self._stumbled(error)
        except Exception as error:
            self._failed(error)

    def _without_room(self, error: CannotWrite) -> None:
        """Nothing could be written, nothing is lost: what was to be done is still due, and tried again."""
        if str(error) != self._no_room:  # else it has been said
            log.warning("%s", error)
        self._stale = True

    def _stumbled(self, error: Exception) -> None:
        """A stimulus of the host's own ended in an error."""
        if isinstance(error, CannotWrite):
            self._without_room(error)
            self._no_room, self._tired = str(error), True
        else:
            self._failed(error)

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
        if self._send_due(now):
            return True
        if self._deliveries.under_way and asyncio.get_running_loop().time() < self._ticked_s + TICK_WHILE_SENDING_S:
            return False
        self._ticked_s = asyncio.get_running_loop().time()
        self._stimulus(lambda node: node.tick(now))
        if self._deliveries.under_way:
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

    def _send_due(self, now: LabTime) -> bool:
        """Begin with due mails; True if there was any. Then timers are looked after a little later."""
        begun = self._deliveries.begin_due(now)
        if begun:
            self._ticked_s = asyncio.get_running_loop().time()
        return begun

    async def _rest(self) -> None:
        """Wait until something is due or happens."""
        due_at = self.next_due()
        overdue = due_at is not None and due_at <= self._clock.now()
        if overdue:
            pause_s = TICK_WHILE_SENDING_S if self._deliveries.under_way else STUCK_PAUSE_S
            alarm = asyncio.get_running_loop().call_later(pause_s, self._wake.set)
            await self._wake.wait()
            alarm.cancel()
            return
        if not self._deliveries.under_way:
            self._idle()
        # While the clock stands nothing comes due; whoever moves it wakes the pump. No task is needed to wait for it.
        wait_s = None if due_at is None else self._clock.real_seconds_to(due_at)
        timer = None if wait_s is None else asyncio.get_running_loop().call_later(wait_s, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()

    # --- the end

    async def _end_pump(self) -> None:
        if self._pump_task is not None:
            await cancelled([self._pump_task])
            self._pump_task = None

    async def _end_io(self) -> None:
        self._up = False
        await self._deliveries.cancel()
        await self._listener.stop()
        await self._deliveries.close()
