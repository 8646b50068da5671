"""The message transfer agent (MTA) of one server: its queue, and what happens to a mail in it.

One mail has one copy for each next hop (spec: RT-1); a copy is a row of `mta_queue`. A copy is in one of these states:

=========  ============================================================================================================
waiting    it has a next hop, and `due_at` is later than now: the connector is closed or slow, the mail is in transit on
           it (latency), a fault holds the copy, or an attempt failed and the retry interval is not over ("deferred")
due        it has a next hop, and `due_at` is not later than now
in flight  a driver sends it. The row does not say so; the driver passes the ids in flight to `ready` (`busy`)
unrouted   there is no route; `due_at` is the time of expiry
frozen     an administrator has frozen the copy, or the queue of its next hop (`frozen`): it is not tried and does not
           expire, whatever `due_at` says
=========  ============================================================================================================

==========================  =========================================================  ================================
state                       event                                                      next state
==========================  =========================================================  ================================
new (`submit`, `accept`)    the recipient is on this server                            no row: `LocalDelivery`
new                         the recipient is unknown, or a user's mail is too large    no row: returned
                            for the connector (spec: OUT-7)
new                         there is a next hop                                        waiting, or due at once
new                         there is no route                                          unrouted
waiting                     `due_at` is reached                                        due
due                         `ready`: a driver takes it                                 in flight
in flight                   `concluded`: 250 for every recipient                       removed
in flight                   `concluded`: 250, but not for every recipient              as below, for the other recipients
in flight                   `concluded`: try again later                               waiting; one attempt more
in flight                   `concluded`: try again, but expired or no retries left     removed and returned
in flight                   `concluded`: refused for good                              removed and returned
in flight                   the server crashes                                         due
waiting, due, in flight     `reroute`: the routes give another next hop, or none       removed; new copies with new ids
unrouted                    `reroute`: the routes give a next hop                      waiting, or due at once
waiting                     `reorganize`: its connector has other times                waiting, until another time
unrouted                    `tick` at the time of expiry                               removed and returned
waiting, due, in flight     `hold` (a fault)                                           waiting
waiting                     `release` (the end of a hold)                              due, or waiting for its connector
due                         `divide` (a fault)                                         due; some recipients in a new copy
any                         `change_queue`: freeze                                     frozen; an attempt in flight goes on
frozen                      `change_queue`: unfreeze                                   as before; due if its connector is open
any                         `change_queue`: delete                                     removed; the sender learns nothing
any                         `change_queue`: return                                     removed and returned
==========================  =========================================================  ================================

A copy is queued in the form in which it crosses its connector, and not converted when it is sent: the size of this form decides
how long the copy takes a slow link (spec: RT-2), so it must be known when the copy gets its place there.

"Returned" means: the trace has an event, and the sender gets a notice of non-delivery (`transport.mta.non_delivery`).

Example: A sends a mail to B in its own site and to C and D behind the connector SEA-NYC. `submit` makes two copies, one
for B and one that crosses the connector for C and D. B answers 250: its copy is removed. The bridgehead C does not
answer: the other copy waits for ten minutes. Meanwhile the connector is found down, and there is a detour by LON:
`reroute` replaces the copy by a new copy with LON as its next hop.

What must never happen:

- A copy that is removed although the next server did not answer 250 and the sender got no notice, unless an administrator
  deletes it (spec: OUT-9). So after a crash a mail may be sent twice.
- A result of an attempt on an old route that counts for the new route. So `reroute` gives a copy a new id, and ids are never
  reused.
- A notice that answers a notice (spec: ML-7).
- A failed attempt that reserves a slow link a second time, and so delays other mails.

The MTA does no I/O: each method is part of a stimulus and changes only the tables of `transport.mta.tables`. A driver asks
what is due (`ready`), sends it, and reports the end (`concluded`). Most methods return deliveries to this server itself,
because a notice may be addressed to it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from topology.model import STORE_ADDRESS_SUFFIX
from topology.routing import NextHop, Routing
from traces.events import HopDeleted, HopExpired, HopFailed, HopReceived, HopSent, QueueFrozen, QueueUnfrozen
from traces.labtime import LabTime
from transport.envelope import (
    IncomingHop,
    IncomingMail,
    LocalDelivery,
    OutgoingMail,
    Priority,
    RecipientRefusal,
    RefusalError,
    SendOutcome,
    SendState,
    Transmission,
    UnknownRecipientError,
)
from transport.mime.headers import decode_words, header_size
from transport.mime.message import as_seven_bit, far_size, is_system_mail
from transport.mime.x400_form import as_x400, or_address
from transport.mta import queue_table
from transport.mta.link_monitor import Links
from transport.mta.non_delivery import NULL_SENDER, notice
from transport.mta.queue_table import Place, QueueRow
from transport.mta.retry_policy import MtaPolicy
from transport.mta.routing import OUTSIDE, Split, differs, opening, place, split_recipients
from transport.protocol.hop_headers import believed_lamport, received_line
from transport.protocol.link_state import LinkReport
from transport.sql import Connection
from transport.stimulus import STIMULUS_BYTES, UPDATE_BYTES, Crossing, Stimulus

NO_ROUTE: Final = "4.4.4 no route to the recipients' servers at the moment"
MOST_RETURNED: Final = STIMULUS_BYTES // UPDATE_BYTES
"""The largest number of mails that one stimulus returns."""

MOST_SUBJECT: Final = 200
"""How many characters of a subject a trace has."""

EXPIRED: Final = "4.4.7 not delivered before it expired"
EXCEEDS: Final = "5.2.3 larger than the Message Size Limit of this server ({limit} bytes)"
TRIED_OFTEN: Final = "4.4.7 not delivered in {retries} retries"
RETURNED: Final = "4.3.2 taken out of the queue by an administrator"
"""Reasons, each with the enhanced status code of RFC 3463."""

QueueOrder = Literal["freeze", "unfreeze", "delete", "return"]
"""What an administrator does with a queue or with mails in it (spec: RT-5)."""

_FREEZING: Final[Mapping[str, type[QueueFrozen | QueueUnfrozen]]] = {"freeze": QueueFrozen, "unfreeze": QueueUnfrozen}


class Mta:
    """The MTA of `server`.

    ===========  ====================================================================================================
    routing      the routes without failed links; the MTA itself replaces them when it learns of a link
    addresses    returns the server that a mail address belongs to; None if it belongs to nobody
    accepts      returns whether mail for an address is accepted by SMTP; by default for every address with a server
    ===========  ====================================================================================================

    After a start, `recall` reads the state of the links from the tables.
    """

    def __init__(
        self,
        server: str,
        routing: Routing,
        addresses: Callable[[str], str | None],
        policy: MtaPolicy | None = None,
        accepts: Callable[[str], bool] | None = None,
    ) -> None:
        self.server = server
        self.routing = routing
        self.addresses = addresses
        self._policy = policy or MtaPolicy()
        self._all_links_up = routing
        self._links = Links(server, routing, self._policy)
        self._accepts = accepts or (lambda address: addresses(address) is not None)

    @property
    def policy(self) -> MtaPolicy:
        """The settings; they may be replaced at any time."""
        return self._policy

    @policy.setter
    def policy(self, policy: MtaPolicy) -> None:
        self._policy = self._links.policy = policy

    def recall(self, conn: Connection) -> None:
        """Read from the tables what this server knows of links."""
        self._links.recall(conn)
        self._avoid(self._links.down)

    # --- mail in

    def check_recipient(self, address: str) -> None:
        """Raise UnknownRecipientError (550) unless mail for `address` is accepted by SMTP. The listener calls this at
        RCPT.
        """
        # spec: ML-7
        if not self._is_accepted(address):
            raise UnknownRecipientError((address,))

    def _is_accepted(self, address: str) -> bool:
        """Return whether mail for `address` is accepted by SMTP. Only this server's own store uses the smart host."""
        leaves = self._policy.smart_host is not None and self.addresses(address) == OUTSIDE
        return not leaves and self._accepts(address)

    def submit(self, s: Stimulus, mail: OutgoingMail) -> list[LocalDelivery]:
        """Accept a mail from this server's store and queue a copy for each next hop.

        Return the delivery for recipients on this server. Mail for unknown recipients is returned by a notice.
        """
        if self._is_too_large(mail):
            reason = EXCEEDS.format(limit=self._policy.message_size)
            return self._return(s, mail, 0, dict.fromkeys(mail.recipients, reason))
        return self._dispatch(s, mail, None, header_size(mail.content))

    def accept(self, s: Stimulus, hop: IncomingHop, mail: IncomingMail) -> list[LocalDelivery]:
        """Accept a mail from SMTP, put a Received line on it, and queue a copy for each next hop.

        Return the delivery for recipients on this server. Raise RefusalError, and change nothing, for unknown recipients (550),
        a user's mail that is too large (552), or too many hops (554). The caller may answer 250 only after the transaction has
        committed (spec: IN-2).
        """
        # spec: RT-1, ML-7
        unknown = [address for address in mail.recipients if not self._is_accepted(address)]
        if unknown:
            raise UnknownRecipientError(unknown)
        if not mail.recipients:
            raise RefusalError(554, "5.5.1 a mail without recipients")
        header = mail.header
        if header.hops > self.policy.hop_limit:
            raise RefusalError(554, f"5.4.6 a mail loop: {header.hops} hops, {self.policy.hop_limit} allowed")
        without = self._came_by_relay(hop) or self._came_by_x400(hop)
        system = hop.system or (without and is_system_mail(mail.content))
        line = received_line(hop.peer, self.server, s.now)
        outgoing = OutgoingMail(
            header.message_id, mail.sender, mail.recipients, line + mail.content, hop.priority, header.subject, system
        )
        if self._is_too_large(outgoing):
            raise RefusalError(552, EXCEEDS.format(limit=self._policy.message_size))
        s.trace.lamport_seen(believed_lamport(hop, s.trace.lamport))
        s.trace.record(
            HopReceived,
            mail=header.message_id or None,
            peer=hop.peer,
            recipients=mail.recipients,
            size=len(mail.content),
            authenticated=hop.authenticated,
            sender="" if system else mail.sender,
            subject="" if system else decode_words(header.subject)[:MOST_SUBJECT],
        )
        return self._dispatch(s, outgoing, hop, len(line) + header.size)

    def _came_by_relay(self, hop: IncomingHop) -> bool:
        """Return whether a mail may have crossed an `smtp-relay`, where it loses what XEXCH50 says.

        Such a mail may be a replication mail, as its signature will show. The ordinary mail server in the relay has routes of
        its own, so it may hand a mail to any server, not only to the one at the connector's end.
        """
        # spec: ML-6
        if self.server in self.routing.relay_ends:
            return True
        return bool(self.routing.relays) and not self.routing.has(hop.peer)

    def _came_by_x400(self, hop: IncomingHop) -> bool:
        """Return whether a mail may have crossed an X.400 connector, which has no XEXCH50. Its signature shows whether it is a
        replication mail."""
        ends = {self.server, hop.peer}
        return any(ends == pair for pair in self.routing.x400.values())

    def _as_x400(self, mail: OutgoingMail, recipients: Sequence[str]) -> OutgoingMail:
        """Return a mail in the form in which it crosses an X.400 connector (spec: RT-1, ML-4)."""
        addresses = [self._or_address(address) for address in (mail.sender, *recipients)]
        return replace(mail, content=as_x400(mail.content, addresses[0], addresses[1:]))

    def _or_address(self, address: str) -> str:
        is_store = address.partition("@")[0].endswith(STORE_ADDRESS_SUFFIX)
        return or_address(address, self.routing.organization, is_store=is_store)

    def _dispatch(
        self, s: Stimulus, mail: OutgoingMail, hop: IncomingHop | None, header_bytes: int
    ) -> list[LocalDelivery]:
        """Queue the copies of a new mail whose header has `header_bytes` bytes."""
        size = far_size(mail.content, header_bytes)
        split = self._split(mail.recipients, size, mail.sender, mail.system)
        contents: dict[bool, int] = {}
        for next_hop, recipients in split.copies():
            connector = next_hop.connector if next_hop is not None else None
            if connector is not None and connector.name in self.routing.x400:
                copy = self._as_x400(mail, recipients)
                content_id = queue_table.add_content(s.conn, copy, s.trace.lamport, len(copy.content))
                self._queue(s, mail, len(copy.content), content_id, next_hop, recipients)
                continue
            is_far = connector is not None and size != len(mail.content)
            if is_far not in contents:
                # spec: ML-4
                copy = replace(mail, content=as_seven_bit(mail.content)) if is_far else mail
                contents[is_far] = queue_table.add_content(s.conn, copy, s.trace.lamport, size)
            self._queue(s, mail, size, contents[is_far], next_hop, recipients)
        return self._finish(s, mail, split, 0, hop)

    def _queue(
        self,
        s: Stimulus,
        mail: OutgoingMail,
        size: int,
        content_id: int,
        hop: NextHop | None,
        recipients: tuple[str, ...],
    ) -> None:
        expires_at = s.now + self._policy.of(mail.priority).expiry_us
        queue_place = _unrouted(expires_at) if hop is None else place(s.conn, s.now, hop, size, mail.priority)
        queue_id = queue_table.add_row(
            s.conn, content_id, queue_place, recipients, priority=mail.priority, expires_at=expires_at
        )
        if hop is None:
            row = queue_table.find_row(s.conn, queue_id)
            assert row is not None
            _trace_failure(s, row, NO_ROUTE, queue_place.due_at)

    def bounce(self, s: Stimulus, delivery: LocalDelivery, reasons: Mapping[str, str]) -> list[LocalDelivery]:
        """Send a mail back to its sender: it was delivered here, but cannot be used for the recipients in `reasons`."""
        # spec: ML-7
        mail = OutgoingMail(
            delivery.message_id,
            delivery.sender,
            delivery.recipients,
            delivery.content,
            Priority.NORMAL,
            delivery.subject,
        )
        return self._return(s, mail, 0, reasons)

    # --- mail out

    def ready(
        self,
        conn: Connection,
        now: LabTime,
        limit: int,
        busy: Collection[int] = frozenset(),
        crowded: Collection[str] = frozenset(),
    ) -> list[Transmission]:
        """Return at most `limit` copies that are due, in sending order.

        Copies in `busy` (in flight) and copies for the next hops in `crowded` are left out.
        """
        # spec: OUT-8, RT-2
        contents: dict[int, bytes] = {}
        transmissions = self._links.due(now, limit, busy, crowded)
        for row in queue_table.due_rows(conn, now, limit + len(busy), crowded):
            if len(transmissions) == limit:
                break
            if row.queue_id in busy:
                continue
            if row.content_id not in contents:
                contents[row.content_id] = queue_table.find_content(conn, row.content_id)
            transmission = queue_table.transmission(row, contents[row.content_id], now, self._links.lines)
            if row.connector in self.routing.x400:
                transmission = replace(transmission, system=False, x400=True)
            elif row.connector in self.routing.relays:
                transmission = replace(transmission, system=False, relay=self.routing.relays[row.connector])
            transmissions.append(transmission)
        return transmissions

    def concluded(self, s: Stimulus, queue_id: int, outcome: SendOutcome) -> list[LocalDelivery]:
        """Record how an attempt to send ended. The outcome may show that a link is down, or up again.

        A row that no longer exists is ignored: the mail was sent twice, which is harmless.
        """
        # spec: RT-2, OUT-9
        if queue_id < 0:
            return self._links_changed(
                s, self._links.call_ended(s, queue_id, answered=outcome.state is SendState.DELIVERED)
            )
        row = queue_table.find_row(s.conn, queue_id)
        if row is None:
            return []
        row = replace(row, starts_at=_begun_at(s, row, outcome))
        if outcome.state is SendState.DELIVERED:
            local = self._delivered(s, row, outcome.refusals, outcome.ordinary)
        else:
            local = self._deferred(s, row, outcome.reason, outcome.permanent, outcome.refusals)
        if row.connector is None:
            return local
        if outcome.unreachable:
            return local + self._links_changed(s, self._links.failed(s, row.connector, outcome.reason))
        return local + self._links_changed(s, self._links.reached(s, row.connector))

    def next_hop(self, s: Stimulus, queue_id: int) -> str:
        """Return the next server of a queued copy; '' if it has none."""
        row = queue_table.find_row(s.conn, queue_id)
        return (row.next_hop or "") if row is not None else ""

    def _delivered(
        self, s: Stimulus, row: QueueRow, refusals: Sequence[RecipientRefusal], ordinary: str
    ) -> list[LocalDelivery]:
        addresses = {refusal.address for refusal in refusals}
        s.trace.record(
            HopSent,
            mail=row.message_id or None,
            next_hop=row.next_hop or "",
            connector=row.connector,
            recipients=tuple(address for address in row.recipients if address not in addresses),
            size=row.size,
            attempt=row.attempts + 1,
            queue_id=row.queue_id,
            ordinary=ordinary,
            begun_at=row.starts_at,
        )
        if row.connector is not None:
            s.crossings.append(Crossing(row.connector, row.subject, row.system, row.size))
        recipients_left = tuple(address for address in row.recipients if address in addresses)
        if recipients_left:
            return self._failed(s, replace(row, recipients=recipients_left), refusals)
        queue_table.drop_row(s.conn, row)
        return []

    def _deferred(
        self, s: Stimulus, row: QueueRow, reason: str, permanent: bool, refusals: Sequence[RecipientRefusal]
    ) -> list[LocalDelivery]:
        own = {refusal.address for refusal in refusals}
        refusals_of_others = [RecipientRefusal(a, reason, permanent) for a in row.recipients if a not in own]
        return self._failed(s, row, [*refusals, *refusals_of_others])

    def _failed(self, s: Stimulus, row: QueueRow, refusals: Sequence[RecipientRefusal]) -> list[LocalDelivery]:
        """End an attempt that did not reach `row.recipients`: return or retry each copy, as `refusals` says."""
        why = {refusal.address: refusal.reason for refusal in refusals}
        reasons = {r.address: r.reason for r in refusals if r.permanent and r.address in row.recipients}
        again = tuple(address for address in row.recipients if address not in reasons)
        gives_up = self._why_given_up(s, row)
        if gives_up:
            reasons |= {address: f"{gives_up}; the last attempt: {why[address]}" for address in again}
            again = ()
        reason = "; ".join(dict.fromkeys(why.values()))
        mail = self._mail_of(s, row) if reasons else None
        if again:
            # The last attempt is made at the instant of expiry, or when the link next opens.
            retry_at = min(s.now + self._policy.of(row.priority).retry_us, row.expires_at)
            attempts = row.attempts if row.next_hop is None else row.attempts + 1
            new_row = replace(row, recipients=again, attempts=attempts, last_error=reason)
            local = self._requeue(s, new_row, retry_at, failed=True)
        else:
            _trace_failure(s, row, reason, None)
            queue_table.drop_row(s.conn, row)
            local = []
        return local + self._return(s, mail, row.queue_id, reasons) if mail else local

    def _why_given_up(self, s: Stimulus, row: QueueRow) -> str:
        """Return why a mail is not tried again after a failed attempt; '' if it is tried again."""
        if s.now >= row.expires_at:
            return EXPIRED
        max_retries = self._policy.max_retries
        return "" if max_retries is None or row.attempts < max_retries else TRIED_OFTEN.format(retries=max_retries)

    def tick(self, s: Stimulus) -> list[LocalDelivery]:
        """Return the mails that expired without a route. If there are many, the rest stays due for the next stimulus."""
        local: list[LocalDelivery] = []
        for queue_id in queue_table.unrouted_ids(s.conn, s.now, MOST_RETURNED):
            if s.enough:
                break
            if not self._moved(s, queue_id, local):
                row = queue_table.find_row(s.conn, queue_id)
                assert row is not None
                local += self._deferred(s, row, NO_ROUTE, False, ())
                s.work += row.size
            s.work += UPDATE_BYTES
        return local

    def hold(self, s: Stimulus, queue_id: int, until_at: LabTime) -> None:
        """Keep a copy in the queue until `until_at`, because of the delay fault."""
        if queue_id < 0:
            self._links.hold(s, queue_id, until_at)
            return
        queue_table.hold_row(s.conn, queue_id, until_at)

    def release(self, s: Stimulus, queue_id: int) -> None:
        """End `hold` for a copy: it leaves now, or when its connector opens. If the copy has already left, nothing happens."""
        row = queue_table.find_row(s.conn, queue_id)
        if row is None or row.next_hop is None:
            return
        # It keeps its way, also if its recipients have left the directory meanwhile.
        connector = None if row.connector is None else self.routing.connector(row.connector)
        if connector is None or not connector.schedule.is_never:
            queue_table.hold_row(s.conn, queue_id, opening(NextHop(row.next_hop, connector), s.now))

    def divide(self, s: Stimulus, queue_id: int, recipients: Sequence[str]) -> None:
        """Give some recipients of a due copy their own copy, because a fault acts only on these recipients."""
        row = queue_table.find_row(s.conn, queue_id)
        recipients_left = (
            tuple(recipient for recipient in row.recipients if recipient not in recipients) if row is not None else ()
        )
        if row is None or not recipients_left:
            return
        queue_place = Place(row.next_hop, row.connector, row.due_at, row.starts_at)
        queue_table.change_row(s.conn, replace(row, recipients=recipients_left), queue_place)
        queue_table.add_row(
            s.conn,
            row.content_id,
            queue_place,
            tuple(recipients),
            priority=row.priority,
            expires_at=row.expires_at,
            attempts=row.attempts,
            last_error=row.last_error,
            frozen=row.frozen,
        )

    # --- orders of an administrator

    def queues(self, conn: Connection) -> set[str]:
        """Return the next hops that this server may have a queue for."""
        outside = {self._policy.smart_host} if self._policy.smart_host is not None else set()
        neighbours = {hop.server for hop in self._all_links_up.neighbours(self.server)}
        waiting = {row.next_hop for row in queue_table.queued_mails(conn) if row.next_hop is not None}
        return neighbours | outside | waiting | set(queue_table.frozen_queues(conn))

    def frozen_queues(self, conn: Connection) -> list[str]:
        """Return the next hops whose queues are frozen."""
        return queue_table.frozen_queues(conn)

    def change_queue(
        self, s: Stimulus, order: QueueOrder, next_hop: str | None, rows: Sequence[QueueRow]
    ) -> list[LocalDelivery]:
        """Carry out an order about the queue of a next hop, or about some copies if `next_hop` is None. Takes time linear in
        `rows`.

        rows: these copies, or all copies for the next hop.

        An attempt in flight is not stopped, so a copy that is deleted meanwhile may arrive.
        """
        # spec: RT-5
        frozen_by = queue_table.FROZEN_MAIL if next_hop is None else queue_table.FROZEN_QUEUE
        local: list[LocalDelivery] = []
        if next_hop is not None and order in ("freeze", "unfreeze"):
            queue_table.freeze_queue(s.conn, next_hop, frozen=order == "freeze")
            s.trace.record(_FREEZING[order], next_hop=next_hop, queue_id=None)
        for row in rows:
            if order in ("freeze", "unfreeze"):
                frozen = row.frozen | frozen_by if order == "freeze" else row.frozen & ~frozen_by
                if frozen == row.frozen:
                    continue
                queue_table.set_frozen(s.conn, row.queue_id, frozen)
                if next_hop is None:
                    mail = row.message_id or None
                    s.trace.record(_FREEZING[order], mail=mail, next_hop=row.next_hop or "", queue_id=row.queue_id)
                if not frozen and row.due_at < s.now:  # its connector may be closed now
                    self.release(s, row.queue_id)
                continue
            mail_of_row = self._mail_of(s, row) if order == "return" else None
            queue_table.drop_row(s.conn, row)
            if mail_of_row is not None:
                local += self._return(s, mail_of_row, row.queue_id, dict.fromkeys(row.recipients, RETURNED))
            else:
                s.trace.record(
                    HopDeleted, mail=row.message_id or None, queue_id=row.queue_id, recipients=row.recipients
                )
        return local

    def next_due(self, conn: Connection) -> LabTime | None:
        """Return the next time at which `ready` or `tick` has something to do; None for an empty queue. The time can be in the
        past.
        """
        times = [at for at in (queue_table.next_due(conn), self._links.next_due()) if at is not None]
        return min(times, default=None)

    def content(self, conn: Connection, queue_id: int) -> bytes | None:
        """Return the bytes of a queued mail; None if it is no longer in the queue."""
        row = queue_table.find_row(conn, queue_id)
        return None if row is None else queue_table.find_content(conn, row.content_id)

    def queued(self, conn: Connection) -> list[QueueRow]:
        """Return the queue for display."""
        return queue_table.queued_mails(conn)

    # --- links and routes

    def receive_link_reports(self, s: Stimulus, peer: str, reports: Sequence[LinkReport]) -> list[LocalDelivery]:
        """Accept reports of links from the authenticated store `peer`. If they change the routes, reroute the mail."""
        # spec: RT-2
        return self._links_changed(s, self._links.receive(s, peer, reports))

    def report_links_up(self, s: Stimulus) -> None:
        """Report this server's links as up again, at the first start after a restore. The routes here stay the same."""
        # spec: RT-2, RP-4
        self._links.report_up(s)

    def _links_changed(self, s: Stimulus, news: bool) -> list[LocalDelivery]:
        return self.reroute(s) if news and self._avoid(self._links.down) else []

    def _avoid(self, down: frozenset[str]) -> bool:
        """Use the routes without the connectors in `down`; return True if they differ from the present ones."""
        if down == self.routing.down:
            return False
        self.routing = self._all_links_up.with_down(down)
        return True

    def reorganize(self, s: Stimulus, routing: Routing) -> list[LocalDelivery]:
        """Take the routes of a changed organization, with every link up, and move the queued copies.

        A copy that crosses a connector now arrives if the connector is still there. A copy that waits for a connector with
        other times gets a new place on it; after a failed attempt it keeps the time of its retry, or waits until the connector
        is open then.
        """
        # spec: RT-6
        before = {connector.name: connector for connector in self._all_links_up.connectors}
        survivors = {connector.name: connector for connector in routing.connectors if connector.name in before}
        to_x400 = {name for name in survivors if name in routing.x400 and name not in self.routing.x400}
        altered = {
            name: connector
            for name, connector in survivors.items()
            if name in to_x400 or connector.times != before[name].times
        }
        self._all_links_up = routing
        self._links.reorganize(s, routing)
        self.routing = routing.with_down(self._links.down)
        waiting = {row.queue_id for row in queue_table.queued_mails(s.conn) if (row.starts_at or s.now) > s.now}
        for name in altered:
            queue_table.free_link(s.conn, name, s.now)
        local: list[LocalDelivery] = []
        for queue_id in queue_table.all_ids(s.conn):
            row = queue_table.find_row(s.conn, queue_id)
            assert row is not None
            if self._is_crossing(row, s.now) or self._moved(s, queue_id, local) or row.connector not in altered:
                continue
            new_row = self._as_x400_row(s, row) if row.connector in to_x400 else row
            hop = NextHop(row.next_hop or "", altered[row.connector])
            if queue_id in waiting:
                new_place = place(s.conn, s.now, hop, new_row.far_size, row.priority)
            else:
                # A copy that a fault holds may have begun to cross; only a copy that is tried again waits for the connector.
                due_at = opening(hop, max(s.now, row.due_at)) if row.attempts else row.due_at
                new_place = Place(row.next_hop, row.connector, due_at, row.starts_at)
            queue_table.change_row(s.conn, new_row, new_place)
            queue_table.drop_content(s.conn, row.content_id)
        return local

    def _as_x400_row(self, s: Stimulus, row: QueueRow) -> QueueRow:
        """Return a copy with its mail in the form in which it crosses an X.400 connector."""
        mail = self._as_x400(self._mail_of(s, row), row.recipients)
        size = len(mail.content)
        content_id = queue_table.add_content(s.conn, mail, row.lamport, size)
        return replace(row, content_id=content_id, size=size, far_size=size)

    def _is_crossing(self, row: QueueRow, now: LabTime) -> bool:
        """Return whether a copy is on its way over a connector that leads to its next hop."""
        if row.starts_at is None or not row.starts_at <= now < row.due_at:
            return False
        hops = self._all_links_up.neighbours(self.server)
        return any(
            hop.connector is not None and (hop.server, hop.connector.name) == (row.next_hop, row.connector)
            for hop in hops
        )

    def reroute(self, s: Stimulus) -> list[LocalDelivery]:
        """Move every queued copy that the present routes would send another way. Takes time linear in the queue."""
        # spec: RT-2
        local: list[LocalDelivery] = []
        for queue_id in queue_table.all_ids(s.conn):
            self._moved(s, queue_id, local)
        return local

    def _moved(self, s: Stimulus, queue_id: int, local: list[LocalDelivery]) -> bool:
        """Move a copy if the present routes send it another way. Return True if it was moved.

        Deliveries to this server are added to `local`.
        """
        row = queue_table.find_row(s.conn, queue_id)
        assert row is not None
        copies = self._split(row.recipients, row.far_size, row.sender, row.system).copies()
        if len(copies) == 1 and copies[0][1] == row.recipients and not differs(row, copies[0][0]):
            return False
        local += self._requeue(s, row, row.due_at)
        return True

    def _requeue(self, s: Stimulus, row: QueueRow, retry_at: LabTime, *, failed: bool = False) -> list[LocalDelivery]:
        """Give a copy its present route. If the route is the old one, the copy waits until `retry_at`; otherwise the copy is
        like a new mail."""
        split = self._split(row.recipients, row.far_size, row.sender, row.system)
        copies = [(_place_of(s, row, hop, retry_at), recipients) for hop, recipients in split.copies()]
        if failed:
            _trace_failure(s, row, row.last_error, copies[0][0].due_at if copies else None)
        local: list[LocalDelivery] = []
        if split.local or split.returned:
            local = self._finish(s, self._mail_of(s, row), split, row.queue_id, None)
        if not copies:
            queue_table.drop_row(s.conn, row)
            return local
        by_far = any(
            queue_place.connector is not None and queue_place.connector not in self.routing.x400
            for queue_place, _ in copies
        )
        far_id = self._far_content(s, row) if by_far else 0
        if failed or row.next_hop is None:
            queue_place, recipients = copies.pop(0)
            content_id = self._content_of(s, row, queue_place, recipients, far_id)
            queue_table.change_row(s.conn, replace(row, recipients=recipients, content_id=content_id), queue_place)
        else:
            # An attempt on the old route may be in flight; its end must not count for the new route.
            queue_table.forget_row(s.conn, row)
        for queue_place, recipients in copies:
            queue_table.add_row(
                s.conn,
                self._content_of(s, row, queue_place, recipients, far_id),
                queue_place,
                recipients,
                priority=row.priority,
                expires_at=row.expires_at,
                attempts=row.attempts,
                last_error=row.last_error,
                frozen=row.frozen,
            )
        queue_table.drop_content(s.conn, row.content_id)
        return local

    def _split(self, recipients: Sequence[str], size: int, sender: str, system: bool) -> Split:
        smart_host = self._policy.smart_host
        return split_recipients(
            self.server, self.routing, self.addresses, recipients, size, smart_host, sender=sender, system=system
        )

    def _is_too_large(self, mail: OutgoingMail) -> bool:
        """Return whether a mail exceeds the limit for users' mail. System messages, notices among them, have no limit."""
        # spec: OUT-7
        limit = self._policy.message_size
        return limit is not None and not mail.system and mail.sender != NULL_SENDER and len(mail.content) > limit

    def _content_of(
        self, s: Stimulus, row: QueueRow, queue_place: Place, recipients: tuple[str, ...], far_id: int
    ) -> int:
        """Return the id of the content of a copy that is queued again, for its present route."""
        if queue_place.connector is None:
            return row.content_id
        if queue_place.connector not in self.routing.x400:
            return far_id
        if queue_place.connector == row.connector:
            return row.content_id
        copy = self._as_x400(self._mail_of(s, row), recipients)
        return queue_table.add_content(s.conn, copy, row.lamport, len(copy.content))

    def _far_content(self, s: Stimulus, row: QueueRow) -> int:
        """Return the id of the content that crosses a connector."""
        # spec: ML-4
        if not row.binary:
            return row.content_id
        mail = self._mail_of(s, row)
        return queue_table.add_content(
            s.conn, replace(mail, content=as_seven_bit(mail.content)), row.lamport, row.far_size
        )

    def _finish(
        self, s: Stimulus, mail: OutgoingMail, split: Split, queue_id: int, hop: IncomingHop | None
    ) -> list[LocalDelivery]:
        """Return the delivery to this server. Send a notice to the sender about recipients that cannot get the mail."""
        local: list[LocalDelivery] = []
        if split.local:
            local.append(
                LocalDelivery(
                    tuple(split.local), mail.sender, mail.content, mail.message_id, hop, mail.system, mail.subject
                )
            )
        if split.returned:
            local += self._return(s, mail, queue_id, split.returned)
        return local

    def _return(
        self, s: Stimulus, mail: OutgoingMail, queue_id: int, failures: Mapping[str, str]
    ) -> list[LocalDelivery]:
        """Give up on the addresses in `failures`: record the event, and send a notice unless the mail itself is one."""
        # spec: RT-2, ML-7
        s.trace.record(
            HopExpired,
            mail=mail.message_id or None,
            queue_id=queue_id,
            recipients=tuple(failures),
            reason="; ".join(dict.fromkeys(failures.values())),
        )
        if mail.sender == NULL_SENDER:
            return []
        return self.submit(s, notice(self.server, self.routing.domain, s.now, mail, failures))

    def _mail_of(self, s: Stimulus, row: QueueRow) -> OutgoingMail:
        content = queue_table.find_content(s.conn, row.content_id)
        return OutgoingMail(row.message_id, row.sender, row.recipients, content, row.priority, row.subject, row.system)


def _unrouted(expires_at: LabTime) -> Place:
    """Return the place of a copy without a route. It waits until the routes change (`reroute`) or it expires (`tick`)."""
    # spec: RT-2
    return Place(None, None, expires_at)


def _place_of(s: Stimulus, row: QueueRow, hop: NextHop | None, retry_at: LabTime) -> Place:
    if hop is None:
        return _unrouted(row.expires_at)
    if differs(row, hop):
        return place(s.conn, s.now, hop, row.far_size, row.priority)
    # A retry takes no new place on a slow link: the mail has not crossed it, and must not delay the others.
    return Place(row.next_hop, row.connector, opening(hop, retry_at))


def _begun_at(s: Stimulus, row: QueueRow, outcome: SendOutcome) -> LabTime | None:
    """Return when an attempt that ends now began: to cross its connector, or else to be sent. None if it took no time."""
    begun_at = row.starts_at if row.starts_at is not None else outcome.begun_at
    return begun_at if begun_at is not None and begun_at < s.now else None


def _trace_failure(s: Stimulus, row: QueueRow, reason: str, retry_at: LabTime | None) -> None:
    s.trace.record(
        HopFailed,
        mail=row.message_id or None,
        next_hop=row.next_hop or "",
        connector=row.connector,
        reason=reason,
        retry_at=retry_at,
        queue_id=row.queue_id,
        begun_at=row.starts_at,
    )
