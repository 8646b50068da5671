"""The simulator: a whole organization in one thread, without sockets, sleep or real time.

The nodes are the real ones, on databases in memory. Only the hop between two of them is replaced
(`pflab.simulation.smtp_dialogue`), and time is a number that the simulator increases.

The event loop
--------------

The database of each node knows when the node has something to do (`Node.next_due`). So the simulator needs no list of future
events. It alternates between two phases:

1. *Run the instant* (`_run_instant`). End the faults whose time is over. Then, as long as any server is due now or earlier:

   - restart the servers that crashed CRASH_REST_US ago;
   - choose the server that is due first; if several are, the first in the topology's order (with `shuffle`: a seeded choice
     among all that are due);
   - let this server do one step (`_step`). If mails are due, the step sends up to BATCH of them. Otherwise the step is one
     `tick`, in which the node does what its timers ask for.

2. *Jump.* When no server is due, set the time to the next instant at which something is due: the earliest row of any node, the
   restart of a crashed server, or the end of a fault. Nothing happens in between, so nothing is skipped.

A mail is sent completely within one step. The fault plan and the network decide about it, and the two ends have their
dialogue. The receiving node stores the mail in a stimulus, and the sending node records the outcome. No time passes in this
step. With `shuffle`, mails of one step that arrive at the same node share a transaction there, and their outcomes share one at
the sender; requests that wait at the same time share one too. The seed divides the mails.

A fault, the network or a closed connector can delay a mail; a delay is a later due time of the queue row. So no mail is ever in
flight between two steps.

An example. At 00:15 the cycle of A is due. The first step is a `tick` of A, which queues a mail to B; the mail is due at once.
The second step sends the mail: B stores it, and A deletes its queue row. Now no server is due before the cycle of B at 00:20,
and the time jumps there.

A crash by the fault plan ends a stimulus with the exception `Crashed`, before or after its commit. The simulator then discards
the node; its committed state remains, as after a kill. If a mail was being sent to this node, it was not acknowledged, so the
sender keeps the mail and tries again.

What must never happen
----------------------

Each of these raises the error that is named with it:

- Time that goes back (LabError).
- An instant with more than STEPS_PER_INSTANT steps, which seems endless (NotIdle).
- A row that is still due after FRUITLESS_TICKS ticks of its node in a row (NotIdle).
- A stimulus that fails although no user requested it (InternalError). A crash by the fault plan, a refused mail and a full
  disk are not failures in this sense.

Why the same seed gives the same trace
--------------------------------------

A run is a function of the topology, the seed, the network policy and the calls of its user. There is one thread. No code
reads a real clock. GUIDs and keys come from the seed. Network and environment each have their own random generator,
seeded from the lab's seed, and the loop uses them in the order of its steps. The order of steps depends only on due times
and the topology's order. A node's `next_due` is a query of its database, so the loop caches it and asks again after each
stimulus of that node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from node.codec.signing import derived_seed
from node.errors import CannotWrite, Crashed, InternalError, MailRefused, NodeError, NotRunning
from node.host.shared_commits import Act, SharedCommits
from node.store.lifecycle import Outcome
from node.store.node import Node
from pflab.errors import LabError, NotIdle
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import Keep, with_capture
from pflab.lab.outside_mail import OUTSIDE_HOST, check_addresses, check_taken, with_line_ends
from pflab.lab.recorded_lab import RecordedLab
from pflab.lab.servers import EmbeddedServers, LabServer, NodeFactory, NodeSettings, authority_of
from pflab.runs.lab_state import LabState, RunSettings, ServerStatus
from pflab.runs.recorder import Record, say_who_waits
from pflab.simulation.environment import Environment
from pflab.simulation.network import Network, NetworkPolicy
from pflab.simulation.smtp_dialogue import Dialogue, dialogue, unreachable
from traces.labtime import MINUTE_US, LabTime, check_not_after_end, format_duration, format_instant
from transport.envelope import IncomingHop, IncomingMail, SendOutcome, SendState
from transport.mime.headers import incoming_mail
from transport.mime.tamper import altered
from transport.protocol.fault_points import AfterSend, AtArrival, AtVerb, BeforeSend, Decision, Verb, VerbFault

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from traces.events import Event
    from transport.envelope import Transmission

T = TypeVar("T")

STEPS_PER_INSTANT = 1_000_000
"""The number of steps (ticks and sent mails) after which an instant counts as endless. This is ten times the number of
steps that 10,000 posts to nine stores need.
"""

FRUITLESS_TICKS = 100
"""A node counts as stuck if this many ticks in a row, at one instant, leave a row due but no mail to send."""

CRASH_REST_US = MINUTE_US
"""How long a server stays down after a crash by the fault plan."""

BATCH = 100
"""The largest number of transmissions of a node that one step sends."""


class _Slot:
    """What the loop knows about one server. `stale`: `due_at` must be queried again."""

    __slots__ = ("due_at", "fruitless", "name", "server", "stale")

    def __init__(self, server: LabServer) -> None:
        self.server = server
        self.name = server.name
        self.due_at: LabTime | None = None
        self.stale = True
        self.fruitless = 0


@dataclass(slots=True)
class _Hop:
    """A mail that leaves a server.

    sent: the mail as it leaves, after the faults.
    late: the outcome if the next server stores the mail and does not answer.
    """

    transmission: Transmission
    sent: Transmission
    decision: Decision
    outcome: SendOutcome = field(default_factory=lambda: unreachable("there was no attempt"))
    late: SendOutcome | None = None


_by_time = itemgetter(0)


def _raise_first(outcomes: Sequence[Outcome]) -> None:
    """Raise the first error of stimuli."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error


def _fail() -> None:
    raise NodeError("the company of another stimulus, which always fails")


class Simulator(RecordedLab):
    """A simulated lab.

    seed: determines GUIDs, keys and all random choices.
    folder: where traces go; None: nothing is written.
    network: how the network reorders and delays mails; by default it does neither.
    run: the run's id, by default `sim-<seed>`.
    earlier: the events of the run that this one continues.
    keep: called with each mail that crosses a hop, to keep it.
    most_events: see `pflab.runs.recorder`.
    secret: what the keys and ids of the stores derive from, by default the seed.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        seed: int = 1,
        folder: RunFolder | None = None,
        network: NetworkPolicy | None = None,
        run: str | None = None,
        make_node: NodeFactory = Node,
        earlier: Sequence[Event] = (),
        keep: Sequence[Keep] = (),
        most_events: int | None = None,
        secret: int | str | None = None,
    ) -> None:
        self._now: LabTime = topology.start_at
        run = run if run is not None else f"sim-{seed}"
        record = Record(run, folder=folder, now=lambda: self._now, most=most_events, earlier=earlier, durable=False)
        settings = RunSettings(driver="simulator", keeps_mails=folder is not None and folder.keeps_mails)
        super().__init__(topology, seed=seed, run=run, record=record, folder=folder, settings=settings)
        self.secret = seed if secret is None else secret
        self._folder = folder
        self.faults = FaultPlan(
            topology,
            now=lambda: self._now,
            injected=self._fault_injected,
            altered=self.record.fault_altered,
            healed=self._fault_healed,
        )
        self.environment = Environment(self.faults, derived_seed(seed, "weather"), authority_of(self.secret))
        network = network or NetworkPolicy()
        self.jitter_us = network.jitter_us
        self._network = Network(network, with_capture(self.faults.decide, folder, *keep), derived_seed(seed, "network"))
        self._servers: EmbeddedServers = EmbeddedServers(
            NodeSettings(
                topology=topology,
                run=self._run,
                secret=self.secret,
                on_events=self.record.extend,
                make_node=make_node,
                folder=folder,
                databases_on_disk=False,
            )
        )
        self._slots: list[_Slot] = []
        self._slot: dict[str, _Slot] = {}
        self._commits: dict[str, SharedCommits] = {}
        self._add_slots()
        self._back_at: dict[str, LabTime] = {}
        self._failures: dict[str, Exception] = {}
        """The internal error of each server whose own stimulus failed, until its next start."""
        self.steps = 0
        """Steps so far, for benchmarks."""

    def _add_slots(self) -> None:
        """Let the loop have exactly the lab's servers."""
        for server in self._servers.all():
            if server.name not in self._slot or self._slot[server.name].server is not server:
                self._slot[server.name] = _Slot(server)
                self._commits[server.name] = SharedCommits(partial(self._do_together, server.name))
        self._slots[:] = [self._slot[name] for name in self._servers.names]

    def _take(self, organization: Topology) -> None:
        super()._take(organization)
        self._add_slots()

    # --- what it is

    @property
    def now(self) -> LabTime:
        return self._now

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise LabError("this simulated lab has no run folder; create it with one")
        return self._folder.path

    def absent(self, name: str) -> bool:
        """Whether the server has never been started: it joins later."""
        return self._servers.server(name).status is ServerStatus.ABSENT

    def deleted(self, name: str) -> bool:
        """Whether the server's store was deleted from the directory."""
        return self._servers.deleted(name)

    def clock_of(self, name: str) -> LabTime:  # spec: TM-1
        return self.environment.clock_of(name, self._now)

    def silent(self, name: str) -> bool:
        return self.environment.silent(name, self._now)

    # --- users

    @property
    def shares_commits(self) -> bool:
        """Whether stimuli that are ready together share a transaction."""
        return self._network.policy.shuffle

    async def do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        self._servers.node(name)
        return await self._commits[name].add(fn, 0) if self.shares_commits else self._do(name, fn)

    def _do(self, name: str, fn: Callable[[Node, LabTime], T]) -> T:
        [outcome] = self._do_together(name, [fn])
        if outcome.error is not None:
            raise outcome.error
        result: T = outcome.result
        return result

    def _do_together(self, name: str, acts: Sequence[Act[Any]]) -> list[Outcome]:
        self._servers.node(name)
        if self.environment.silent(name, self._now):
            raise NotRunning(f"server {name} does not answer")
        now = self.clock_of(name)
        try:
            return self._stimulus(
                self._slot[name], lambda node: self._together(node, now, [partial(act, node, now) for act in acts])
            )
        except Crashed as crash:
            # The user cannot know whether the stimulus was committed: the server died before it answered.
            raise NotRunning(f"server {name} crashed before it answered") from crash

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> Mapping[str, str]:
        check_addresses(sender, recipients)
        refused: dict[str, MailRefused] = {}

        def send(node: Node, now: LabTime) -> None:
            for address in recipients:
                try:
                    node.check_recipient(address)
                except MailRefused as refusal:
                    refused[address] = refusal
            check_taken(recipients, refused)
            accepted = [address for address in recipients if address not in refused]
            mail = incoming_mail(sender, accepted, with_line_ends(content))
            self._arrived(node, now, IncomingHop(OUTSIDE_HOST, None, 0), mail)()

        await self.do(name, send)
        return {address: str(refusal) for address, refusal in refused.items()}

    def read(self, name: str, fn: Callable[[Node], T]) -> T:
        return fn(self._servers.node(name))

    # --- time

    @property
    def rate(self) -> float:
        """The clock of a simulator never runs, because it knows no real time."""
        return 0.0

    events_in_order = True

    async def set_rate(self, rate: float) -> None:
        if rate:
            raise LabError(
                f"the clock of a simulator cannot run (rate {rate:g}); it is paused, and moves by step, advance and until"
            )
        self.record.clock_changed("pause", 0.0, self._now)

    async def settle(self) -> None:
        self._run_instant()

    async def advance(self, to_at: LabTime) -> None:
        check_not_after_end(to_at)
        self._check_ahead(to_at)
        self.record.clock_changed("advance", 0.0, to_at)
        self._run_instant()
        while (due_at := self._next_due()) is not None and due_at <= to_at:
            await self._jump(due_at)
        self._now = to_at

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        check_not_after_end(limit_at)
        self._check_ahead(limit_at)
        self.record.clock_changed("until", 0.0, limit_at)
        self._run_instant()
        while not predicate():
            due_at = self._next_due()
            if due_at is None or due_at > limit_at:
                self._now = limit_at
                return predicate()
            await self._jump(due_at)
        return True

    async def step(self, limit_at: LabTime | None = None) -> bool:
        check_not_after_end(limit_at or 0)
        self._run_instant()
        due_at = self._next_due()
        if due_at is None or (limit_at is not None and due_at > limit_at):
            self._now = max(self._now, limit_at or 0)
            return False
        await self._jump(due_at)
        self.record.clock_changed("step", 0.0, due_at)
        return True

    async def _jump(self, due_at: LabTime) -> None:
        self._now = due_at
        self._run_instant()

    # --- start and stop

    async def _stop(self, name: str) -> None:
        self._servers.node(name)
        self._servers.stop(self._servers.server(name), self.clock_of(name))
        self._slot[name].stale = True

    async def _kill(self, name: str) -> None:
        self._servers.node(name)
        self._servers.kill(self._servers.server(name))
        self._slot[name].stale = True
        self._servers.server(name).kill_fault = self.faults.killed(name)

    # --- opening and closing

    async def up(self) -> None:
        policy = self._network.policy
        self.record.run_started(
            self.topology,
            self.seed,
            driver="simulator",
            shuffle=str(policy.shuffle),
            jitter=format_duration(policy.jitter_us),
        )
        for server in self._servers.present_at_start():
            self._start_node(self._slot[server.name])
        self._run_instant()

    async def _end(self) -> None:
        for name in sorted(self._back_at):
            # Events that a node committed before it crashed belong to the trace.
            self._start_node(self._slot[name])
        for server in self._servers.running():
            self._servers.stop(server, self.clock_of(server.name))

    # --- the state of the lab

    def _state(self) -> LabState:
        state = super()._state()
        returning = {name: replace(state.servers[name], restarts_at=at) for name, at in self._back_at.items()}
        return replace(state, servers={**state.servers, **returning})

    def _recall(self, state: LabState) -> None:
        super()._recall(state)
        ends = {name: server.restarts_at for name, server in state.servers.items()}
        self._back_at = {name: at for name, at in ends.items() if at is not None}

    # --- the loop

    def _run_instant(self) -> None:
        """Do everything that is due at the present instant."""
        self.faults.expire(self._now)
        steps = 0
        while (slot := self._next_slot()) is not None:
            steps += self._step(slot)
            if steps > STEPS_PER_INSTANT:
                raise self._not_idle(f"still busy after {STEPS_PER_INSTANT} steps at one instant")
        self.steps += steps

    def _next_slot(self) -> _Slot | None:
        """Return the server that takes the next step at the present instant; None if no server is due."""
        for name in [name for name, back_at in self._back_at.items() if back_at <= self._now]:
            self._start_node(self._slot[name])
        now = self._now
        waiting = [entry for entry in self._due() if entry[0] <= now]
        if not waiting:
            return None
        turn = self._network.turn(len(waiting))
        return waiting[turn][1] if turn else min(waiting, key=_by_time)[1]

    def _next_due(self) -> LabTime | None:
        """Return the next instant at which anything is due in the whole lab; None if there is none."""
        dues = [due_at for due_at, _ in self._due()]
        dues.extend(self._back_at.values())
        if (ends_at := self.faults.next_end_at) is not None:
            dues.append(ends_at)
        return min(dues, default=None)

    def _due(self) -> list[tuple[LabTime, _Slot]]:
        """Return the servers that have something to do, in the topology's order, each with the lab time at which it is due."""
        for slot in self._slots:
            if slot.stale:
                node = slot.server.node if slot.server.status is ServerStatus.RUNNING else None
                slot.due_at = None if node is None else node.next_due()
                slot.stale = False
        due = [(slot.due_at, slot) for slot in self._slots if slot.due_at is not None]
        if self.environment.undisturbed:
            return due
        return [(self.environment.due_at(slot.name, due_at), slot) for due_at, slot in due]

    def _step(self, slot: _Slot) -> int:
        """Send the due mails of one server; if it has none, let it do what is due. Return the number of steps."""
        node = self._servers.node(slot.name)
        clock = self.clock_of(slot.name)
        leaving = self._network.order(node.outgoing(clock, BATCH))
        if leaving:
            slot.fruitless = 0
            for group in self._network.divided(leaving):
                self._transmit(slot, group)
            return len(leaving)
        results: list[bool] = []
        self._try_own_stimulus(slot, lambda node: results.append(node.tick(clock)))
        still_due = any(candidate is slot and due_at <= self._now for due_at, candidate in self._due())
        slot.fruitless = slot.fruitless + 1 if still_due and not any(results) else 0
        if slot.fruitless > FRUITLESS_TICKS:
            raise self._not_idle(f"server {slot.name}: a timer or mail is still due after {FRUITLESS_TICKS} ticks")
        return 1

    def _transmit(self, slot: _Slot, transmissions: list[Transmission]) -> None:
        """Send mails over one hop each, unless a fault or the network holds them or refuses the connection.

        Those that arrive at one server share a transaction there, and all outcomes share one here.
        """
        now = self.clock_of(slot.name)
        hops = [hop for mail in transmissions if (hop := self._leave(slot, now, mail)) is not None]
        self._hand_over(slot, hops)
        for hop in hops:
            delivered = hop.outcome.state is SendState.DELIVERED
            self._network.decide(AfterSend(slot.name, hop.transmission, delivered))
        if hops:
            self._try_own_stimulus(slot, lambda node: self._conclude(node, now, hops))

    def _leave(self, slot: _Slot, now: LabTime, transmission: Transmission) -> _Hop | None:
        """Decide about a mail. Return its hop; None if it stays, or if its server has crashed."""
        if slot.server.status is not ServerStatus.RUNNING:
            return None
        decision = self._network.decide(BeforeSend(slot.name, transmission, now))
        queue_id, hold_until_at = transmission.queue_id, decision.hold_until_at
        if decision.apart:
            self._try_own_stimulus(slot, lambda node: node.hop_divided(now, queue_id, decision.apart))
            return None
        if hold_until_at is not None:
            self._try_own_stimulus(slot, lambda node: node.hop_held(now, queue_id, hold_until_at))
            return None
        sent = transmission
        if decision.alter:
            sent = replace(sent, content=altered(sent.content, decision.alter))
        return _Hop(transmission, sent, decision)

    @staticmethod
    def _conclude(node: Node, now: LabTime, hops: Sequence[_Hop]) -> None:
        acts = [partial(node.hop_concluded, now, hop.transmission.queue_id, hop.outcome) for hop in hops]
        _raise_first(node.together(now, acts))

    def _hand_over(self, slot: _Slot, hops: Sequence[_Hop]) -> None:
        """Give mails to the next servers, and note the outcome of each, as an SMTP sender would."""
        together: dict[str, list[_Hop]] = {}
        for hop in hops:
            copies = self._copies(hop)
            if copies == 1:
                together.setdefault(hop.sent.next_hop, []).append(hop)
                continue
            for _ in range(copies):
                self._deliver(slot.name, [hop])
                if hop.outcome.state is not SendState.DELIVERED:
                    break
        for group in together.values():
            self._deliver(slot.name, group)
        for hop in hops:
            if hop.late is not None and hop.outcome.state is SendState.DELIVERED:
                hop.outcome = hop.late

    def _copies(self, hop: _Hop) -> int:
        """Return how many copies of a mail the next server gets; if none, note the outcome."""
        if hop.decision.refuse:
            hop.outcome = unreachable(hop.decision.refuse)
            return 0
        # The simulator has no smart host: the mail counts as delivered. It plays a connector's relay itself.
        if hop.sent.outside is not None and hop.sent.relay is None:
            hop.outcome = SendOutcome(SendState.DELIVERED, "250 handed over")
            return 0
        name = hop.sent.next_hop
        target = self._slot.get(name)
        if target is None or target.server.status is not ServerStatus.RUNNING:
            hop.outcome = unreachable(f"connection refused: {name} is not running")
            return 0
        hop.outcome = unreachable(f"connection lost: {name} does not answer")
        if self.environment.silent(name, self._now):
            if not self.environment.commits_silently(name):
                return 0
            hop.late = hop.outcome
        return hop.decision.copies

    def _deliver(self, server: str, hops: Sequence[_Hop]) -> None:
        """Play an SMTP dialogue for each mail; at their ends the target stores the mails. Note the outcomes."""
        target = self._slot[hops[0].sent.next_hop]
        now = self.clock_of(target.name)
        if target.server.status is not ServerStatus.RUNNING:  # an earlier mail crashed it
            for hop in hops:
                hop.outcome = unreachable(f"connection refused: {target.name} is not running")
            return
        arrivals: list[tuple[_Hop, Dialogue, Callable[[], None]]] = []
        try:
            for hop in hops:
                talk = self._talk(server, target, now, hop.sent)
                hop.outcome = talk.outcome
                if talk.stores:
                    arrivals.append((hop, talk, self._arrival(server, target, now, hop.sent, talk)))
            outcomes = self._store(target, now, [arrived for _, _, arrived in arrivals])
        except Crashed:
            for hop in hops:
                hop.outcome = unreachable(f"connection lost: {target.name} went down")
            return
        for (hop, talk, _), outcome in zip(arrivals, outcomes, strict=True):
            refusal = outcome.error
            if isinstance(refusal, MailRefused):
                state = SendState.REFUSED if refusal.code >= 500 else SendState.DEFERRED
                ordinary = talk.ordinary if hop.sent.system else ""
                hop.outcome = SendOutcome(state, str(refusal)).explained(ordinary)

    def _talk(self, server: str, target: _Slot, now: LabTime, transmission: Transmission) -> Dialogue:
        """Play the dialogue up to the end of the content. Raises Crashed if it ends the target."""
        node = self._servers.node(target.name)
        at_verb = partial(self._at_verb, server, target.name) if self.faults.has_verb_faults else None
        talk = dialogue(server, transmission, node.offers(), at_verb)
        if talk.links:
            self._own_stimulus(target, lambda node: node.link_state(now, server, talk.links))
        return talk

    def _arrival(
        self, server: str, target: _Slot, now: LabTime, transmission: Transmission, talk: Dialogue
    ) -> Callable[[], None]:
        """Return the stimulus of the mail whose content has crossed the hop."""
        content = talk.content
        if not self.environment.undisturbed:
            content = self.environment.content(BeforeSend(server, transmission, now))
        mail = incoming_mail(transmission.sender, talk.recipients, content)
        return self._arrived(self._servers.node(target.name), now, talk.hop(server), mail)

    def _store(self, target: _Slot, now: LabTime, arrivals: Sequence[Callable[[], None]]) -> list[Outcome]:
        """Let a server store mails in one transaction. Return the outcomes; an error is a refusal."""
        outcomes: list[Outcome] = []

        def store(node: Node) -> None:
            outcomes.extend(self._together(node, now, arrivals))
            _raise_first([outcome for outcome in outcomes if not isinstance(outcome.error, MailRefused)])

        if arrivals:
            self._own_stimulus(target, store)
        return outcomes

    def _at_verb(self, peer: str, server: str, verb: Verb) -> VerbFault | None:
        return self._network.decide(AtVerb(peer, server, verb, self._now)).at_verb

    def _arrived(self, node: Node, now: LabTime, hop: IncomingHop, mail: IncomingMail) -> Callable[[], None]:
        """Return the stimulus of a received mail. The node stores the mail, unless a fault loses it."""
        point = AtArrival(node.name, mail.sender, mail.recipients, mail.header.subject, mail.header.message_id)
        decision = self._network.decide(point)
        return lambda: node.mail_in(now, hop, mail, decision.lost_by)

    def _together(self, node: Node, now: LabTime, acts: Sequence[Callable[[], Any]]) -> list[Outcome]:
        """Run stimuli from outside in one transaction, as a live server does.

        Among some of them the seed puts one that fails; it must undo only itself.
        """
        place = self._network.company(len(acts))
        if place is None:
            return node.together(now, acts)
        outcomes = node.together(now, [*acts[:place], _fail, *acts[place:]])
        return outcomes[:place] + outcomes[place + 1 :]

    # --- stimuli and crashes

    def _stimulus(self, slot: _Slot, fn: Callable[[Node], T]) -> T:
        """Run one stimulus of one server. If the stimulus crashes, discard the node and raise Crashed."""
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
        finally:
            node.crash_at = None  # if the stimulus was rolled back, the crash in it does not happen

    def _try_own_stimulus(self, slot: _Slot, fn: Callable[[Node], None]) -> None:
        """Run a stimulus that no user asked for; a crash in it is part of the simulation."""
        with suppress(Crashed):
            self._own_stimulus(slot, fn)

    def _own_stimulus(self, slot: _Slot, fn: Callable[[Node], None]) -> None:
        """Run a stimulus that no user asked for. Raises MailRefused, Crashed, CannotWrite, and InternalError for all
        other errors."""
        try:
            self._stimulus(slot, fn)
        except (MailRefused, CannotWrite):
            raise
        except Exception as error:
            self._failures[slot.name] = error
            raise InternalError.of(f"server {slot.name}", f"at {format_instant(self._now)}", error) from error

    async def _start(self, server: LabServer) -> None:
        self._start_node(self._slot[server.name])

    def _start_node(self, slot: _Slot) -> None:
        self._back_at.pop(slot.name, None)
        self._failures.pop(slot.name, None)
        self._servers.start(slot.server, self.clock_of(slot.name), self._backup_of(slot.server))
        slot.stale = True
        slot.fruitless = 0
        self._update_directories()

    def _update_directories(self) -> None:
        for name in [name for name in self._back_at if self._servers.deleted(name)]:
            del self._back_at[name]  # it crashed before its store was deleted
            self._servers.kill(self._servers.server(name))
        for update in self._servers.pending_updates():
            if update.server.status is not ServerStatus.RUNNING:
                continue  # an earlier update crashed it
            slot = self._slot[update.server.name]
            self._try_own_stimulus(slot, partial(update.apply, now=self.clock_of(slot.name)))
            if update.server.status is ServerStatus.RUNNING:  # a crashed server gets the update at its restart
                update.mark_applied()

    # --- errors

    def _check_ahead(self, at: LabTime) -> None:
        if at < self._now:
            raise LabError(f"lab time is {format_instant(self._now)} and cannot go back to {format_instant(at)}")

    def _not_idle(self, why: str) -> NotIdle:
        waiting = [(slot.name, slot.server.node) for slot in self._slots if slot.due_at is not None]
        return NotIdle(f"{why}; {say_who_waits(waiting, self._now)}")
