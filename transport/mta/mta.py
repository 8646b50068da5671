"""The message transfer agent of one server: what happens to a mail between the store that sends it and the
store that reads it.

A plain agent: each method is part of a stimulus, changes only the tables of `transport.mta.tables`, and opens
no socket. A mail handed in by the store or by SMTP is split by next server: one copy crosses each
connector, however many recipients lie behind it (spec: RT-1). Copies wait in the queue until they are due.
A driver asks for them (`ready`), carries them, and reports what became of them (`concluded`); until that report the
copy stays queued, so a crash at any point repeats a mail at worst (spec: OUT-9).

Reports return deliveries to this server itself, for a notice of non-delivery may be addressed to it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from topology.routing import Routing
from traces.events import HopReceived, HopSent
from traces.labtime import LabTime
from transport.envelope import (
    IncomingHop,
    LocalDelivery,
    OutgoingMail,
    Priority,
    QueuedMail,
    RecipientRefusal,
    RefusalError,
    SendOutcome,
    SendState,
    Transmission,
    UnknownRecipientError,
)
from transport.mime.headers import subject_and_id
from transport.mta import queue_table
from transport.mta.dispatch import NO_ROUTE, Dispatch
from transport.mta.link_monitor import Links
from transport.mta.queue_table import QueueRow
from transport.mta.retry_policy import MtaPolicy
from transport.mta.routing import OUTSIDE
from transport.protocol.hop_headers import believed_lamport, count_received, received_line
from transport.protocol.link_state import LinkReport
from transport.sql import Connection
from transport.stimulus import Stimulus


class Mta(Dispatch):
    """The MTA of `server`.

    `routing` may be replaced at any time (a link went down or up); `reroute` then moves what is queued. It does so by
    itself when it learns of a link (`transport.mta.link_monitor`); after a start, `recall` gives it what it knew.
    `addresses` gives the server that a mail address is to go to, None when it is nobody's. `accepts` says whether mail
    for it is taken from SMTP; by default whatever has a server is.
    """

    def __init__(
        self,
        server: str,
        routing: Routing,
        addresses: Callable[[str], str | None],
        policy: MtaPolicy | None = None,
        accepts: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__(server, routing, addresses, policy or MtaPolicy())
        self._usual = routing
        self._links = Links(server, routing, self._policy)
        self._accepts = accepts or (lambda address: addresses(address) is not None)

    @property
    def policy(self) -> MtaPolicy:
        return self._policy

    @policy.setter
    def policy(self, policy: MtaPolicy) -> None:
        self._policy = self._links.policy = policy

    def recall(self, conn: Connection) -> None:
        """Reads from the tables what it knew of links."""
        self._links.recall(conn)
        self._avoid(self._links.down)

    # --- mail in

    def check_recipient(self, address: str) -> None:
        """For RCPT: UnknownRecipientError (550) unless the address lives in the organization."""
        # spec: ML-7
        if not self._takes(address):
            raise UnknownRecipientError((address,))

    def _takes(self, address: str) -> bool:
        """Nobody is relayed for: what would leave by the smart host comes from this server's own store alone."""
        leaves = self._policy.smart_host is not None and self.addresses(address) == OUTSIDE
        return not leaves and self._accepts(address)

    def submit(self, s: Stimulus, mail: OutgoingMail) -> list[LocalDelivery]:
        """Takes a mail from this server's store: queues a copy for each next hop.

        Returns the delivery for recipients on this server. Unknown recipients are answered with a notice.
        """
        return self._dispatch(s, mail, None)

    def accept(
        self,
        s: Stimulus,
        hop: IncomingHop,
        sender: str,
        recipients: Sequence[str],
        content: bytes,
        *,
        message_id: str,
        subject: str,
    ) -> list[LocalDelivery]:
        """Takes a mail from SMTP: puts a Received line on it, queues what is for other servers, returns what
        is for this one.

        Raises RefusalError, having changed nothing: unknown recipients (550), too many hops (554). 250 may be
        answered only after the transaction has committed (spec: IN-2).
        """
        # spec: RT-1, ML-7
        unknown = [address for address in recipients if not self._takes(address)]
        if unknown:
            raise UnknownRecipientError(unknown)
        if not recipients:
            raise RefusalError(554, "5.5.1 a mail without recipients")
        hops = count_received(content)
        if hops > self.policy.hop_limit:
            raise RefusalError(554, f"5.4.6 a mail loop: {hops} hops, {self.policy.hop_limit} allowed")
        s.trace.lamport_seen(believed_lamport(hop, s.trace.lamport))
        s.trace.record(
            HopReceived,
            mail=message_id or None,
            peer=hop.peer,
            recipients=tuple(recipients),
            size=len(content),
            authenticated=hop.authenticated,
        )
        marked = received_line(hop.peer, self.server, s.now) + content
        # What comes over an ordinary mail server has lost XEXCH50; its signature alone tells what it is (spec: ML-6).
        system = hop.system or self.server in self.routing.relay_ends
        mail = OutgoingMail(message_id, sender, tuple(recipients), marked, hop.priority, subject, system)
        return self._dispatch(s, mail, hop)

    # --- mail out

    def ready(
        self,
        conn: Connection,
        now: LabTime,
        limit: int,
        busy: Collection[int] = frozenset(),
        crowded: Collection[str] = frozenset(),
    ) -> list[Transmission]:
        """At most `limit` copies that are due, in sending order, without those in `busy` (in flight) and those for the
        next hops in `crowded`."""
        # spec: OUT-8, RT-2
        contents: dict[int, bytes] = {}
        due = self._links.due(now, limit, busy, crowded)
        for row in queue_table.due_rows(conn, now, limit + len(busy), crowded):
            if len(due) == limit:
                break
            if row.queue_id in busy:
                continue
            if row.content_id not in contents:
                contents[row.content_id] = queue_table.find_content(conn, row.content_id)
            sent = queue_table.transmission(row, contents[row.content_id], now, self._links.lines)
            due.append(replace(sent, system=False) if row.connector in self.routing.relays else sent)
        return due

    def bounce(self, s: Stimulus, delivery: LocalDelivery, reasons: Mapping[str, str]) -> list[LocalDelivery]:
        """Returns to its sender a mail that was delivered here and could not be used for the recipients in `reasons`."""
        # spec: ML-7
        subject, _ = subject_and_id(delivery.content)
        mail = OutgoingMail(
            delivery.message_id, delivery.sender, delivery.recipients, delivery.content, Priority.NORMAL, subject
        )
        return self._return(s, mail, 0, reasons)

    def concluded(self, s: Stimulus, queue_id: int, outcome: SendOutcome) -> list[LocalDelivery]:
        """The report of an attempt, as the SMTP sender gives it; it may tell that a link is down, or up again."""
        # spec: RT-2
        if queue_id < 0:
            return self._learnt(s, self._links.called(s, queue_id, answered=outcome.state is SendState.DELIVERED))
        row = queue_table.find_row(s.conn, queue_id)
        if row is None:
            return []
        if outcome.state is SendState.DELIVERED:
            local = self._delivered(s, row, outcome.refusals, outcome.ordinary)
        else:
            local = self._deferred(s, row, outcome.reason, outcome.permanent, outcome.refusals)
        if row.connector is None:
            return local
        if outcome.unreachable:
            return local + self._learnt(s, self._links.failed(s, row.connector, outcome.reason))
        return local + self._learnt(s, self._links.reached(s, row.connector))

    def told(self, s: Stimulus, peer: str, reports: Sequence[LinkReport]) -> list[LocalDelivery]:
        """The store `peer`, which has authenticated, told of links: mail takes another way if that changes routes."""
        # spec: RT-2
        return self._learnt(s, self._links.heard(s, peer, reports))

    def next_hop(self, s: Stimulus, queue_id: int) -> str:
        """The server that a queued copy goes to next; '' if it goes nowhere."""
        row = queue_table.find_row(s.conn, queue_id)
        return (row.next_hop or "") if row is not None else ""

    def delivered(
        self, s: Stimulus, queue_id: int, refusals: Sequence[RecipientRefusal] = (), ordinary: str = ""
    ) -> list[LocalDelivery]:
        """The peer answered 250 after the content, for all recipients but those in `refusals`, which are
        tried again or returned. `ordinary`: why a system message went as ordinary mail (spec: ML-3). A row that is no
        longer there is passed over: sending twice is harmless.
        """
        # spec: OUT-9
        row = queue_table.find_row(s.conn, queue_id)
        return [] if row is None else self._delivered(s, row, refusals, ordinary)

    def _delivered(
        self, s: Stimulus, row: QueueRow, refusals: Sequence[RecipientRefusal], ordinary: str
    ) -> list[LocalDelivery]:
        refused = {refusal.address for refusal in refusals}
        s.trace.record(
            HopSent,
            mail=row.message_id or None,
            next_hop=row.next_hop or "",
            connector=row.connector,
            recipients=tuple(address for address in row.recipients if address not in refused),
            size=row.size,
            attempt=row.attempts + 1,
            queue_id=row.queue_id,
            ordinary=ordinary,
        )
        left = tuple(address for address in row.recipients if address in refused)
        if left:
            return self._failed(s, replace(row, recipients=left), refusals)
        queue_table.drop_row(s.conn, row)
        return []

    def deferred(
        self,
        s: Stimulus,
        queue_id: int,
        reason: str,
        *,
        permanent: bool = False,
        refusals: Sequence[RecipientRefusal] = (),
    ) -> list[LocalDelivery]:
        """The attempt failed: try again on the route that holds now, or return to the sender what is refused
        for good or has expired. `refusals` says more of single recipients, whose fate then is their own.
        """
        # spec: RT-2
        row = queue_table.find_row(s.conn, queue_id)
        return [] if row is None else self._deferred(s, row, reason, permanent, refusals)

    def _deferred(
        self, s: Stimulus, row: QueueRow, reason: str, permanent: bool, refusals: Sequence[RecipientRefusal]
    ) -> list[LocalDelivery]:
        own = {refusal.address for refusal in refusals}
        rest = [RecipientRefusal(a, reason, permanent) for a in row.recipients if a not in own]
        return self._failed(s, row, [*refusals, *rest])

    def tick(self, s: Stimulus) -> list[LocalDelivery]:
        """Does what is due at `s.now` without a socket: mails that found no route until they expired are returned."""
        local: list[LocalDelivery] = []
        for queue_id in queue_table.unrouted_ids(s.conn, s.now):
            if not self._moved(s, queue_id, local):
                local += self.deferred(s, queue_id, NO_ROUTE)
        return local

    def hold(self, s: Stimulus, queue_id: int, until_at: LabTime) -> None:
        """Keeps a copy back until `until_at`: the delay fault."""
        if queue_id < 0:
            self._links.hold(s, queue_id, until_at)
            return
        queue_table.hold_row(s.conn, queue_id, until_at)

    def next_due(self, conn: Connection) -> LabTime | None:
        """When `ready` or `tick` has something to do; in the past when it has now. None: an empty queue."""
        due = [at for at in (queue_table.next_due(conn), self._links.next_due()) if at is not None]
        return min(due, default=None)

    def queued(self, conn: Connection) -> list[QueuedMail]:
        """The queue, for people to look at."""
        return queue_table.queued_mails(conn)

    # --- links

    def _learnt(self, s: Stimulus, news: bool) -> list[LocalDelivery]:
        return self.reroute(s) if news and self._avoid(self._links.down) else []

    def _avoid(self, down: frozenset[str]) -> bool:
        """Takes the routes without those connectors; True if they are others than before."""
        if down == self.routing.down:
            return False
        self.routing = self._usual.with_down(down)
        return True
