"""The life of a node: its database, its state in memory, its starts and ends, and the transaction around a stimulus.

A stimulus is one transaction: state, events and outgoing mail commit together or not at all. Memory is a cache of the
tables; after a rollback it is thrown away and read anew, so there is no other recovery code.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from node.agent import agent, initial_state, store_restore
from node.agent.backfill_sources import tell_ignored
from node.agent.store_restore import Continued
from node.codec.signing import Identity
from node.errors import CannotWrite, Crashed, Misuse, NodeError, NotRunning
from node.seeded_ids import guid_from
from node.state import application_log
from node.state.context import Context
from node.state.database import Database, Durability, cannot_write
from node.state.store_identity import Begins, StoreState
from node.state.store_settings import Config, config_of, stored_settings
from node.state.timers import Timer
from node.store import idempotency
from node.store.queries import StoreReader
from node.store.trace_export import EVENTS_BYTES, events_after, export_events
from topology.model import Topology
from traces import LabTime, Recorder
from traces.events import NodeStarted, NodeStopped, SettingValue
from traces.events.header import Event
from transport.envelope import RefusalError
from transport.errors import CodecError
from transport.sql import Connection
from transport.stimulus import Stimulus


class StoreLife(StoreReader):
    """Starts, stops and restores a store's database and state, and wraps each stimulus in its transaction."""

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
        self._on_events = on_events
        self._real_time = real_time
        self._config: Config = config_of(topology, name)
        self._ctx: Context | None = None
        self._trace: Recorder | None = None
        self._unread = False
        self._stimuli = 0
        self._mail_due: tuple[int, LabTime | None] = (-1, None)
        self._open: tuple[Context, Stimulus] | None = None
        """Of the database that a restore has replaced."""

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
        self._unread = False
        self._database.drop_connections()

    def close(self, now: LabTime) -> None:
        try:
            with self._stimulus(now) as (_, s):
                s.trace.record(NodeStopped, how="stop")
            self.export()
        finally:  # where that cannot be written the store has ended all the same, as if it had been killed
            self._ctx = self._trace = None
            self._unread = False
            self._database.close()

    def backup(self) -> bytes:
        """The database as it stands, for `restore`."""
        return self._database.copy()

    def restore(self, now: LabTime, backup: bytes) -> None:
        """The start of a stopped or abandoned node on a backup (spec: RP-4). Misuse if it is no database of a node.

        A backup older than a tombstone may get is not restored: the store begins as new (spec: DL-4, RP-3).
        """
        self._database.open()
        conn = self._database.reading()
        known = StoreState(conn)
        unsent = store_restore.unsent(conn)
        given = stored_settings(conn)
        self.export()
        continued = Continued(known.incarnation, known.seq, known.lamport, known.last_at, given, unsent)
        settings = self._config.settings

        def prepare(conn: Connection) -> None:
            store_restore.prepare(conn, continued, self._seed, new_guid=settings.new_guid_on_restore)

        try:
            if now - Database.made_at(backup) < self._shortest_tombstone_age_us():
                self._database.replace(backup, prepare)
            else:
                self._database.replace(
                    None, lambda conn: store_restore.prepare_anew(conn, continued, self.name, self._seed)
                )
        except (sqlite3.DatabaseError, LookupError) as error:
            raise Misuse(f"this is no backup of {self.name}: {error}") from None
        self._start(now)

    def _shortest_tombstone_age_us(self) -> int:
        """Any store may have dropped a tombstone by then that the backup never knew (spec: DL-4)."""
        others = (server.settings.tombstone_age_us for server in self._topology.servers.values())
        return min(self._config.settings.tombstone_age_us, *others)

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
        store_restore.tell_losses(ctx, s)
        later = self._topology.servers[self.name].joins_later or begins is Begins.ANEW
        if first:
            self._first_start(ctx, s, later=later)
        tell_ignored(ctx, s)
        missed = _missed_check(s.conn, s.now)
        agent.started(ctx, s, first=first, joins_later=later, restored=restored, missed_check=missed)

    def _tell_settings(self, s: Stimulus) -> None:
        """Values are read at store start (spec: SE-1); the trace names those that somebody changed."""
        for each in self._config.settings.not_default():
            s.trace.record(SettingValue, name=each.spec.name, value=each.value, default=each.default)

    def _first_start(self, ctx: Context, s: Stimulus, *, later: bool) -> None:
        for store in self._topology.servers_from_start():
            ctx.directory.join(s, store, s.now)
        ctx.directory.join(s, self.name, s.now)
        initial_state.begin(ctx, s, self._topology, later=later)

    def _load(self) -> Context:
        with self._database.writing() as conn:
            return Context.load(
                conn,
                self.name,
                self._topology,
                config=self._config,
                seed=self._seed,
                identity=self._identity,
                replica_limits=initial_state.replica_limits(self._topology, self.name),
            )

    # -- one stimulus

    @contextmanager
    def _stimulus(self, now: LabTime) -> Iterator[tuple[Context, Stimulus]]:
        if self._open is not None:  # a part of `once`
            yield self._open
            return
        ctx, trace = self._present(), self._trace
        assert trace is not None, "it is made with the context"
        self._stimuli += 1
        now = max(now, ctx.store.last_at)
        trace.begin(now)
        try:
            with self._database.writing() as conn:
                yield ctx, Stimulus(conn, now, trace)
                self._finish(ctx, trace, conn, now)
        except BaseException as error:
            trace.discard()
            # Whatever was in memory may be ahead of the tables now: it is read anew.
            if not isinstance(error, RefusalError):  # a refused mail has changed nothing, in memory either
                self._ctx, self._unread = None, not isinstance(error, Crashed)
            if isinstance(error, Exception) and cannot_write(error):
                raise CannotWrite(self.name, error) from error
            if isinstance(error, Exception) and not isinstance(error, NodeError | RefusalError | CodecError):
                self._log_failure(now, error)
            if isinstance(error, CodecError):
                raise Misuse(f"it cannot be written into a mail: {error}") from error
            raise
        if self._on_events is not None and (events := trace.events):
            self._on_events(events)
        if self.crash_at == "after commit":
            self.crash_at = None
            raise Crashed(f"{self.name} after commit")

    def _present(self) -> Context:
        """The state in memory, read from the tables again where it was thrown away. CannotWrite if that fails,
        NotRunning if the store is stopped."""
        if self._unread:
            try:
                self._ctx = self._load()
            except (sqlite3.OperationalError, OSError) as error:
                raise CannotWrite(self.name, error) from error
            self._unread = False
        if self._ctx is None:
            raise NotRunning(f"store {self.name} is not running")
        return self._ctx

    def _opened(self) -> tuple[Context, Connection]:
        return self._present(), self._database.reading()

    def _log_failure(self, now: LabTime, error: Exception) -> None:
        """Event 3079: a stimulus ended in an error that nobody expected (spec: EV-1). The error itself goes its way."""
        with suppress(sqlite3.Error, SQLAlchemyError), self._database.writing() as conn:
            application_log.write(conn, now, 3079, application_log.failure_values(error))

    def _finish(self, ctx: Context, trace: Recorder, conn: Connection, now: LabTime) -> None:
        first_seq = ctx.store.seq + 1
        application_log.log_traced(ctx, conn, now, trace.recorded())
        ctx.store.last_at = now
        ctx.store.seq, ctx.store.lamport = trace.seq, trace.lamport
        ctx.save(conn)
        lines = trace.take()
        if lines:
            conn.exec_driver_sql(
                "INSERT INTO event (seq, incarnation, batch) VALUES (?, ?, ?)",
                (first_seq, ctx.store.incarnation, lines),
            )
        if self.crash_at == "before commit":
            self.crash_at = None
            raise Crashed(f"{self.name} before commit")

    def once(self, now: LabTime, key: str, request: bytes, act: Callable[[LabTime], bytes]) -> bytes:
        """Do `act` in one stimulus, once for all time that `key` is remembered; its answer, or the one of the first time.

        `act` calls methods of this node. `request`: a digest of what is asked. KeyReused if the key stands for another.
        """
        with self._stimulus(now) as (ctx, s):
            answer = idempotency.known(s.conn, key, request, s.now)
            if answer is None:
                self._open = (ctx, s)
                try:
                    answer = act(s.now)
                finally:
                    self._open = None
                idempotency.keep(s.conn, key, request, answer, s.now)
            return answer

    @property
    def stimuli(self) -> int:
        """How many stimuli there were since this object was made: its state is another only when this is."""
        return self._stimuli

    @property
    def seq(self) -> int:
        """The number of the last event committed; NotRunning if the store is stopped."""
        return self._present().store.seq

    def events_after(self, seq: int, limit_bytes: int = EVENTS_BYTES) -> list[tuple[int, bytes]]:
        """Events from number `seq` + 1 on, as their number and JSON line; more than `limit_bytes` come with the next
        call. Those that have left the database are read from the closed segments."""
        _, conn = self._opened()
        return events_after(conn, self.name, self.traces_dir, seq, limit_bytes)

    def _mail_due_at(self, ctx: Context, conn: Connection) -> LabTime | None:
        """When the first mail is due to leave; looked up once between two stimuli, for it is asked with every tick."""
        if self._mail_due[0] != self._stimuli:
            self._mail_due = (self._stimuli, ctx.mta.next_due(conn))
        return self._mail_due[1]

    def export(self) -> None:
        """Writes the events not yet written as a closed segment, and only then prunes them. CannotWrite if there is no
        room: they stay where they are for the next time."""
        if self.traces_dir is None:
            return
        try:
            export_events(self._database, self.name, self.traces_dir)
        except (sqlite3.OperationalError, OSError) as error:
            if not cannot_write(error):
                raise
            raise CannotWrite(self.name, error) from error


def _missed_check(conn: Connection, now: LabTime) -> bool:
    """A status check came due while the store was stopped (spec: ST-1)."""
    due_at = conn.exec_driver_sql(
        "SELECT due_at FROM timer WHERE kind = ? AND key = 0", (Timer.STATUS_CHECK.value,)
    ).scalar()
    return due_at is not None and due_at < now
