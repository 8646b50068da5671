"""The state of links, as one server knows it: which connectors are down, and which servers to inform.

A link is one end of a connector: the connector as one bridgehead sees it. The bridgehead keeps the state of its link:

=======  ==============================================================================
up       no failure since the last answer
failing  fewer failures in a row than the setting `link_retries`
down     `link_retries` failures in a row; a report says so
=======  ==============================================================================

==============  ===================================================  ======================================================
state           event                                                next state, and what the server does
==============  ===================================================  ======================================================
up, failing     `failed`: nobody answered                            failing, or down: report it, call the neighbours, and
                                                                     call over this connector after the retry interval
up, failing     `failed` within `APART_US` of the last failure       unchanged: many mails that fail together are one
                                                                     failure
failing         `reached`: somebody answered                         up
down            a call over it is not answered                       down: call again after the retry interval
down            `reached`: a mail or a call was answered             up: report it, call the neighbours
==============  ===================================================  ======================================================

A *report* says that a link is down, or up again. Each server keeps the newest report of each link; `receive` accepts the
reports of other servers and passes them on to all neighbours except the one that sent them. Only a later report of the same
server on the same connector replaces a report.

A *call* is a transmission without a mail. It has two purposes: to find out whether a link works again, and to give a
neighbour the reports. There is at most one call for each neighbour. A new call replaces the old one and gets a new number. A
call that is not answered is repeated after the retry interval: without end while the link is down, otherwise `link_retries`
times in all.

The version of the server decides which reports change the routes (`LinkRule`). In 5.5 and 2007 no report does. A 2000
server avoids every connector that is down. A 2003 server avoids a connector only if there is another way.

Example: the bridgehead A fails to reach C by SEA-NYC three times, a minute or more apart. A reports "SEA-NYC is down",
reroutes its queue by LON and calls its neighbours, B and L. Both store the report, change their routes and call their own
neighbours except A. Ten minutes later A calls C; C answers; A reports "SEA-NYC is up", and the mail takes the short way.

What must never happen:

- A mail that arrives before the report that explains its detour, because the server would send the mail back. So on each
  connection the reports go first.
- A link that stays down although it works. So while this server's own report says "down", there is a call over that connector.
  A restored server may have forgotten that it made such a report, so at its start it reports its links as up.
- An old report that replaces a newer one. So a report from the far future is not accepted (`AHEAD_US`).
- Two servers that judge links differently and send a mail back and forth. A relay does not pass on reports, and 5.5 and 2007
  ignore them. So servers report nothing if a ring of connectors has one of these (`Routing.tells_links`).

The tables contain everything. Memory has a copy of them, which is read at the start and discarded when a stimulus is rolled
back.

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
"""Failures closer together than this count as one (decision, after the SMTP service's glitch retry: three tries at
60 seconds). Otherwise ten mails that leave together would mark a link as down at its first failure."""

AHEAD_US: Final = DAY_US
"""A report from this far in the future is not accepted, because no later report could replace it. Clocks differ by less."""

_SELECT_REPORTS = "SELECT connector, server, at, down, lamport FROM mta_link_report ORDER BY connector, server"
_SELECT_CALLS = "SELECT id, next_hop, connector, due_at, attempts FROM mta_link_call ORDER BY id"
_SELECT_FAILURES = "SELECT connector, failures, failed_at FROM mta_link_failure ORDER BY connector"
_SET_REPORT = "INSERT OR REPLACE INTO mta_link_report (connector, server, at, down, lamport) VALUES (?, ?, ?, ?, ?)"
_SET_FAILURES = "INSERT OR REPLACE INTO mta_link_failure (connector, failures, failed_at) VALUES (?, ?, ?)"
_DROP_FAILURES = "DELETE FROM mta_link_failure WHERE connector = ?"
_ADD_CALL = "INSERT INTO mta_link_call (next_hop, connector, due_at, attempts) VALUES (?, ?, ?, ?)"
_HOLD_CALL = "UPDATE mta_link_call SET due_at = ? WHERE id = ?"
_DROP_CALL = "DELETE FROM mta_link_call WHERE id = ?"
_DROP_REPORT = "DELETE FROM mta_link_report WHERE connector = ? AND server = ?"


@dataclass(frozen=True, slots=True)
class Call:
    """A call to make at `due_at` or later. The `queue_id` of its transmission is -`id`."""

    id: int
    next_hop: str
    connector: str | None
    due_at: LabTime
    attempts: int = 0


class Links:
    """The links as `server` knows them.

    `routing`: the routes with every link up.
    """

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
        """Read the tables."""
        for connector, server, at, down, lamport in conn.exec_driver_sql(_SELECT_REPORTS):
            self._reports[connector, server] = LinkReport(connector, server, at, bool(down), lamport)
        for call in conn.exec_driver_sql(_SELECT_CALLS):
            self._calls[call[0]] = Call(*call)
        for connector, failures, failed_at in conn.exec_driver_sql(_SELECT_FAILURES):
            self._failures[connector] = (failures, failed_at)
        self._write_lines()

    def reorganize(self, s: Stimulus, routing: Routing) -> None:
        """Take the routes of a changed organization, with every link up. What is known of a link that is no longer there, or
        that another server crosses now, is forgotten."""
        # spec: RT-6
        self._routing, self._matters = routing, {}
        for connector, server in [key for key in self._reports if not self._exists(*key)]:
            s.conn.exec_driver_sql(_DROP_REPORT, (connector, server))
            del self._reports[connector, server]
        for connector in [name for name in self._failures if not self._exists(name, self.server)]:
            s.conn.exec_driver_sql(_DROP_FAILURES, (connector,))
            del self._failures[connector]
        near = {(hop.server, _name(hop)) for hop in routing.neighbours(self.server)}
        for call in [call for call in self._calls.values() if (call.next_hop, call.connector) not in near]:
            self._drop(s, call)
        self._write_lines()

    def _exists(self, name: str, server: str) -> bool:
        """Return whether there is a connector that `server` sends mail over."""
        connector = self._routing.connector(name)
        return connector is not None and self._routing.has(server) and self._routing.crosses(server, connector)

    # --- knowledge

    @property
    def _takes_part(self) -> bool:
        return self.policy.link_rule is not LinkRule.IGNORED and self._routing.tells_links

    @property
    def lines(self) -> tuple[str, ...]:
        """Return all reports as lines of X-LINK2STATE."""
        return self._lines if self._takes_part else ()

    @property
    def down(self) -> frozenset[str]:
        """Return the connectors that mail must avoid."""
        if not self._takes_part:
            return frozenset()
        connectors = frozenset(report.connector for report in self._reports.values() if report.down)
        if connectors and self.policy.link_rule is LinkRule.TOLD_IF_ANOTHER_WAY:
            return self._routing.bridged(connectors)
        return connectors

    def _own(self, connector: str) -> LinkReport | None:
        return self._reports.get((connector, self.server))

    def _is_down(self, connector: str | None) -> bool:
        own = None if connector is None else self._own(connector)
        return own is not None and own.down

    # --- observations; each method returns whether the reports changed

    def failed(self, s: Stimulus, connector: str, reason: str) -> bool:
        """Count a failure of a connector: the other end did not answer."""
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
        self._call_over(s, connector)
        return True

    def reached(self, s: Stimulus, connector: str) -> bool:
        """Record that the other end of a connector answered."""
        if self._failures.pop(connector, None) is not None:
            s.conn.exec_driver_sql(_DROP_FAILURES, (connector,))
        if not self._is_down(connector):
            return False
        self._report(s, connector, down=False, reason="")
        return True

    def receive(self, s: Stimulus, peer: str, reports: Iterable[LinkReport]) -> bool:
        """Apply reports from the authenticated store `peer`.

        A report of a link that the organization does not have, or that is not new, is ignored.
        """
        news = [report for report in reports if self._is_news(report, s.now)]
        for report in news:
            s.trace.lamport_seen(report.lamport)
            self._store(s, report, "")
        if news:
            self._call_neighbours(s, peer)
        return bool(news)

    def report_up(self, s: Stimulus) -> None:
        """Report every link of this server that is not known to be down as up.

        A restored server has forgotten the reports that it made after its backup. If one of them says "down", nobody else can
        take it back, and the others may have no other way to this server.
        """
        hops = self._routing.neighbours(self.server)
        for connector in sorted({name for hop in hops if (name := _name(hop)) is not None}):
            if self._watched(connector) and not self._is_down(connector):
                self._report(s, connector, down=False, reason="")

    def _watched(self, connector: str) -> bool:
        """Return whether the state of a connector matters. A relay reports nothing, and mail never avoids the only way."""
        if not self._takes_part or connector in self._routing.relays:
            return False
        if self.policy.link_rule is LinkRule.TOLD:
            return True
        if connector not in self._matters:
            self._matters[connector] = bool(self._routing.bridged(frozenset({connector})))
        return self._matters[connector]

    def _is_news(self, report: LinkReport, now: LabTime) -> bool:
        old_report = self._reports.get((report.connector, report.server))
        return (
            self._takes_part
            and self._exists(report.connector, report.server)
            and report.at <= now + AHEAD_US
            and (report.down if old_report is None else report.at > old_report.at)
        )

    def _report(self, s: Stimulus, connector: str, *, down: bool, reason: str) -> None:
        old_report = self._own(connector)
        at = s.now if old_report is None else max(s.now, old_report.at + 1)
        self._store(s, LinkReport(connector, self.server, at, down, s.trace.lamport), reason)
        self._call_neighbours(s, "")

    def _store(self, s: Stimulus, report: LinkReport, reason: str) -> None:
        old_report = self._reports.get((report.connector, report.server))
        self._reports[report.connector, report.server] = report
        values = (report.connector, report.server, report.at, int(report.down), report.lamport)
        s.conn.exec_driver_sql(_SET_REPORT, values)
        self._write_lines()
        if report.down:
            was_down = report.connector in self.down
            s.trace.record(LinkDown, connector=report.connector, by=report.server, reason=reason, avoided=was_down)
        elif old_report is not None and old_report.down:
            s.trace.record(LinkUp, connector=report.connector, by=report.server)

    def _write_lines(self) -> None:
        self._lines = tuple(line_of(self._reports[key]) for key in sorted(self._reports))

    # --- calls

    def _call_neighbours(self, s: Stimulus, reporter: str) -> None:
        """Call every neighbour except `reporter` and those behind a link that is down."""
        for hop in self._routing.neighbours(self.server):
            if hop.server != reporter and not self._is_down(_name(hop)):
                self._call(s, hop, s.now)

    def _call_over(self, s: Stimulus, connector: str) -> None:
        """Call the neighbours behind a connector after the retry interval."""
        for hop in self._routing.neighbours(self.server):
            if _name(hop) == connector:
                self._call(s, hop, s.now + self.policy.normal.retry_us)

    def _call(self, s: Stimulus, hop: NextHop, at: LabTime, attempts: int = 0) -> None:
        """Add a call in place of an older one. The new call has a new number, so the end of the older call does not end it."""
        if hop.connector is not None and hop.connector.schedule.is_never:
            return
        for call in [
            call for call in self._calls.values() if (call.next_hop, call.connector) == (hop.server, _name(hop))
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
        """Make a call wait until `until_at`, because of the delay fault."""
        call = self._calls.get(-number)
        if call is not None:
            s.conn.exec_driver_sql(_HOLD_CALL, (until_at, call.id))
            self._calls[call.id] = replace(call, due_at=until_at)

    def call_ended(self, s: Stimulus, number: int, *, answered: bool) -> bool:
        """Record the end of a call, and return whether the reports changed. The end of a call that was replaced is ignored."""
        call = self._calls.get(-number)
        if call is None:
            return False
        self._drop(s, call)
        if answered:
            return call.connector is not None and self.reached(s, call.connector)
        # After the last attempt there is no further call; the reports go with the next mail.
        if call.attempts + 1 < self.policy.link_retries or self._is_down(call.connector):
            retry_at = s.now + self.policy.normal.retry_us
            hops = self._routing.neighbours(self.server)
            hop = next(hop for hop in hops if (hop.server, _name(hop)) == (call.next_hop, call.connector))
            self._call(s, hop, retry_at, call.attempts + 1)
        return False

    def due(
        self, now: LabTime, limit: int, busy: Collection[int] = (), crowded: Collection[str] = ()
    ) -> list[Transmission]:
        """Return the calls to make at `now`."""
        calls = [call for call in self._calls.values() if call.due_at <= now]
        calls = [call for call in calls if -call.id not in busy and call.next_hop not in crowded]
        return [self._transmission(call, now) for call in calls[:limit]]

    def next_due(self) -> LabTime | None:
        """Return when the next call is due; None if there is none."""
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
