"""The life cycle of a store, and the transaction around each stimulus.

A stimulus is anything that changes a store: a user's request, an arriving mail, a timer, the end of an attempt to send.
Each stimulus is in one transaction. Its changes of state, its events and its outgoing mail commit together or not at all.

Stimuli that are ready together share a transaction (`together`), and their changes of one folder share a broadcast. If one
fails, all are rolled back; the one that failed runs again alone and raises its own error, and the others run again together. So
a stimulus that fails undoes only itself, and there is no state for a part of a transaction.

    post 1, post 2 (no such folder), post 3      one transaction, rolled back
    post 2                                       alone: FolderUnknown
    post 1, post 3                               one transaction, one commit, one mail

The state in memory (`Context`) is a cache of the tables. A store is in one of these states:

| state | database | `_ctx` | `_unread` |
|---|---|---|---|
| stopped | closed | None | False |
| running | open | the state as last committed | False |
| in a stimulus | in a transaction | ahead of the tables | False |
| rolled back | open, as last committed | None | True |

| transition | from, to |
|---|---|
| `open`, `reopen`, `restore` | stopped to running; the start is a stimulus itself |
| `_stimulus` begins, commits | running to in a stimulus, and back to running |
| `_stimulus` raises | in a stimulus to rolled back |
| `_stimulus` raises `RefusalError` | in a stimulus to running: a refused mail has changed nothing in memory |
| `_present` | rolled back to running: it reads the state from the tables again |
| `close`, `abandon`, a crash on demand | any to stopped |

Example: the disk fills up while a post is written. SQLite fails, `writing` rolls back, the recorder discards the events, and
the caller gets `CannotWrite`. The next stimulus or read loads the state from the tables. Nothing of the post is in them, and
the next change gets the change number that the post had.

What must never happen:

- An answer that a caller gets before the commit. So a stimulus returns only after its commit.
- A use of memory after a rollback, when memory is ahead of the tables. So a rollback sets `_ctx` to None.
- A call of `on_events` with events that were not committed. So `on_events` is called after the commit.
- Two stimuli at the same time. So nothing here awaits; only `once` and `together` contain other stimuli.
- An effect of a stimulus outside the store before the commit, because a shared stimulus may run twice.

Because of these rules, a process may be killed at any instruction and needs no recovery code except SQLite's own.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from node.agent import agent, store_restore
from node.agent.store_restore import Continued
from node.backfill.sources import record_ignored_setting
from node.codec.replication_message import mail_type
from node.codec.signing import Identity
from node.errors import CannotWrite, Crashed, Misuse, NodeError, NotRunning, OverLimit
from node.seeded_ids import guid_from
from node.state import application_log
from node.state.context import Context
from node.state.database import Database, Durability, cannot_write
from node.state.directory import is_server_of, known_organization
from node.state.store_identity import Begins, StoreState
from node.state.store_settings import Config, config_of, stored_settings
from node.store import idempotency, initial_state
from node.store.queries import StoreQueries
from node.store.trace_export import EVENTS_BYTES, events_after, export_events
from topology.model import Topology
from traces.events import NodeStarted, NodeStopped, PostRefused, SettingValue
from traces.events.header import Event
from traces.labtime import LabTime
from traces.recorder import Recorder
from transport.envelope import RefusalError
from transport.errors import CodecError
from transport.file_handles import refusal_words
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

HAS_REPLICA = Statement("SELECT 1 FROM replica")
ADD_EVENTS = Statement("INSERT INTO event (seq, incarnation, batch) VALUES (?, ?, ?)")


MOST_ATTEMPTS: Final = 3
"""How often stimuli try to share a transaction. After this many failures, each of them gets its own transaction."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a stimulus, or the error that it raised."""

    result: Any = None
    error: Exception | None = None


class _Undone(NodeError):
    """A stimulus failed that shared its transaction, so all of them were rolled back. place: which one failed."""

    def __init__(self, place: int) -> None:
        super().__init__(f"stimulus {place} failed")
        self.place = place


class StoreLife(StoreQueries):
    """Starts, stops and restores a store, and wraps each stimulus in its transaction."""

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
        self.mails_sent: Counter[tuple[str, str]] = Counter()
        self.bytes_sent: Counter[tuple[str, str]] = Counter()
        """What this store has sent since this object was made, by connector and type of mail."""
        self._real_time = real_time
        self._config: Config = config_of(topology, name)
        self._ctx: Context | None = None
        self._trace: Recorder | None = None
        self._unread = False
        self._stimuli = 0
        self._mail_due: tuple[int, LabTime | None] = (-1, None)
        self._open: tuple[Context, Stimulus] | None = None
        """The stimulus of `once` or `together`, while it runs other methods of this node."""

    # -- life

    def open(self, now: LabTime) -> None:
        """Start for the first time, or again after `close`. The next tick does everything that became due in between.

        Raises CannotWrite on a full disk; then the store is not open.
        """
        with self._opening():
            self._start(now)

    def reopen(self, now: LabTime) -> None:
        """Start again after `abandon`. Raises CannotWrite as `open` does."""
        self.open(now)

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Open the database for a start. If the start fails, abandon the store, so that another start can follow."""
        try:
            self._database.open()
            yield
        except Exception as error:
            self.abandon()
            if cannot_write(error):
                raise CannotWrite(self.name, refusal_words(error), starting=True) from error
            raise

    def abandon(self) -> None:
        """Crash: record no event and drop the state in memory. The database stays as last committed."""
        self._ctx = self._trace = None
        self._unread = False
        self._database.drop_connections()

    def close(self, now: LabTime) -> None:
        """Stop cleanly (event node.stopped) and export the events."""
        try:
            with self._stimulus(now) as (_, s):
                s.trace.record(NodeStopped, how="stop")
            self.export()
        finally:  # if the event cannot be written, the store still stops, as if it had been killed
            self._ctx = self._trace = None
            self._unread = False
            self._database.close()

    def backup(self) -> bytes:
        """Return a copy of the database, for `restore`."""
        return self._database.copy()

    def take_over(self, content: bytes) -> None:
        """Begin with a copy of a store's database, before the first `open`. Unlike `restore`, the store does not notice."""
        self._database.open()
        self._database.replace(content, lambda _: None)

    def go_on(self, content: bytes) -> None:
        """Run with a copy of the database of a running store. Neither store notices, and nothing is recorded."""
        self.take_over(content)
        with self._database.writing() as conn:
            state = StoreState(conn)
        self._read(state, state.last_at)

    def restore(self, now: LabTime, backup: bytes) -> None:
        """Start a stopped or abandoned store from a backup (spec: RP-4).

        A backup that is older than the tombstone lifetime is not used: the store begins as a new store (spec: DL-4, RP-3).
        So does a store that was created again, whose database is from `Database.of_new_store` (spec: RP-7).
        The backup of another server's store is only shown here (spec: RP-8).
        Raises Misuse if the backup is not the database of a store, CannotWrite on a full disk.
        """
        with self._refusing_backups():  # before anything of the store is touched
            made_at, new_object = Database.made_at(backup), Database.new_store_in(backup)
            elsewhere = Database.store_in(backup) != self.name
        with self._opening():
            self._restore(now, backup, made_at, new_object, elsewhere=elsewhere)

    @contextmanager
    def _refusing_backups(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, LookupError) as error:
            if cannot_write(error):
                raise
            raise Misuse(f"this is not a backup of {self.name}: {error}") from None

    def _restore(
        self, now: LabTime, backup: bytes, made_at: LabTime, new_object: int | None, *, elsewhere: bool
    ) -> None:
        conn = self._database.reading()
        state = StoreState(conn)
        # What another store replaces takes its changes with it.
        unsent = {} if elsewhere or new_object is not None else store_restore.unsent(conn)
        # Registry values belong to the server, and another one may have its name (spec: RP-7, RP-9).
        registry = stored_settings(conn) if is_server_of(self._topology, self.name, conn) else {}
        self.export()
        continued = Continued(state.incarnation, state.seq, state.lamport, state.last_at, registry, unsent)
        settings = self._config.settings

        def prepare(conn: Connection) -> None:
            store_restore.prepare(conn, continued, self._seed, new_guid=settings.new_guid_on_restore)

        with self._refusing_backups():
            if elsewhere:
                self._database.replace(
                    backup, lambda conn: store_restore.prepare_elsewhere(conn, continued, self.name, self._seed)
                )
            elif new_object is None and now - made_at < self._shortest_tombstone_age_us():
                self._database.replace(backup, prepare)
            else:
                number = state.directory_object if new_object is None else new_object
                self._database.replace(
                    None, lambda conn: store_restore.prepare_new(conn, continued, self.name, self._seed, number)
                )
        self._start(now)

    def _shortest_tombstone_age_us(self) -> int:
        """Return the age at which some store may drop a tombstone. An older backup may lack this tombstone (spec: DL-4)."""
        organization = known_organization(self._topology, self._database.reading())
        ages = (server.settings.tombstone_age_us for server in organization.servers.values())
        return min(self._config.settings.tombstone_age_us, *ages)

    def _start(self, now: LabTime) -> None:
        with self._database.writing() as conn:
            if not StoreState.exists(conn):
                StoreState.create(conn, self.name, guid_from(self._seed, "replica"), now)
            # The first start writes this store's row for the hierarchy. If the row is missing, a crash interrupted the
            # first start, and it is repeated.
            first = conn.exec_driver_sql(HAS_REPLICA).first() is None
            state = StoreState(conn)
            state.incarnation += 1
            state.save(conn)
        self._read(state, now)
        with self._stimulus(now) as (ctx, s):
            self._begin(ctx, s, first=first)

    def _read(self, state: StoreState, now: LabTime) -> None:
        """Read what a running store has in memory from its tables."""
        self._config = config_of(self._topology, self.name, stored_settings(self._database.reading()))
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

    def _begin(self, ctx: Context, s: Stimulus, *, first: bool) -> None:
        """Do the first stimulus of an incarnation."""
        begins, ctx.store.begins = ctx.store.begins, Begins.NOTHING
        restored = begins is Begins.RESTORED
        s.trace.record(
            NodeStarted,
            version=self._config.profile.version,
            replica_guid=ctx.store.guid.hex(),
            reason="restored" if restored else "first" if first else "restart",
        )
        self._tell_settings(s)
        store_restore.record_losses(ctx, s)
        if begins is not Begins.NOTHING:
            ctx.mta.report_links_up(s)
        later = self._topology.servers[self.name].joins_later or begins is Begins.AS_NEW
        if first:
            self._first_start(ctx, s, later=later)
        if ctx.store.copy_of is not None:
            ctx.directory.join(s, self.name)
        record_ignored_setting(ctx, s)
        missed = agent.missed_check(s)
        agent.started(ctx, s, first=first, joins_later=later, restored=restored, missed_check=missed)

    def _tell_settings(self, s: Stimulus) -> None:
        """Record the settings that differ from the default. The store reads its settings when it starts (spec: SE-1)."""
        for setting in self._config.settings.not_default():
            s.trace.record(SettingValue, name=setting.spec.name, value=setting.value, default=setting.default)

    def _first_start(self, ctx: Context, s: Stimulus, *, later: bool) -> None:
        ctx.directory.begin(s)  # spec: RT-6
        for store in self._topology.servers_from_start():
            if store != self.name or not ctx.store.directory_object:
                ctx.directory.join(s, store)
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
        if self._open is not None:  # within `once` or `together`
            yield self._open
            return
        ctx, trace = self._present(), self._trace
        assert trace is not None, "it is made with the context"
        self._stimuli += 1
        now = max(now, ctx.store.last_at)
        trace.begin(now)
        try:
            with self._database.writing() as conn:
                s = Stimulus(conn, now, trace)
                yield ctx, s
                agent.run_due_cycles(ctx, s)
                self._finish(ctx, trace, conn, now)
        except BaseException as error:
            trace.discard()
            # The state in memory may be ahead of the tables: `_present` reads it from them again.
            if not isinstance(error, RefusalError):  # a refused mail has changed nothing in memory
                self._ctx, self._unread = None, not isinstance(error, Crashed)
            if isinstance(error, Exception) and cannot_write(error):
                raise CannotWrite(self.name, refusal_words(error)) from error
            if isinstance(error, Exception) and not isinstance(error, NodeError | RefusalError | CodecError):
                self._log_failure(now, error)
            if isinstance(error, OverLimit):
                with self._stimulus(now) as (_, s):
                    s.trace.record(PostRefused, folder=error.folder, reason=str(error))
            if isinstance(error, CodecError):
                raise Misuse(f"the change cannot be written into a mail: {error}") from error
            raise
        for crossing in s.crossings:
            key = crossing.connector, mail_type(crossing.subject, system=crossing.system)
            self.mails_sent[key] += 1
            self.bytes_sent[key] += crossing.size
        if self._on_events is not None and (events := trace.events):
            self._on_events(events)
        if self.crash_at == "after commit":
            self.crash_at = None
            raise Crashed(f"{self.name} after commit")

    def _present(self) -> Context:
        """Return the state in memory. After a rollback, read it from the tables first.

        Raises NotRunning if the store is stopped, CannotWrite if the tables cannot be read.
        """
        if self._unread:
            try:
                self._ctx = self._load()
            except (sqlite3.OperationalError, OSError, MemoryError) as error:
                raise CannotWrite(self.name, refusal_words(error)) from error
            self._unread = False
        if self._ctx is None:
            raise NotRunning(f"store {self.name} is not running")
        return self._ctx

    def _opened(self) -> tuple[Context, Connection]:
        return self._present(), self._database.reading()

    def _log_failure(self, now: LabTime, error: Exception) -> None:
        """Log event 3079: a stimulus ended in an unexpected error (spec: EV-1). The caller raises the error again."""
        with suppress(sqlite3.Error, SQLAlchemyError), self._database.writing() as conn:
            application_log.write(self._config, conn, now, 3079, application_log.failure_values(error))

    def _finish(self, ctx: Context, trace: Recorder, conn: Connection, now: LabTime) -> None:
        first_seq = ctx.store.seq + 1
        application_log.log_traced(ctx, conn, now, trace.recorded())
        ctx.store.last_at = now
        ctx.store.seq, ctx.store.lamport = trace.seq, trace.lamport
        ctx.save(conn)
        lines = trace.take()
        if lines:
            conn.exec_driver_sql(
                ADD_EVENTS,
                (first_seq, ctx.store.incarnation, lines),
            )
        if self.crash_at == "before commit":
            self.crash_at = None
            raise Crashed(f"{self.name} before commit")

    def together(self, now: LabTime, acts: Sequence[Callable[[], Any]]) -> list[Outcome]:
        """Run stimuli that are ready together in one transaction, and return the outcome of each (see the module).

        acts: each calls methods of this node. It may run twice, so it has no effect outside the node.
        """
        assert self._open is None, "a group within a group could not be undone"
        outcomes = [Outcome()] * len(acts)
        pending = list(enumerate(acts))
        for _ in range(MOST_ATTEMPTS):
            if len(pending) < 2:
                break
            try:
                results = self._all_together(now, [act for _, act in pending])
            except _Undone as undone:
                place, act = pending.pop(undone.place)
                outcomes[place] = outcome_of(act)
            except Exception:
                break
            else:
                for (place, _), result in zip(pending, results, strict=True):
                    outcomes[place] = Outcome(result)
                return outcomes
        for place, act in pending:
            outcomes[place] = outcome_of(act)
        return outcomes

    def _all_together(self, now: LabTime, acts: Sequence[Callable[[], Any]]) -> list[Any]:
        results: list[Any] = []
        with self._stimulus(now) as opened, self._within(opened):
            for act in acts:
                try:
                    results.append(act())
                except Exception as error:
                    raise _Undone(len(results)) from error
        return results

    @contextmanager
    def _within(self, opened: tuple[Context, Stimulus]) -> Iterator[None]:
        """Let methods of this node run in an open stimulus."""
        before, self._open = self._open, opened
        try:
            yield
        finally:
            self._open = before

    def once(self, now: LabTime, key: str, request: bytes, act: Callable[[LabTime], bytes]) -> bytes:
        """Run `act` in one stimulus, unless this key was used before. Return its answer, or the stored answer.

        `act` calls methods of this node. `request` is a digest of the request. Raises KeyReused if the key was used for a
        different request.
        """
        with self._stimulus(now) as (ctx, s):
            answer = idempotency.known(s.conn, key, request, s.now)
            if answer is None:
                with self._within((ctx, s)):
                    answer = act(s.now)
                idempotency.keep(s.conn, key, request, answer, s.now)
            return answer

    @property
    def stimuli(self) -> int:
        """The number of stimuli since this object was made. If it is unchanged, the store's state is unchanged."""
        return self._stimuli

    @property
    def seq(self) -> int:
        """The number of the last committed event. Raises NotRunning if the store is stopped."""
        return self._present().store.seq

    def events_after(self, seq: int, limit_bytes: int = EVENTS_BYTES) -> list[tuple[int, bytes]]:
        """Return events from number `seq` + 1 on, as number and JSON line, up to about `limit_bytes`.

        Events that have been exported are read from the closed segments.
        """
        _, conn = self._opened()
        return events_after(conn, self.name, self.traces_dir, seq, limit_bytes)

    def _mail_due_at(self, ctx: Context, conn: Connection) -> LabTime | None:
        """Return when the first queued mail is due. The answer is kept until the next stimulus, because every tick needs it."""
        if self._mail_due[0] != self._stimuli:
            self._mail_due = (self._stimuli, ctx.mta.next_due(conn))
        return self._mail_due[1]

    def export(self) -> None:
        """Write the waiting events into a closed segment, then delete them from the database.

        Raises CannotWrite if the disk is full. The events then stay in the database until the next export.
        """
        if self.traces_dir is None:
            return
        try:
            export_events(self._database, self.name, self.traces_dir)
        except (sqlite3.OperationalError, OSError, MemoryError) as error:
            if not cannot_write(error):
                raise
            raise CannotWrite(self.name, refusal_words(error)) from error


def outcome_of(act: Callable[[], Any]) -> Outcome:
    """Run a stimulus and return its outcome."""
    try:
        return Outcome(act())
    except Exception as error:
        return Outcome(error=error)
