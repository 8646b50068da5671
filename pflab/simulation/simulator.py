"""The simulator: a whole organization in one thread, without sockets, sleep or real time.

Deterministic from (topology, seed, network policy) and what is asked of it: the nodes are the real ones on in-memory
databases, only the socket hop is replaced (`pflab.simulation.smtp_dialogue`). The loop takes the node that is due
first (ties in the
topology's order), lets it send what is due and do what is due, and moves the clock when nobody is due at the present
instant. A node's `next_due` is a query, so it is asked again only after a stimulus of that node.

Crashes: a stimulus that ends in `Crashed` leaves the node abandoned; it is rebuilt on its database CRASH_REST_US
later. A mail that was being handed to it was not acknowledged, so its sender keeps it and tries again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from node.codec.signing import derived_seed
from node.errors import CannotWrite, Crashed, InternalError, MailRefused, NotRunning
from pflab.errors import LabError, NotIdle
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import with_capture
from pflab.lab.lab import STRANGER
from pflab.lab.recorded_lab import RecordedLab
from pflab.lab.servers import (
    EmbeddedServers,
    LabServer,
    NodeFactory,
    NodeSettings,
    ServerStatus,
    authority_of,
    default_node,
)
from pflab.runs.recorder import Record, say_who_waits
from pflab.simulation.environment import Weather
from pflab.simulation.network import Network, NetworkPolicy
from pflab.simulation.smtp_dialogue import dialogue, unreachable
from traces.labtime import MINUTE_US, LabTime, format_duration, format_instant
from transport.envelope import IncomingHop, SendOutcome, SendState
from transport.mime.headers import subject_and_id
from transport.mime.tamper import altered
from transport.protocol.fault_points import AfterSend, AtArrival, AtVerb, BeforeSend, Verb, VerbFault

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.runs.run_folder import RunFolder
    from topology import Topology
    from transport.envelope import Transmission

T = TypeVar("T")

STEPS_PER_INSTANT = 1_000_000
"""Steps (a tick, or a mail moved) after which an instant is taken to be endless: ten times what 10,000 posts to nine
stores need."""

FRUITLESS_TICKS = 100
"""Ticks in a row of one node at one instant that leave a row due and no mail to move: it is stuck."""

CRASH_REST_US = MINUTE_US
"""How long a server that crashed by the fault plan stays down."""

BATCH = 100
"""How many due transmissions of a node are fetched at once."""


class _Slot:
    """What the loop knows of one server."""

    __slots__ = ("due_at", "fruitless", "name", "server", "stale")

    def __init__(self, server: LabServer) -> None:
        self.server = server
        self.name = server.name
        self.due_at: LabTime | None = None
        self.stale = True
        self.fruitless = 0


class Simulator(RecordedLab):
    """A simulated lab.

    seed: fixes GUIDs, keys and the network's whims. folder: where traces go; without one nothing is written. network:
    the whims of the network, none by default. run: the run's id, by default `sim-<seed>`.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        seed: int = 1,
        folder: RunFolder | None = None,
        network: NetworkPolicy | None = None,
        run: str | None = None,
        make_node: NodeFactory = default_node,
    ) -> None:
        self._now: LabTime = topology.start_at
        run = run if run is not None else f"sim-{seed}"
        record = Record(run, folder=folder, now=lambda: self._now)
        super().__init__(topology, seed=seed, run=run, record=record)
        self._folder = folder
        self.faults = FaultPlan(
            topology,
            injected=self._record.fault_injected,
            altered=self._record.fault_altered,
            healed=self._record.fault_healed,
        )
        self.weather = Weather(
            topology,
            derived_seed(seed, "weather"),
            injected=self._record.fault_injected,
            healed=self._record.fault_healed,
            authority=authority_of(seed),
        )
        network = network or NetworkPolicy()
        self.jitter_us = network.jitter_us
        self._network = Network(network, with_capture(self.faults.decide, folder), derived_seed(seed, "network"))
        self._servers: EmbeddedServers = EmbeddedServers(
            NodeSettings(
                topology=topology,
                run=self._run,
                seed=seed,
                on_events=self._record.extend,
                make_node=make_node,
                folder=folder,
                databases_on_disk=False,
            )
        )
        self._slots = [_Slot(server) for server in self._servers.all()]
        self._slot = {slot.name: slot for slot in self._slots}
        self._back_at: dict[str, LabTime] = {}
        self.steps = 0
        """Steps so far, for figures."""

    # --- what it is

    @property
    def now(self) -> LabTime:
        return self._now

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise LabError("this simulated lab keeps no run folder; give it one")
        return self._folder.path

    def absent(self, name: str) -> bool:
        """Whether the server has never been started: it joins later."""
        return self._servers.server(name).status is ServerStatus.ABSENT

    def deleted(self, name: str) -> bool:
        """Whether the server's store was deleted from the directory."""
        return self._servers.deleted(name)

    # --- users

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        self._servers.node(name)
        if self.weather.silent(name, self._now):
            raise NotRunning(f"server {name} does not answer")
        now = self._clock(name)
        try:
            return self._act(self._slot[name], lambda node: fn(node, now))
        except Crashed as crash:
            # What became of the stimulus its user cannot know, as with any server that dies before it answers.
            raise NotRunning(f"server {name} crashed before it answered") from crash

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
        hop = IncomingHop(STRANGER, None, 0)
        await self.do(name, lambda node, now: self._take_in(node, now, hop, sender, recipients, content))

    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        return fn(self._servers.node(name))

    # --- time

    async def settle(self) -> None:
        self._quieten()

    async def advance(self, to_at: LabTime) -> None:
        self._check_ahead(to_at)
        self._record.clock_changed("advance", 0.0, to_at)
        self._quieten()
        while (due_at := self._next_due()) is not None and due_at <= to_at:
            self._now = due_at
            self._quieten()
        self._now = to_at

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        self._check_ahead(limit_at)
        self._record.clock_changed("until", 0.0, limit_at)
        self._quieten()
        while not predicate():
            due_at = self._next_due()
            if due_at is None or due_at > limit_at:
                self._now = limit_at
                return predicate()
            self._now = due_at
            self._quieten()
        return True

    # --- life and death

    async def stop(self, name: str) -> None:
        self._servers.node(name)
        self._servers.stop(self._servers.server(name), self._clock(name))
        self._slot[name].stale = True

    async def kill(self, name: str) -> None:
        self._servers.node(name)
        self._servers.kill(self._servers.server(name))
        self._slot[name].stale = True
        self._kills[name] = self.faults.killed(name)

    # --- beginning and end

    async def up(self) -> None:
        whims = self._network.policy
        self._record.run_started(
            self.topology,
            self.seed,
            driver="simulator",
            shuffle=str(whims.shuffle),
            jitter=format_duration(whims.jitter_us),
        )
        for server in self._servers.present_at_start():
            self._begin(self._slot[server.name])
        self._quieten()

    async def _end(self) -> None:
        for name in sorted(self._back_at):
            # What it had committed before it crashed belongs to the trace.
            self._begin(self._slot[name])
        for server in self._servers.running():
            self._servers.stop(server, self._clock(server.name))

    # --- the loop

    def _quieten(self) -> None:
        """Do all that is due at the present instant."""
        self.faults.expire(self._now)
        steps = 0
        while (slot := self._next_slot()) is not None:
            steps += self._step(slot)
            if steps > STEPS_PER_INSTANT:
                raise self._not_idle(f"still busy after {STEPS_PER_INSTANT} steps at one instant")
        self.steps += steps

    def _next_slot(self) -> _Slot | None:
        """The server whose turn it is at the present instant; None when all is quiet."""
        for name in [name for name, back_at in self._back_at.items() if back_at <= self._now]:
            self._begin(self._slot[name])
        now = self._now
        first, first_at = None, now
        waiting: list[_Slot] = []
        for slot in self._slots:
            due_at = self._due_at(slot)
            if due_at is not None and due_at <= now:
                waiting.append(slot)
                if first is None or due_at < first_at:
                    first, first_at = slot, due_at
        turn = self._network.turn(len(waiting))
        return waiting[turn] if turn else first

    def _next_due(self) -> LabTime | None:
        """The next instant at which anything is due, in the lab as a whole."""
        dues = [due_at for slot in self._slots if (due_at := self._due_at(slot)) is not None]
        dues.extend(self._back_at.values())
        if (ends_at := self.faults.next_end_at) is not None:
            dues.append(ends_at)
        return min(dues, default=None)

    def _due_at(self, slot: _Slot) -> LabTime | None:
        if slot.stale:
            server = slot.server
            running = server.status is ServerStatus.RUNNING and server.node is not None
            slot.due_at = server.node.next_due() if running and server.node is not None else None
            slot.stale = False
        due_at = slot.due_at
        return due_at if due_at is None or self.weather.fair else self.weather.due_at(slot.name, due_at)

    def _step(self, slot: _Slot) -> int:
        """Send what one server has to send, or else let it do what is due. Returns how many steps that was."""
        node = self._servers.node(slot.name)
        clock = self._clock(slot.name)
        leaving = self._network.order(node.outgoing(clock, BATCH))
        if leaving:
            slot.fruitless = 0
            for transmission in leaving:
                if slot.server.status is ServerStatus.RUNNING:
                    self._transmit(slot, transmission)
            return len(leaving)
        self._survive(slot, lambda node: node.tick(clock))
        due_at = self._due_at(slot)
        slot.fruitless = slot.fruitless + 1 if due_at is not None and due_at <= self._now else 0
        if slot.fruitless > FRUITLESS_TICKS:
            raise self._not_idle(f"server {slot.name} has a row due that {FRUITLESS_TICKS} ticks did not take away")
        return 1

    def _transmit(self, slot: _Slot, transmission: Transmission) -> None:
        """Move one mail over one hop, as the network and the faults have it."""
        now = self._clock(slot.name)
        decision = self._network.decide(BeforeSend(slot.name, transmission, now))
        queue_id, hold_until_at = transmission.queue_id, decision.hold_until_at
        if not self.weather.fair and decision.refuse is None and hold_until_at is None:
            opens_at = self.weather.held_until(slot.name, transmission, self._now)
            hold_until_at = None if opens_at is None else now + opens_at - self._now
        if hold_until_at is not None:
            self._survive(slot, lambda node: node.hop_held(now, queue_id, hold_until_at))
            return
        sent = replace(transmission, content=altered(transmission.content)) if decision.alter else transmission
        outcome = unreachable(decision.refuse) if decision.refuse else self._hand_over(slot, sent, decision.copies)
        self._network.decide(AfterSend(slot.name, transmission, outcome.state is SendState.DELIVERED))
        self._survive(slot, lambda node: node.hop_concluded(now, queue_id, outcome))

    def _hand_over(self, slot: _Slot, transmission: Transmission, copies: int) -> SendOutcome:
        """Give a mail to the next server. Returns what became of it, as an SMTP sender would."""
        if transmission.outside is not None:  # there is no outside in here: the mail counts as handed over
            return SendOutcome(SendState.DELIVERED, "250 handed over")
        target = self._slot.get(transmission.next_hop)
        if target is None or target.server.status is not ServerStatus.RUNNING:
            return unreachable(f"connection refused: {transmission.next_hop} is not running")
        silent = self.weather.silent(target.name, self._now)
        late = unreachable(f"connection lost: {target.name} does not answer")
        if silent and not self.weather.commits_silently(target.name):
            return late
        outcome = late
        for _ in range(copies):
            outcome = self._deliver(slot.name, target, transmission)
            if outcome.state is not SendState.DELIVERED:
                return outcome
        return late if silent else outcome

    def _deliver(self, server: str, target: _Slot, transmission: Transmission) -> SendOutcome:
        """One SMTP dialogue, with the mail taken at its end."""
        now, node = self._clock(target.name), self._servers.node(target.name)
        at_verb = partial(self._at_verb, server, target.name) if self.faults.has_verb_faults else None
        talk = dialogue(server, transmission, node.offers(), at_verb)
        try:
            if talk.links:
                self._act_of_its_own(target, lambda node: node.link_state(now, server, talk.links))
        except Crashed:
            return unreachable(f"connection lost: {target.name} went down")
        if not talk.stores:
            return talk.outcome
        content = talk.content if self.weather.fair else self.weather.content(transmission)
        try:
            self._act_of_its_own(
                target,
                lambda node: self._take_in(node, now, talk.hop(server), transmission.sender, talk.recipients, content),
            )
        except MailRefused as refusal:
            return SendOutcome(SendState.REFUSED if refusal.code >= 500 else SendState.DEFERRED, str(refusal))
        except Crashed:
            return unreachable(f"connection lost: {target.name} went down")
        return talk.outcome

    def _at_verb(self, peer: str, server: str, verb: Verb) -> VerbFault | None:
        return self._network.decide(AtVerb(peer, server, verb, self._now)).at_verb

    def _take_in(
        self, node: Node, now: LabTime, hop: IncomingHop, sender: str, recipients: Sequence[str], content: bytes
    ) -> None:
        """Give a node a mail that has crossed the hop; a fault may lose it there."""
        subject, _ = subject_and_id(content)
        decision = self._network.decide(AtArrival(node.name, sender, tuple(recipients), subject))
        node.mail_in(now, hop, sender, recipients, content, decision.lost_by)

    # --- stimuli, crashes, life

    def _act(self, slot: _Slot, fn: Callable[[Node], T]) -> T:
        """One stimulus of one server. Lets Crashed through once the node is abandoned."""
        node = self._servers.node(slot.name)
        slot.stale = True
        if self.faults.has_crashes:
            point = self.faults.crash_point(slot.name)
            if point is not None:
                node.crash_at = point
        try:
            return fn(node)
        except Crashed:
            node.abandon()
            slot.server.status = ServerStatus.KILLED
            slot.stale = True
            self._back_at[slot.name] = self._now + CRASH_REST_US
            raise
        except BaseException:
            node.crash_at = None  # the stimulus came to nothing, and so did the crash in it
            raise

    def _survive(self, slot: _Slot, fn: Callable[[Node], None]) -> None:
        """A stimulus of the loop's own: a crash in it is part of the simulation."""
        with suppress(Crashed):
            self._act_of_its_own(slot, fn)

    def _act_of_its_own(self, slot: _Slot, fn: Callable[[Node], None]) -> None:
        """Give a server a stimulus that no user asked for. Raises MailRefused, Crashed, CannotWrite, and InternalError for
        all other errors."""
        try:
            self._act(slot, fn)
        except (MailRefused, CannotWrite):
            raise
        except Exception as error:
            raise InternalError.of(f"server {slot.name}", f"at {format_instant(self._now)}", error) from error

    async def _start(self, server: LabServer) -> None:
        self._begin(self._slot[server.name])

    def _begin(self, slot: _Slot) -> None:
        self._back_at.pop(slot.name, None)
        self._servers.start(slot.server, self._clock(slot.name))
        slot.stale = True
        slot.fruitless = 0
        self._update_directories()

    def _update_directories(self) -> None:
        for update in self._servers.pending_updates():
            clock = self._clock(update.server.name)
            self._survive(self._slot[update.server.name], lambda node, now=clock, update=update: update.tell(node, now))  # type: ignore[misc]
            if update.server.status is ServerStatus.RUNNING:  # one that crashed in it is told again when it is back
                update.heard()

    def _clock(self, name: str) -> LabTime:
        """What the server's own clock shows."""  # spec: TM-1
        return self.weather.clock_of(name, self._now)

    # --- errors

    def _check_ahead(self, at: LabTime) -> None:
        if at < self._now:
            raise LabError(
                f"lab time only goes forward: it is {format_instant(self._now)}, {format_instant(at)} has passed"
            )

    def _not_idle(self, why: str) -> NotIdle:
        waiting = [(slot.name, slot.server.node) for slot in self._slots if slot.due_at is not None]
        return NotIdle(f"{why}; {say_who_waits(waiting, self._now)}")
