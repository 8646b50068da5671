"""The host of one node: its SMTP listener, its deliveries and its timers.  # spec: TM-1, ML-3

The host is the part of a running server that uses sockets and waits. The node itself never waits: each of its methods is a
*stimulus*, one transaction that commits or is rolled back.

The pump
--------

One task, the pump, decides what the host does next. It is in one of these states:

    ==========  =================================================  ===============================================
    state       meaning                                            it ends when
    ==========  =================================================  ===============================================
    working     a row of the node is due: begin a delivery for     no row is due any more
                each due mail, otherwise give the node a tick
    waiting     no row is due, except rows of mails in flight      the next due time comes, a stimulus arrives, a
                                                                   delivery ends, or the clock is changed
    paused      a coordinator has called `hold`                    it calls `go`
    retrying    nothing could be written (for example a full       NO_ROOM_PAUSE_S have passed
                disk); what was to be done is still due
    failed      a stimulus of the host's own has failed;           never: `failure` is the error
                the node has rolled it back
    ==========  =================================================  ===============================================

An example. A user posts: the stimulus wakes the pump. The pump queries the node's next due time, finds the cycle of the folder
at 00:15, tells the coordinator that the host is idle, and waits until its clock shows 00:15. Then the pump gives the node a
tick, which queues a mail. The pump begins the delivery and waits. When the delivery ends, its outcome is a stimulus, which
deletes the queue row and wakes the pump.

While the clock runs, the pump wakes some real milliseconds late, and at rate 3600 these are many lab seconds. So before each
stimulus the node does what came due earlier, at the time at which it came due (`Node.catch_up`): a cycle that is due at 00:15
has the time 00:15, however late the pump wakes, and does not contain a post of 00:15:02. A stimulus that arrives in the middle
of a long cycle gets the time of the cycle.

What must never happen
----------------------

- State that only the host remembers, except which queue rows are in flight. So a host may be killed at any time.
- An answer 250 of the listener before the node has committed the mail (IN-2).
- A report that the host is idle while a mail is being sent or received, or is due.
- A stimulus at a lab time before which a timer is still due.
- A row that stays due after FRUITLESS_TICKS consecutive ticks with nothing else to do. The host then fails (HostStuck).

The host knows nothing about other nodes except `address_of(server)`. If a server has no address, or nobody listens there, the
hop fails like any other hop, and the MTA retries it (RT-2). A coordinator reads `busy(at)` and `activity` to find out when the
whole lab is quiet.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from node.errors import CannotWrite, MailRefused, NodeError, NotRunning, described
from node.host.clock import LabClock
from node.host.deliveries import Deliveries
from node.host.in_flight import cancelled
from node.host.shared_commits import SharedCommits
from topology.problems import counted
from traces.labtime import LabTime, format_instant
from transport.envelope import IncomingHop, IncomingMail, Offers, RefusalError
from transport.protocol.fault_points import AtArrival, AtVerb, Decide, Verb, VerbFault, decided
from transport.smtp.connections import Connections
from transport.smtp.listener import SmtpListener
from transport.smtp.sender import SmtpSender
from transport.smtp.tls import Tls

if TYPE_CHECKING:
    from node.store.lifecycle import Outcome
    from node.store.node import Node

T = TypeVar("T")

TICK_WHILE_SENDING_S = 0.05
"""Real time between two ticks while a mail is in flight. The mail's queue row stays due, so the node's next due time does not
show when the next timer is due."""

STUCK_PAUSE_S = 0.01
"""Real time that a host waits when its node has a due row that neither a tick nor a delivery removes."""

FRUITLESS_TICKS = 100
"""After this many consecutive ticks that do not remove a due row, the node counts as stuck, and the host fails."""

NO_ROOM_PAUSE_S = 0.5
"""Real time before the next attempt when nothing can be written."""

DRAIN_S = 60.0
"""Real time. A clean stop waits for the mails in flight to servers of the lab until no delivery has ended for this long. It is
long, because a mail that is not confirmed stays queued, and then arrives at another lab time. Only a peer that a signal has
stopped takes so long; mails to a peer that has ended fail at once."""

OUTSIDE_DRAIN_S = 2.5
"""Real time that a clean stop waits for the mails in flight to servers outside the lab, which may be slow or dead."""

_SHUTTING_DOWN = "4.3.2 shutting down"

Address = tuple[str, int]

log = logging.getLogger("pflab.host")


class HostStuck(NodeError):
    """A node has a due row that no tick removes."""


class Host:
    """Runs one opened node. Call `start`, then `stop` or `kill`, once each.

    clock: shows lab time; the coordinator sets it with `set_clock`.
    skew_us: how far the node's own clock is ahead of lab time; see `set_skew`.
    decide: asks for fault decisions.
    idle: called when the host has no more work, or has failed.
    connections: those that the hosts of one process share. `failure` is the error of a stimulus that the host itself began: a
        tick, an incoming mail, or the outcome of a delivery. `work` is the stimulus or query that runs now, if any, and when it
        began on the monotonic clock; other threads may read `work`.
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
        connections: Connections | None = None,
        skew_us: int = 0,
    ) -> None:
        self.name = node.name
        self._node = node
        self._clock = clock
        self._skew_us = skew_us
        self._idle = idle
        self._decide = decide
        self._listener = SmtpListener(
            node.name,
            accept=self._accept,
            check_recipient=self._check_recipient,
            check_room=self._check_room,
            offers=self._offers,
            verify_peer=node.verify_peer,
            link_state=lambda peer, line: self._peer_stimulus(lambda node, now: node.link_state(now, peer, [line])),
            tls=tls.server if tls is not None else None,
            on_verb=self._on_verb,
        )
        self._wake = asyncio.Event()
        self._deliveries = Deliveries(
            node,
            sender=SmtpSender(
                credentials=node.credentials, tls=tls.client if tls is not None else None, connections=connections
            ),
            decide=decide,
            address_of=address_of,
            up=lambda: self._up,
            stimulus=self._stimulus,
            failed=self._own_stimulus_failed,
            wake=self._wake.set,
        )
        self._shared = SharedCommits(self._run_together)
        self._stimuli = 0
        self._due_at: LabTime | None = None
        self._stale = True
        self._ticked_s = 0.0
        self._paused = False
        self._write_error = ""
        self._retry_later = False
        self._up = False
        self._pump_task: asyncio.Task[None] | None = None
        self._fruitless_ticks = 0
        self.failure: Exception | None = None
        self.work: tuple[str, float] | None = None

    # --- life

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Listen (port 0: on a free port) and start the pump; return the address. Raises OSError if the port is taken."""
        address = await self._listener.start(host, port)
        self._up = True
        self._pump_task = asyncio.create_task(self._pump(), name=f"pump of {self.name}")
        return address

    async def stop(self) -> None:
        """Begin nothing new, wait for the mails in flight (DRAIN_S), and close the node (event node.stopped)."""
        await self._end_pump()
        await self._deliveries.drain(DRAIN_S, OUTSIDE_DRAIN_S)
        self._shared.run()
        await self._end_io()
        try:
            self._node.close(self._stimulus_at())
        except CannotWrite as error:  # the node has stopped, as if it had been killed
            log.warning("%s", error)
        self._idle()

    async def kill(self) -> None:
        """Die at once, as a killed process does: finish nothing, write nothing, and abandon the node."""
        self._up = False
        self._node.abandon()
        await self._end_pump()
        await self._end_io()
        self._idle()

    def forget(self, address: Address) -> None:
        """Close the kept connections to the address of a server that has stopped or is cut off."""
        self._deliveries.forget(address)

    def lost(self, servers: Collection[str]) -> None:
        """Abort the mails to and from servers that have stopped or are silent."""
        self._deliveries.lost(servers)
        self._listener.hang_up_on(servers)

    # --- stimuli

    def do(self, fn: Callable[[Node, LabTime], T]) -> T:
        """Run one stimulus from outside at the present lab time, and wake the pump.

        Raises NotRunning if the server does not run.
        """
        return self._stimulus(fn, "request")

    async def share(self, fn: Callable[[Node, LabTime], T], size: int) -> T:
        """Run one stimulus from outside, as `do` does, in a transaction that others which are ready may share.

        fn: may run twice, so it has no effect outside the node.
        size: about how many bytes it adds.
        """
        return await self._shared.add(fn, size)

    def _run_together(self, acts: Sequence[Callable[[Node, LabTime], Any]]) -> Sequence[Outcome]:
        """Run stimuli in one transaction. Raises NotRunning if the server does not run."""
        write_error = self._write_error
        outcomes = self._stimulus(
            lambda node, now: node.together(now, [partial(act, node, now) for act in acts]), "requests and mails"
        )
        if any(isinstance(outcome.error, CannotWrite) for outcome in outcomes):
            self._write_error = write_error
        return outcomes

    def read(self, fn: Callable[[Node], T]) -> T:
        """Read the node's state."""
        with self._working("query"):
            return fn(self._node)

    @contextmanager
    def _working(self, work: str) -> Iterator[None]:
        self.work = (work, time.monotonic())
        try:
            yield
        finally:
            self.work = None

    def _stimulus(self, fn: Callable[[Node, LabTime], T], work: str = "deliveries") -> T:
        if not self._up:
            raise NotRunning(f"server {self.name} is not running")
        self._stimuli += 1
        self._stale = True
        self._deliveries.changed()
        self._wake.set()
        with self._working(work):
            result = fn(self._node, self._stimulus_at())
        self._write_error = ""
        return result

    def _stimulus_at(self) -> LabTime:
        """Return what the node's clock shows for a stimulus that begins now. While the clock runs, the node first does what
        came due before.

        Timers fire a little late in real time, and a request may arrive before the pump wakes.  # spec: TM-1, OUT-1, ST-1
        """
        now = self._clock.now() + self._skew_us
        return self._node.catch_up(now) if self._clock.rate else now

    async def _accept(self, hop: IncomingHop, mail: IncomingMail) -> None:
        """Store a mail that the listener has received; when this returns the mail is durable.  # spec: IN-2"""
        point = AtArrival(self.name, mail.sender, mail.recipients, mail.header.subject, mail.header.message_id)
        lost_by = (await decided(self._decide(point))).lost_by
        with self._answering_peers():
            await self._shared.add(lambda node, now: node.mail_in(now, hop, mail, lost_by), len(mail.content))

    async def _on_verb(self, peer: str, verb: Verb) -> VerbFault | None:
        return (await decided(self._decide(AtVerb(peer, self.name, verb, self._clock.now())))).at_verb

    def _peer_stimulus(self, fn: Callable[[Node, LabTime], None]) -> None:
        """Run a stimulus from a peer."""
        with self._answering_peers():
            self._stimulus(fn, "mail")

    @contextmanager
    def _answering_peers(self) -> Iterator[None]:
        """Turn the error of a peer's stimulus into a RefusalError, which becomes the peer's SMTP reply."""
        try:
            yield
        except MailRefused as refusal:
            raise RefusalError(refusal.code, refusal.text) from refusal
        except NotRunning as error:
            raise RefusalError(421, _SHUTTING_DOWN) from error
        except CannotWrite as error:
            self._log_cannot_write(error)
            raise RefusalError(452, "4.3.1 nothing can be written here now, try again later") from error
        except Exception as error:
            self._failed(error)
            raise

    def _check_recipient(self, address: str) -> None:
        self._peer_query(lambda node: node.check_recipient(address))

    def _check_room(self, size: int) -> None:
        self._peer_query(lambda node: node.check_room(size))

    def _offers(self) -> Offers:
        return self._peer_query(lambda node: node.offers())

    def _peer_query(self, fn: Callable[[Node], T]) -> T:
        """Answer what the listener asks before a mail. A RefusalError becomes the peer's SMTP reply."""
        if not self._up:  # a connection was open when the store stopped or was killed
            raise RefusalError(421, _SHUTTING_DOWN)
        try:
            return fn(self._node)
        except MailRefused as refusal:
            raise RefusalError(refusal.code, refusal.text) from refusal
        except NotRunning as error:
            raise RefusalError(421, _SHUTTING_DOWN) from error

    # --- what a coordinator asks

    @property
    def now(self) -> LabTime:
        """The lab time of this host's clock."""
        return self._clock.now()

    @property
    def rate(self) -> float:
        """Lab seconds per real second; 0 while the clock is paused."""
        return self._clock.rate

    @property
    def up(self) -> bool:
        """Whether the host accepts stimuli."""
        return self._up

    @property
    def activity(self) -> int:
        """The number of stimuli and of deliveries begun so far."""
        return self._stimuli + self._deliveries.begun

    @property
    def blocked(self) -> bool:
        """Whether what is due cannot be written at present, for example because the disk is full."""
        return bool(self._write_error)

    def next_due(self) -> LabTime | None:
        """Return the lab time at which the node's next row is due; None if never. A mail in flight is due already."""
        if self._stale:
            self._due_at = self._node.next_due() if self._up else None
            self._stale = False
        return None if self._due_at is None else self._due_at - self._skew_us

    def busy(self, at: LabTime) -> str:
        """Return why this host is not idle at `at`, in words; '' if it is idle."""
        if self.failure is not None:
            return f"the server failed: {described(self.failure)}"
        if self._write_error:
            return self._write_error
        if count := self._deliveries.busy():
            return count
        if self._shared:
            return f"{counted(len(self._shared), 'request or mail', 'requests and mails')} not yet stored"
        if self._listener.open_transactions:
            return f"{counted(self._listener.open_transactions, 'mail')} being received"
        due_at = self.next_due()
        if due_at is not None and due_at <= at:
            return f"a timer or mail has been due since {format_instant(due_at)}"
        return ""

    async def hold(self) -> LabTime:
        """Pause the clock and begin nothing new until `go`; return the lab time."""
        self._paused = True
        self._clock.set_rate(0.0)
        await self._catch_up()
        return self._clock.now()

    async def set_clock(self, at: LabTime, rate: float) -> None:
        """Set the clock to `at`, and let it run from there at `rate` (0: paused)."""
        self._clock.jump(at)
        await self._catch_up()
        self._clock.set_rate(rate)
        self._wake.set()

    async def _catch_up(self) -> None:
        """Let the node do what came due before the present lab time, after a clock that ran was paused or set forward."""
        now = self._clock.now()
        shown_at = now + self._skew_us
        try:
            while self._up and (due_at := self.next_due()) is not None and due_at < now:
                self._stale = True
                if self._node.catch_up(shown_at) == shown_at:  # what is still due is mail
                    break
                await asyncio.sleep(0)  # between the parts of a long cycle
        except Exception as error:
            self._own_stimulus_failed(error)

    def set_skew(self, skew_us: int) -> None:
        """Let the node's own clock show lab time and `skew_us` more, or less if it is negative.

        The node sees only its own clock: events, mails, schedules and time-outs use it. The coordinator sees only lab time. If
        the clock goes back, the node stays at the time of its last event until the clock has reached it.  # spec: TM-1
        """
        if skew_us != self._skew_us:
            self._skew_us = skew_us
            self._deliveries.changed()
            self._wake.set()

    async def go(self) -> None:
        """Continue after `hold`."""
        self._paused = False
        self._wake.set()

    # --- the pump

    async def _pump(self) -> None:
        """Do what is due and wait, until the task is cancelled or the host fails (see the module)."""
        try:
            while True:
                self._wake.clear()
                try:
                    if self._paused:
                        await self._wake.wait()
                        continue
                    if self._retry_later:
                        self._retry_later = False
                        await asyncio.sleep(NO_ROOM_PAUSE_S)
                        continue
                    if self._turn():
                        await asyncio.sleep(0)
                    else:
                        await self._rest()
                except CannotWrite as error:
                    self._own_stimulus_failed(error)
        except Exception as error:
            self._failed(error)

    def _log_cannot_write(self, error: CannotWrite) -> None:
        """Log that nothing could be written. Nothing is lost: the node has rolled back, and the work is still due."""
        if str(error) != self._write_error:  # otherwise the error is already logged
            log.warning("%s", error)
        self._stale = True

    def _own_stimulus_failed(self, error: Exception) -> None:
        """Handle the error of a stimulus that the host itself began."""
        if isinstance(error, CannotWrite):
            self._log_cannot_write(error)
            self._write_error, self._retry_later = str(error), True
        else:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Note the failure, and wake the tasks that wait for this host. The node has rolled the stimulus back."""
        self.failure = self.failure or error
        log.error("server %s failed", self.name, exc_info=error)
        self._idle()

    def _turn(self) -> bool:
        """Do a part of what is due now. Return False if nothing is to be done before an event or the next due time."""
        now = self._clock.now()
        due_at = self.next_due()
        if due_at is None or due_at > now:
            return False
        if self._send_due(now):
            return True
        if self._deliveries.under_way and asyncio.get_running_loop().time() < self._ticked_s + TICK_WHILE_SENDING_S:
            return False
        self._ticked_s = asyncio.get_running_loop().time()
        has_more = self._stimulus(lambda node, at: node.tick(at), "tick")
        if self._deliveries.under_way:
            return False
        due_at = self.next_due()
        if has_more or due_at is None or due_at > now or self._send_due(now):
            self._fruitless_ticks = 0
            return True
        self._fruitless_ticks += 1
        if self._fruitless_ticks > FRUITLESS_TICKS:
            raise HostStuck(
                f"server {self.name}: a timer or mail has been due since {format_instant(due_at)} and is still due"
                f" after {FRUITLESS_TICKS} ticks"
            )
        return False

    def _send_due(self, now: LabTime) -> bool:
        """Begin deliveries of due mails; return True if there was any. This postpones the next tick a little."""
        has_begun = self._deliveries.begin_due(now + self._skew_us)
        if has_begun:
            self._ticked_s = asyncio.get_running_loop().time()
        return has_begun

    async def _rest(self) -> None:
        """Wait until a row is due or something happens."""
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
        # While the clock is paused nothing becomes due, and `set_clock` wakes the pump; so no timer is needed.
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
