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

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from node.codec.signing import derived_seed
from node.errors import Crashed, MailRefused, NotRunning
from pflab.errors import LabError, NotIdle
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import gate_of
from pflab.lab.recorded_lab import KeptLab
from pflab.lab.servers import Member, MemberPlan, Members, NodeFactory, Standing, authority_of, default_node
from pflab.runs.recorder import Record, say_who_waits
from pflab.simulation.environment import Weather
from pflab.simulation.network import Network, NetworkPolicy
from pflab.simulation.smtp_dialogue import dialogue, unreachable
from traces.labtime import MINUTE_US, LabTime, format_duration, format_instant
from transport.envelope import SendOutcome, SendState
from transport.mime.tamper import altered

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


class _Seat:
    """What the loop knows of one server."""

    __slots__ = ("due_at", "fruitless", "member", "name", "stale")

    def __init__(self, member: Member) -> None:
        self.member = member
        self.name = member.name
        self.due_at: LabTime | None = None
        self.stale = True
        self.fruitless = 0


class Simulator(KeptLab):
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
        self._network = Network(network, gate_of(self.faults, folder), derived_seed(seed, "network"))
        self._members: Members = Members(
            MemberPlan(
                topology=topology,
                run=self._run,
                seed=seed,
                arrivals=self.faults,
                on_events=self._record.extend,
                make_node=make_node,
                folder=folder,
                databases_on_disk=False,
            )
        )
        self._seats = [_Seat(member) for member in self._members.all()]
        self._seat = {seat.name: seat for seat in self._seats}
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
        return self._members.member(name).standing is Standing.ABSENT

    def deleted(self, name: str) -> bool:
        """Whether the server's store was deleted from the directory."""
        return self._members.deleted(name)

    # --- users

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        self._members.node(name)
        if self.weather.silent(name, self._now):
            raise NotRunning(f"server {name} does not answer")
        now = self._clock(name)
        try:
            return self._act(self._seat[name], lambda node: fn(node, now))
        except Crashed as crash:
            # What became of the stimulus its user cannot know, as with any server that dies before it answers.
            raise NotRunning(f"server {name} crashed before it answered") from crash

    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        return fn(self._members.node(name))

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
        self._members.node(name)
        self._members.stop(self._members.member(name), self._clock(name))
        self._seat[name].stale = True

    async def kill(self, name: str) -> None:
        self._members.node(name)
        self._members.kill(self._members.member(name))
        self._seat[name].stale = True
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
        for member in self._members.present_at_start():
            self._begin(self._seat[member.name])
        self._quieten()

    async def _end(self) -> None:
        for name in sorted(self._back_at):
            # What it had committed before it crashed belongs to the trace.
            self._begin(self._seat[name])
        for member in self._members.running():
            self._members.stop(member, self._clock(member.name))

    # --- the loop

    def _quieten(self) -> None:
        """Do all that is due at the present instant."""
        self.faults.expire(self._now)
        steps = 0
        while (seat := self._next_seat()) is not None:
            steps += self._step(seat)
            if steps > STEPS_PER_INSTANT:
                raise self._not_idle(f"still busy after {STEPS_PER_INSTANT} steps at one instant")
        self.steps += steps

    def _next_seat(self) -> _Seat | None:
        """The server whose turn it is at the present instant; None when all is quiet."""
        for name in [name for name, back_at in self._back_at.items() if back_at <= self._now]:
            self._begin(self._seat[name])
        now = self._now
        first, first_at = None, now
        waiting: list[_Seat] = []
        for seat in self._seats:
            due_at = self._due_at(seat)
            if due_at is not None and due_at <= now:
                waiting.append(seat)
                if first is None or due_at < first_at:
                    first, first_at = seat, due_at
        turn = self._network.turn(len(waiting))
        return waiting[turn] if turn else first

    def _next_due(self) -> LabTime | None:
        """The next instant at which anything is due, in the lab as a whole."""
        dues = [due_at for seat in self._seats if (due_at := self._due_at(seat)) is not None]
        dues.extend(self._back_at.values())
        if (ends_at := self.faults.next_end_at) is not None:
            dues.append(ends_at)
        return min(dues, default=None)

    def _due_at(self, seat: _Seat) -> LabTime | None:
        if seat.stale:
            member = seat.member
            running = member.standing is Standing.RUNNING and member.node is not None
            seat.due_at = member.node.next_due() if running and member.node is not None else None
            seat.stale = False
        due_at = seat.due_at
        return due_at if due_at is None or self.weather.fair else self.weather.due_at(seat.name, due_at)

    def _step(self, seat: _Seat) -> int:
        """Send what one server has to send, or else let it do what is due. Returns how many steps that was."""
        node = self._members.node(seat.name)
        clock = self._clock(seat.name)
        leaving = self._network.order(node.outgoing(clock, BATCH))
        if leaving:
            seat.fruitless = 0
            for transmission in leaving:
                if seat.member.standing is Standing.RUNNING:
                    self._transmit(seat, transmission)
            return len(leaving)
        self._survive(seat, lambda node: node.tick(clock))
        due_at = self._due_at(seat)
        seat.fruitless = seat.fruitless + 1 if due_at is not None and due_at <= self._now else 0
        if seat.fruitless > FRUITLESS_TICKS:
            raise self._not_idle(f"server {seat.name} has a row due that {FRUITLESS_TICKS} ticks did not take away")
        return 1

    def _transmit(self, seat: _Seat, transmission: Transmission) -> None:
        """Move one mail over one hop, as the network and the faults have it."""
        now = self._clock(seat.name)
        decision = self._network.before_send(seat.name, transmission, now)
        queue_id, hold_until_at = transmission.queue_id, decision.hold_until_at
        if not self.weather.fair and decision.refuse is None and hold_until_at is None:
            opens_at = self.weather.held_until(seat.name, transmission, self._now)
            hold_until_at = None if opens_at is None else now + opens_at - self._now
        if hold_until_at is not None:
            self._survive(seat, lambda node: node.hop_held(now, queue_id, hold_until_at))
            return
        sent = replace(transmission, content=altered(transmission.content)) if decision.alter else transmission
        outcome = unreachable(decision.refuse) if decision.refuse else self._hand_over(seat, sent, decision.copies)
        self._network.after_send(seat.name, transmission, outcome.state is SendState.DELIVERED)
        self._survive(seat, lambda node: node.hop_concluded(now, queue_id, outcome))

    def _hand_over(self, seat: _Seat, transmission: Transmission, copies: int) -> SendOutcome:
        """Give a mail to the next server. Returns what became of it, as an SMTP sender would."""
        if transmission.outside is not None:  # there is no outside in here: the mail counts as handed over
            return SendOutcome(SendState.DELIVERED, "250 handed over")
        target = self._seat.get(transmission.next_hop)
        if target is None or target.member.standing is not Standing.RUNNING:
            return unreachable(f"connection refused: {transmission.next_hop} is not running")
        silent = self.weather.silent(target.name, self._now)
        late = unreachable(f"connection lost: {target.name} does not answer")
        if silent and not self.weather.commits_silently(target.name):
            return late
        outcome = late
        for _ in range(copies):
            outcome = self._deliver(seat.name, target, transmission)
            if outcome.state is not SendState.DELIVERED:
                return outcome
        return late if silent else outcome

    def _deliver(self, server: str, target: _Seat, transmission: Transmission) -> SendOutcome:
        """One SMTP dialogue, with the mail taken at its end."""
        now, node = self._clock(target.name), self._members.node(target.name)
        ask = partial(self.faults.at_verb, server, target.name, now=self._now) if self.faults.verbs_wait else None
        talk = dialogue(server, transmission, node.offers(), ask)
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
                target, lambda node: node.mail_in(now, talk.hop(server), transmission.sender, talk.recipients, content)
            )
        except MailRefused as refusal:
            return SendOutcome(SendState.REFUSED if refusal.code >= 500 else SendState.DEFERRED, str(refusal))
        except Crashed:
            return unreachable(f"connection lost: {target.name} went down")
        return talk.outcome

    # --- stimuli, crashes, life

    def _act(self, seat: _Seat, fn: Callable[[Node], T]) -> T:
        """One stimulus of one server. Lets Crashed through once the node is abandoned."""
        node = self._members.node(seat.name)
        seat.stale = True
        if self.faults.crashes_planned:
            point = self.faults.crash_point(seat.name)
            if point is not None:
                node.crash_at = point
        try:
            return fn(node)
        except Crashed:
            node.abandon()
            seat.member.standing = Standing.KILLED
            seat.stale = True
            self._back_at[seat.name] = self._now + CRASH_REST_US
            raise
        except BaseException:
            node.crash_at = None  # the stimulus came to nothing, and so did the crash in it
            raise

    def _survive(self, seat: _Seat, fn: Callable[[Node], None]) -> None:
        """A stimulus of the loop's own: a crash in it is part of the simulation."""
        with suppress(Crashed):
            self._act_of_its_own(seat, fn)

    def _act_of_its_own(self, seat: _Seat, fn: Callable[[Node], None]) -> None:
        """A stimulus that no user asked for. If it fails, the lab is broken and says so; lets MailRefused and
        Crashed through."""
        try:
            self._act(seat, fn)
        except MailRefused:
            raise
        except Exception as error:
            raise LabError(f"server {seat.name} failed at {format_instant(self._now)}: {error}") from error

    async def _rise(self, member: Member) -> None:
        self._begin(self._seat[member.name])

    def _begin(self, seat: _Seat) -> None:
        self._back_at.pop(seat.name, None)
        self._members.rise(seat.member, self._clock(seat.name))
        seat.stale = True
        seat.fruitless = 0
        self._spread_news()

    def _spread_news(self) -> None:
        for news in self._members.untold():
            clock = self._clock(news.member.name)
            self._survive(self._seat[news.member.name], lambda node, now=clock, news=news: news.tell(node, now))  # type: ignore[misc]
            if news.member.standing is Standing.RUNNING:  # one that crashed in it is told again when it is back
                news.heard()

    async def _struck_off(self) -> None:
        self._spread_news()

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
        waiting = [(seat.name, seat.member.node) for seat in self._seats if seat.due_at is not None]
        return NotIdle(f"{why}; {say_who_waits(waiting, self._now)}")
