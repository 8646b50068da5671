"""The node: MTA and public folder store on one database, as plain methods.

Each method that changes something is one stimulus in one transaction: state, events and outgoing mail commit together,
and what the method returned is durable. A driver calls them: the live host with sockets and a clock, the simulator with
neither. Nothing here waits, and nothing here knows which of the two is calling.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from node import agent, changes, foldering, genesis, look, outgoing, restoring
from node.config import Config, config_from, config_of, read_at_once, store_settings, stored_settings
from node.context import Context
from node.database import Database, Durability
from node.directory import Directory
from node.entropy import guid_from
from node.errors import Crashed, MailRefused, Misuse, NotRunning
from node.exporter import export_events
from node.folders import Folders
from node.keys import Identity, Verifier
from node.restoring import Continued
from node.rst import ReplicationStateTable
from node.store import Begins, StoreState
from node.timers import next_due
from node.views import (
    BadMailView,
    EntryView,
    FolderView,
    Knowledge,
    MessageView,
    NoticeView,
    Post,
    QueueView,
    StateView,
)
from topology.model import Topology
from topology.setting_table import find_spec
from topology.settings import RawSetting, value_text
from traces import LabTime, Recorder
from traces.events import HopDropped, NodeStarted, NodeStopped, SettingValue
from traces.header import Event
from transport.errors import CodecError
from transport.mta import Mta
from transport.mta_values import IncomingHop, LocalDelivery, RefusalError, SendOutcome, Transmission
from transport.peek import subject_and_id
from transport.sql import Connection
from transport.stimulus import Stimulus


class ArrivalFaults(Protocol):
    """What may happen to a mail at the receiving end (faults are the lab's, not the store's)."""

    def on_arrival(
        self, *, node: str, sender: str, recipients: Sequence[str], subject: str, now: LabTime
    ) -> str | None:
        """The id of the fault that swallows this mail, or None."""
        ...


class Node:
    """One server of the organization."""

    def __init__(
        self,
        name: str,
        *,
        topology: Topology,
        database: Path | None,
        run: str,
        seed: bytes,
        identity: Identity,
        durability: Durability = "normal",
        arrivals: ArrivalFaults | None = None,
        on_events: Callable[[Sequence[Event]], None] | None = None,
        real_time: Callable[[], float] | None = None,
        traces_dir: Path | None = None,
    ) -> None:
        self.name = name
        self.traces_dir = traces_dir
        self.crash_at: str | None = None
        self._topology = topology
        self._database = Database(database, durability)
        self._run = run
        self._seed = seed
        self._identity = identity
        self._arrivals = arrivals
        self._on_events = on_events
        self._real_time = real_time
        self._config: Config = config_of(topology, name)
        self._verifier = Verifier(identity.authority_key)
        self._ctx: Context | None = None
        self._trace: Recorder | None = None

    # -- life

    def open(self, now: LabTime) -> None:
        """First start, or a restart after `close`. What came due meanwhile is done at the next tick."""
        self._database.open()
        self._start(now)

    def reopen(self, now: LabTime) -> None:
        """The start after `abandon`."""
        self._database.open()
        self._start(now)

    def abandon(self) -> None:
        """A crash: nothing is said, everything in memory is gone, the database stays as it was last committed."""
        self._ctx = self._trace = None
        self._database.drop_connections()

    def close(self, now: LabTime) -> None:
        with self._stimulus(now) as (_, s):
            s.trace.record(NodeStopped, how="stop")
        self.export()
        self._ctx = self._trace = None
        self._database.close()

    def backup(self) -> bytes:
        """The database as it stands, for `restore`."""
        return self._database.copy()

    def restore(self, now: LabTime, backup: bytes) -> None:
        """The start of a stopped or abandoned node on a backup (spec: RP-4). Misuse if it is no database of a node.

        A backup older than a tombstone may get is not restored: the store begins as new (spec: DL-4, RP-3).
        """
        self._database.open()
        with self._database.reading() as conn:
            known = StoreState(conn)
        self.export()
        continued = Continued(known.incarnation, known.seq, known.lamport, known.last_at)
        settings = self._config.settings

        def prepare(conn: Connection) -> None:
            restoring.prepare(conn, continued, self._seed, new_guid=settings.new_guid_on_restore)

        try:
            if now - Database.made_at(backup) < settings.tombstone_age_us:
                self._database.replace(backup, prepare)
            else:
                self._database.replace(
                    None, lambda conn: restoring.prepare_anew(conn, continued, self.name, self._seed)
                )
        except (sqlite3.DatabaseError, LookupError) as error:
            raise Misuse(f"this is no backup of {self.name}: {error}") from None
        self._start(now)

    def _start(self, now: LabTime) -> None:
        with self._database.writing() as conn:
            if not StoreState.exists(conn):
                StoreState.create(conn, self.name, guid_from(self._seed, "replica"), now)
            # A first start that a crash cut short is made again: the hierarchy's own row is written by it.
            first = conn.exec_driver_sql("SELECT 1 FROM replica").first() is None
            state = StoreState(conn)
            state.incarnation += 1
            state.save(conn)
            self._config = config_of(self._topology, self.name, stored_settings(conn))
        self._trace = Recorder(
            run=self._run,
            node=self.name,
            incarnation=state.incarnation,
            seq=state.seq,
            lamport=state.lamport,
            at=now,
            real_time=self._real_time,
        )
        self._ctx = self._load()
        with self._stimulus(now) as (ctx, s):
            self._begin(ctx, s, first=first)

    def _begin(self, ctx: Context, s: Stimulus, *, first: bool) -> None:
        """The first stimulus of an incarnation."""
        begins, ctx.store.begins = ctx.store.begins, Begins.NOTHING
        restored = begins is Begins.RESTORED
        s.trace.record(
            NodeStarted,
            version=self._config.profile.version,
            replica_guid=ctx.store.guid.hex(),
            reason="restored" if restored else "first" if first else "restart",
        )
        self._tell_settings(s)
        later = self._topology.servers[self.name].joins_later or begins is Begins.ANEW
        if first:
            self._first_start(ctx, s, later=later)
        agent.started(ctx, s, first=first, joins_later=later, missed_check=look.missed_check(s.conn, s.now))
        if restored:
            restoring.ask_around(ctx, s)

    def _tell_settings(self, s: Stimulus) -> None:
        """Values are read at store start (spec: SE-1); the trace names those that somebody changed."""
        for each in self._config.settings.not_default():
            s.trace.record(SettingValue, name=each.spec.name, value=each.value, default=each.default)

    def _first_start(self, ctx: Context, s: Stimulus, *, later: bool) -> None:
        for store in self._topology.servers_from_start():
            ctx.directory.join(s, store, s.now)
        ctx.directory.join(s, self.name, s.now)
        genesis.begin(ctx, s, self._topology, later=later)

    def _load(self) -> Context:
        with self._database.writing() as conn:
            store = StoreState(conn)
            directory = Directory(self._topology, conn)
            return Context(
                name=self.name,
                seed=self._seed,
                store=store,
                folders=Folders(conn, store),
                rst=ReplicationStateTable(conn),
                directory=directory,
                config=self._config,
                identity=self._identity,
                verifier=self._verifier,
                mta=Mta(self.name, directory.routing, directory.server_of, self._config.mail_policy),
            )

    # -- one stimulus

    @contextmanager
    def _stimulus(self, now: LabTime) -> Iterator[tuple[Context, Stimulus]]:
        ctx, trace = self._ctx, self._trace
        if ctx is None or trace is None:
            raise NotRunning(f"store {self.name} is not running")
        now = max(now, ctx.store.last_at)
        trace.begin(now)
        try:
            with self._database.writing() as conn:
                yield ctx, Stimulus(conn, now, trace)
                self._finish(ctx, trace, conn, now)
        except BaseException as error:
            trace.discard()
            # Whatever was in memory may be ahead of the tables now: it is read anew.
            self._ctx = None if isinstance(error, Crashed) else self._load()
            if isinstance(error, CodecError):
                raise Misuse(f"it cannot be written into a mail: {error}") from error
            raise
        if self._on_events is not None and (events := trace.events):
            self._on_events(events)
        if self.crash_at == "after commit":
            self.crash_at = None
            raise Crashed(f"{self.name} after commit")

    def _finish(self, ctx: Context, trace: Recorder, conn: Connection, now: LabTime) -> None:
        first_seq = ctx.store.seq + 1
        ctx.store.last_at = now
        ctx.store.seq, ctx.store.lamport = trace.seq, trace.lamport
        ctx.save(conn)
        lines = trace.take()
        if lines:
            conn.exec_driver_sql("INSERT INTO event VALUES (?, ?, ?)", (first_seq, ctx.store.incarnation, lines))
        if self.crash_at == "before commit":
            self.crash_at = None
            raise Crashed(f"{self.name} before commit")

    # -- users

    def post(
        self,
        now: LabTime,
        folder: str,
        *,
        subject: str,
        body: str = "",
        sender: str = "",
        attachments: Sequence[tuple[str, bytes]] = (),
        associated: bool = False,
    ) -> str:
        """A new message; its id (spec: CN-2)."""
        posted = Post(subject, body, sender, tuple(attachments))
        with self._stimulus(now) as (ctx, s):
            return changes.post(ctx, s, folder, [posted], fai=associated)[0]

    def post_batch(self, now: LabTime, folder: str, posts: Sequence[Post]) -> list[str]:
        """New messages in one transaction; their ids."""
        with self._stimulus(now) as (ctx, s):
            return changes.post(ctx, s, folder, posts)

    def edit(
        self, now: LabTime, folder: str, message: str, *, subject: str | None = None, body: str | None = None
    ) -> str:
        """A new version, covering every one kept; its change number (spec: CF-3)."""
        with self._stimulus(now) as (ctx, s):
            return changes.edit(ctx, s, folder, message, subject=subject, body=body)

    def delete(self, now: LabTime, folder: str, message: str) -> str:
        """Deletes a message; the deletion's change number (spec: DL-1)."""
        with self._stimulus(now) as (ctx, s):
            return changes.delete(ctx, s, folder, message)

    def resolve(self, now: LabTime, folder: str, message: str, keep: str) -> list[str]:
        """Ends a conflict: `keep` is the change of one version, or 'all' (spec: CF-3)."""
        with self._stimulus(now) as (ctx, s):
            return changes.resolve(ctx, s, folder, message, keep)

    def create_folder(
        self,
        now: LabTime,
        path: str,
        *,
        replicas: Sequence[str] | None = None,
        schedule: str | None = None,
        contacts: Sequence[str] = (),
        priority: str = "normal",
    ) -> str:
        """A new folder; its id."""
        with self._stimulus(now) as (ctx, s):
            return foldering.create(
                ctx, s, path, replicas=replicas, schedule=schedule, contacts=contacts, priority=priority
            )

    def change_folder(
        self,
        now: LabTime,
        path: str,
        *,
        rename: str | None = None,
        move_to: str | None = None,
        schedule: str | None = None,
        contacts: Sequence[str] | None = None,
        priority: str | None = None,
        replicas: Sequence[str] | None = None,
    ) -> str:
        """Changes a folder's properties, its replica list among them; the change number."""
        with self._stimulus(now) as (ctx, s):
            return foldering.change(
                ctx,
                s,
                path,
                rename=rename,
                move_to=move_to,
                schedule=schedule,
                contacts=contacts,
                priority=priority,
                replicas=replicas,
            )

    def delete_folder(self, now: LabTime, path: str) -> None:
        """Deletes a folder and everything under it (spec: HI-6)."""
        with self._stimulus(now) as (ctx, s):
            foldering.delete(ctx, s, path)

    def configure(self, now: LabTime, values: Mapping[str, RawSetting]) -> None:
        """New settings of this store: directory values hold at once, registry values at the next start (spec: SE-1)."""
        with self._stimulus(now) as (ctx, s):
            store_settings(s.conn, values)
            settings = self._config.settings.changed(read_at_once(values))
            config = config_from(self._config.profile, settings)
            ctx.config, ctx.mta.policy = config, config.mail_policy
            for fid in ctx.rst.held_fids():  # what waits goes by the schedules as they are now
                outgoing.reschedule(ctx, s, fid)
            for name in values:
                spec = find_spec(name)
                value, default = settings.text(name), value_text(spec, spec.default)
                s.trace.record(SettingValue, name=spec.name, value=value, default=default)
        self._config = config

    def join(self, now: LabTime, store: str) -> None:
        """A store that joins later is in the directory now."""
        with self._stimulus(now) as (ctx, s):
            agent.joined(ctx, s, store)

    # -- drivers

    def mail_in(self, now: LabTime, hop: IncomingHop, sender: str, recipients: Sequence[str], content: bytes) -> None:
        """A mail from SMTP. It returns when the mail is durable here (spec: IN-2); MailRefused if it is not taken."""
        subject, message_id = subject_and_id(content)
        try:
            with self._stimulus(now) as (ctx, s):
                fault = self._fault(sender, recipients, subject, s.now)
                if fault is not None:
                    s.trace.record(
                        HopDropped, mail=message_id, fault=fault, sender=sender, recipients=tuple(recipients)
                    )
                    return
                self._deliver(
                    ctx,
                    s,
                    ctx.mta.accept(s, hop, sender, recipients, content, message_id=message_id, subject=subject),
                )
        except RefusalError as error:
            raise MailRefused(error.code, error.text) from error

    def _fault(self, sender: str, recipients: Sequence[str], subject: str, now: LabTime) -> str | None:
        if self._arrivals is None:
            return None
        return self._arrivals.on_arrival(node=self.name, sender=sender, recipients=recipients, subject=subject, now=now)

    def _deliver(self, ctx: Context, s: Stimulus, deliveries: Sequence[LocalDelivery]) -> None:
        agent.deliver(ctx, s, deliveries)

    def check_recipient(self, address: str) -> None:
        """MailRefused if the address is nobody's in the organization (spec: ML-7)."""
        if self._ctx is None:
            raise NotRunning(f"store {self.name} is not running")
        try:
            self._ctx.mta.check_recipient(address)
        except RefusalError as error:
            raise MailRefused(error.code, error.text) from error

    def tick(self, now: LabTime) -> None:
        """Does everything due at `now`."""
        with self._stimulus(now) as (ctx, s):
            self._deliver(ctx, s, ctx.mta.tick(s))
            agent.tick(ctx, s)

    def outgoing(self, now: LabTime, limit: int = 100, busy: frozenset[int] = frozenset()) -> list[Transmission]:
        """Mails due for the next server; `busy` are those that the driver is carrying already."""
        with self._reading() as (ctx, conn):
            return ctx.mta.ready(conn, now, limit, busy)

    def hop_done(self, now: LabTime, queue_id: int) -> None:
        """The next server answered 250."""
        with self._stimulus(now) as (ctx, s):
            self._deliver(ctx, s, ctx.mta.delivered(s, queue_id))

    def hop_failed(self, now: LabTime, queue_id: int, reason: str, permanent: bool = False) -> None:
        """The attempt failed."""
        with self._stimulus(now) as (ctx, s):
            self._deliver(ctx, s, ctx.mta.deferred(s, queue_id, reason, permanent=permanent))

    def hop_concluded(self, now: LabTime, queue_id: int, outcome: SendOutcome) -> None:
        """The end of an attempt as the SMTP sender tells it: each recipient may have a fate of its own."""
        with self._stimulus(now) as (ctx, s):
            self._deliver(ctx, s, ctx.mta.concluded(s, queue_id, outcome))

    def hop_held(self, now: LabTime, queue_id: int, until_at: LabTime) -> None:
        """A fault keeps the mail back."""
        with self._stimulus(now) as (ctx, s):
            ctx.mta.hold(s, queue_id, until_at)

    def next_due(self) -> LabTime | None:
        """When this node has something to do; None if never."""
        with self._reading() as (ctx, conn):
            due = [at for at in (next_due(conn), ctx.mta.next_due(conn)) if at is not None]
            return min(due, default=None)

    # -- reads

    @contextmanager
    def _reading(self) -> Iterator[tuple[Context, Connection]]:
        if self._ctx is None:
            raise NotRunning(f"store {self.name} is not running")
        with self._database.reading() as conn:
            yield self._ctx, conn

    def folders(self) -> list[FolderView]:
        with self._reading() as (ctx, _):
            return look.folders(ctx)

    def messages(self, folder: str) -> list[MessageView]:
        with self._reading() as (ctx, conn):
            return look.messages(ctx, conn, folder)

    def count(self, folder: str) -> int:
        """How many live messages the folder has here; a query, whatever their number."""
        with self._reading() as (ctx, conn):
            return look.count(ctx, conn, folder)

    def body(self, folder: str, message: str) -> str:
        with self._reading() as (ctx, conn):
            return look.body(ctx, conn, folder, message)

    def state(self, folder: str) -> StateView:
        with self._reading() as (ctx, _):
            return look.state(ctx, folder)

    def backfill(self) -> list[EntryView]:
        with self._reading() as (ctx, conn):
            return look.backfill_array(ctx, conn)

    def queue(self) -> list[QueueView]:
        with self._reading() as (ctx, conn):
            return look.queue(ctx, conn)

    def bad_mail(self) -> list[BadMailView]:
        with self._reading() as (_, conn):
            return look.bad_mail(conn)

    def mailbox(self) -> list[NoticeView]:
        with self._reading() as (_, conn):
            return look.mailbox(conn)

    def knowledge(self, folder: str) -> Knowledge:
        with self._reading() as (ctx, conn):
            return look.knowledge(ctx, conn, folder)

    def export(self) -> None:
        """Writes the events not yet written as a closed segment, and only then prunes them."""
        if self.traces_dir is None:
            return
        export_events(self._database, self.name, self.traces_dir)
