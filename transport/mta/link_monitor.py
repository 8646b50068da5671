"""What one server knows of the connectors: who says that which is down, and whom it still has to tell.

Part of the MTA: the tables hold everything, memory is a copy of them that is read at the start and thrown away with the
rest when a stimulus is rolled back. A link whose next hop could not be reached several times in a row is down; the server
that found it so tells its neighbours, who tell theirs, and looks after it at every retry interval until somebody answers.
Telling and looking after are one thing, a *call*: a transmission without a mail.

# spec: RT-2
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from topology.routing import NextHop, Routing
from traces.events import LinkDown, LinkUp
from traces.labtime import DAY_US, MINUTE_US, LabTime
from transport.envelope import Priority, Transmission
from transport.mta.retry_policy import MtaPolicy
from transport.mta.routing import opening
from transport.protocol.link_state import LinkReport, LinkRule, line_of
from transport.sql import Connection
from transport.stimulus import Stimulus

APART_US: Final = MINUTE_US
"""Failures nearer to each other than this count as one (decision, after the SMTP service's glitch retry: three tries at
60 seconds), else ten mails that leave together would take a line down at its first hiccup."""

AHEAD_US: Final = DAY_US
"""A report from so far in the future is not taken: nothing could ever replace it. Clocks of servers differ by less."""

_SELECT_REPORTS = "SELECT connector, server, at, down, lamport FROM mta_link_report ORDER BY connector, server"
_SELECT_CALLS = "SELECT id, next_hop, connector, due_at, attempts FROM mta_link_call ORDER BY id"
_SELECT_FAILURES = "SELECT connector, failures, failed_at FROM mta_link_failure ORDER BY connector"
_SET_REPORT = "INSERT OR REPLACE INTO mta_link_report (connector, server, at, down, lamport) VALUES (?, ?, ?, ?, ?)"
_SET_FAILURES = "INSERT OR REPLACE INTO mta_link_failure (connector, failures, failed_at) VALUES (?, ?, ?)"
_DROP_FAILURES = "DELETE FROM mta_link_failure WHERE connector = ?"
_ADD_CALL = "INSERT INTO mta_link_call (next_hop, connector, due_at, attempts) VALUES (?, ?, ?, ?)"
_HOLD_CALL = "UPDATE mta_link_call SET due_at = ? WHERE id = ?"
_DROP_CALL = "DELETE FROM mta_link_call WHERE id = ?"


@dataclass(frozen=True, slots=True)
class Call:
    """A talk to have with the next server, at `due_at` or later. Its transmission has the number -`id`."""

    id: int
    next_hop: str
    connector: str | None
    due_at: LabTime
    attempts: int = 0


class Links:
    """The links as `server` knows them. `routing`: the routes while nothing is down."""

    def __init__(self, server: str, routing: Routing, policy: MtaPolicy) -> None:
        self.server = server
        self.policy = policy
        self._routing = routing
        self._reports: dict[tuple[str, str], LinkReport] = {}
        self._failures: dict[str, tuple[int, LabTime]] = {}
        self._calls: dict[int, Call] = {}
        self._matters: dict[str, bool] = {}
        self._lines: tuple[str, ...] = ()

    def recall(self, conn: Connection) -> None:
        """Reads what the tables have."""
        for connector, server, at, down, lamport in conn.exec_driver_sql(_SELECT_REPORTS):
            self._reports[connector, server] = LinkReport(connector, server, at, bool(down), lamport)
        for call in conn.exec_driver_sql(_SELECT_CALLS):
            self._calls[call[0]] = Call(*call)
        for connector, failures, failed_at in conn.exec_driver_sql(_SELECT_FAILURES):
            self._failures[connector] = (failures, failed_at)
        self._write_lines()

    # --- what it knows

    @property
    def _takes_part(self) -> bool:
        return self.policy.link_rule is not LinkRule.IGNORED and self._routing.tells_links

    @property
    def lines(self) -> tuple[str, ...]:
        """All that it knows, as others are told."""
        return self._lines if self._takes_part else ()

    @property
    def down(self) -> frozenset[str]:
        """The connectors that mail is not to take."""
        if not self._takes_part:
            return frozenset()
        said = frozenset(report.connector for report in self._reports.values() if report.down)
        if said and self.policy.link_rule is LinkRule.TOLD_IF_ANOTHER_WAY:
            return self._routing.bridged(said)
        return said

    def _own(self, connector: str) -> LinkReport | None:
        return self._reports.get((connector, self.server))

    def _is_down(self, connector: str | None) -> bool:
        own = None if connector is None else self._own(connector)
        return own is not None and own.down

    # --- what it sees; each returns whether it learnt anything

    def failed(self, s: Stimulus, connector: str, reason: str) -> bool:
        """Nobody answered at the other end of a connector."""
        if not self._watched(connector):
            return False
        failures, failed_at = self._failures.get(connector, (0, s.now - APART_US))
        if s.now < failed_at + APART_US:
            return False
        self._failures[connector] = (failures + 1, s.now)
        s.conn.exec_driver_sql(_SET_FAILURES, (connector, failures + 1, s.now))
        if failures + 1 < self.policy.link_retries or self._is_down(connector):
            return False
        self._report(s, connector, down=True, reason=reason)
        self._look_after(s, connector)
        return True

    def reached(self, s: Stimulus, connector: str) -> bool:
        """The other end of a connector answered."""
        if self._failures.pop(connector, None) is not None:
            s.conn.exec_driver_sql(_DROP_FAILURES, (connector,))
        if not self._is_down(connector):
            return False
        self._report(s, connector, down=False, reason="")
        return True

    def heard(self, s: Stimulus, peer: str, reports: Iterable[LinkReport]) -> bool:
        """`peer`, which has proven to be that store, told of links. What is no link of the organization, or nothing new,
        is passed over."""
        news = [report for report in reports if self._is_news(report, s.now)]
        for report in news:
            s.trace.lamport_seen(report.lamport)
            self._keep(s, report, "")
            if report.server == self.server and report.down:  # said before a restore, and forgotten by it
                self._look_after(s, report.connector)
        if news:
            self._tell(s, peer)
        return bool(news)

    def _watched(self, connector: str) -> bool:
        """Whether it matters that a connector is down: relays tell nothing, and the only way is always taken."""
        if not self._takes_part or connector in self._routing.relays:
            return False
        if self.policy.link_rule is LinkRule.TOLD:
            return True
        if connector not in self._matters:
            self._matters[connector] = bool(self._routing.bridged(frozenset({connector})))
        return self._matters[connector]

    def _is_news(self, report: LinkReport, now: LabTime) -> bool:
        connector = self._routing.connector(report.connector)
        known = self._reports.get((report.connector, report.server))
        return (
            self._takes_part
            and connector is not None
            and self._routing.has(report.server)
            and self._routing.crosses(report.server, connector)
            and report.at <= now + AHEAD_US
            and (report.down if known is None else report.at > known.at)
        )

    def _report(self, s: Stimulus, connector: str, *, down: bool, reason: str) -> None:
        known = self._own(connector)
        at = s.now if known is None else max(s.now, known.at + 1)
        self._keep(s, LinkReport(connector, self.server, at, down, s.trace.lamport), reason)
        self._tell(s, "")

    def _keep(self, s: Stimulus, report: LinkReport, reason: str) -> None:
        self._reports[report.connector, report.server] = report
        values = (report.connector, report.server, report.at, int(report.down), report.lamport)
        s.conn.exec_driver_sql(_SET_REPORT, values)
        self._write_lines()
        if report.down:
            avoided = report.connector in self.down
            s.trace.record(LinkDown, connector=report.connector, by=report.server, reason=reason, avoided=avoided)
        else:
            s.trace.record(LinkUp, connector=report.connector, by=report.server)

    def _write_lines(self) -> None:
        self._lines = tuple(line_of(self._reports[key]) for key in sorted(self._reports))

    # --- calls

    def _tell(self, s: Stimulus, teller: str) -> None:
        """Calls up every neighbour but the one that told, and those whom nobody reaches."""
        for hop in self._routing.neighbours(self.server):
            if hop.server != teller and not self._is_down(_name(hop)):
                self._call(s, hop, s.now)

    def _look_after(self, s: Stimulus, connector: str) -> None:
        for hop in self._routing.neighbours(self.server):
            if _name(hop) == connector:
                self._call(s, hop, s.now + self.policy.normal.retry_us)

    def _call(self, s: Stimulus, hop: NextHop, at: LabTime, attempts: int = 0) -> None:
        """A call under a new number, so that the end of an older one, which knew less, does not end it."""
        if hop.connector is not None and hop.connector.schedule.is_never:
            return
        for call in [
            each for each in self._calls.values() if (each.next_hop, each.connector) == (hop.server, _name(hop))
        ]:
            self._drop(s, call)
        due_at = opening(hop, at) + (hop.connector.latency_us if hop.connector else 0)
        cursor = s.conn.exec_driver_sql(_ADD_CALL, (hop.server, _name(hop), due_at, attempts))
        assert cursor.lastrowid is not None
        self._calls[cursor.lastrowid] = Call(cursor.lastrowid, hop.server, _name(hop), due_at, attempts)

    def _drop(self, s: Stimulus, call: Call) -> None:
        s.conn.exec_driver_sql(_DROP_CALL, (call.id,))
        del self._calls[call.id]

    def hold(self, s: Stimulus, number: int, until_at: LabTime) -> None:
        """Keeps a call back until `until_at`."""
        call = self._calls.get(-number)
        if call is not None:
            s.conn.exec_driver_sql(_HOLD_CALL, (until_at, call.id))
            self._calls[call.id] = replace(call, due_at=until_at)

    def called(self, s: Stimulus, number: int, *, answered: bool) -> bool:
        """The end of a call; whether anything was learnt by it. A call that is no longer to be made is passed over."""
        call = self._calls.get(-number)
        if call is None:
            return False
        if answered:
            self._drop(s, call)
            return call.connector is not None and self.reached(s, call.connector)
        if call.attempts + 1 >= self.policy.link_retries and not self._is_down(call.connector):
            self._drop(s, call)  # mail will tell it
        else:
            self._drop(s, call)
            retry_at = s.now + self.policy.normal.retry_us
            hops = self._routing.neighbours(self.server)
            hop = next(each for each in hops if (each.server, _name(each)) == (call.next_hop, call.connector))
            self._call(s, hop, retry_at, call.attempts + 1)
        return False

    def due(
        self, now: LabTime, limit: int, busy: Collection[int] = (), crowded: Collection[str] = ()
    ) -> list[Transmission]:
        """The calls to make at `now`."""
        due = [call for call in self._calls.values() if call.due_at <= now]
        due = [call for call in due if -call.id not in busy and call.next_hop not in crowded]
        return [self._transmission(call, now) for call in due[:limit]]

    def next_due(self) -> LabTime | None:
        """When the next call is to be made."""
        return min((call.due_at for call in self._calls.values()), default=None)

    def _transmission(self, call: Call, now: LabTime) -> Transmission:
        return Transmission(
            queue_id=-call.id,
            next_hop=call.next_hop,
            connector=call.connector,
            sender="",
            recipients=(),
            content=b"",
            message_id="",
            subject="",
            attempts=call.attempts,
            priority=Priority.URGENT,
            sent_at=now,
            lamport=0,
            links=self.lines,
        )


def _name(hop: NextHop) -> str | None:
    return hop.connector.name if hop.connector is not None else None
