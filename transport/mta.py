"""The message transfer agent of one server: what happens to a mail between the store that sends it and the
store that reads it.

A plain agent: each method is part of a stimulus, changes only the tables of `transport.tables`, and opens
no socket. A mail handed in by the store or by SMTP is split by next server: one copy crosses each
connector, however many recipients lie behind it (spec: RT-1). Copies wait in the queue until they are due.
A driver asks for them (`ready`), carries them, and reports what became of them (`concluded`); until that report the
copy stays queued, so a crash at any point repeats a mail at worst (spec: OUT-9).

Reports return deliveries to this server itself, for a notice of non-delivery may be addressed to it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from topology.routes import NextHop, Routing
from traces.events import HopExpired, HopFailed, HopReceived, HopSent
from traces.labtime import LabTime
from transport import mta_queue
from transport.bodyform import as_seven_bit, far_size
from transport.hopline import believed_lamport, count_received, received_line
from transport.mta_queue import Place, QueueRow
from transport.mta_routes import Split, differs, opening, place, split_recipients
from transport.mta_values import (
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
from transport.notices import NULL_SENDER, notice
from transport.peek import subject_and_id
from transport.policy import MtaPolicy
from transport.sql import Connection
from transport.stimulus import Stimulus

NO_ROUTE: Final = "4.4.4 no route to the recipients' servers at the moment"
EXPIRED: Final = "4.4.7 not delivered before it expired"
TRIED_OFTEN: Final = "4.4.7 not delivered in {retries} retries"
"""Reasons, each with the enhanced status code of RFC 3463."""


class Mta:
    """The MTA of `server`.

    `routing` may be replaced at any time (a link went down or up); `reroute` then moves what is queued.
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
        self.server = server
        self.routing = routing
        self.addresses = addresses
        self.policy = policy or MtaPolicy()
        self._accepts = accepts or (lambda address: addresses(address) is not None)

    # --- mail in

    def check_recipient(self, address: str) -> None:
        """For RCPT: UnknownRecipientError (550) unless the address lives in the organization."""
        # spec: ML-7
        if not self._accepts(address):
            raise UnknownRecipientError((address,))

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
        unknown = [address for address in recipients if not self._accepts(address)]
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
        due: list[Transmission] = []
        for row in mta_queue.due_rows(conn, now, limit + len(busy), crowded):
            if len(due) == limit:
                break
            if row.queue_id in busy:
                continue
            if row.content_id not in contents:
                contents[row.content_id] = mta_queue.find_content(conn, row.content_id)
            sent = mta_queue.transmission(row, contents[row.content_id], now)
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
        """The report of an attempt, as the SMTP sender gives it."""
        if outcome.state is SendState.DELIVERED:
            return self.delivered(s, queue_id, outcome.refusals, outcome.ordinary)
        return self.deferred(s, queue_id, outcome.reason, permanent=outcome.permanent, refusals=outcome.refusals)

    def next_hop(self, s: Stimulus, queue_id: int) -> str:
        """The server that a queued copy goes to next; '' if it goes nowhere."""
        row = mta_queue.find_row(s.conn, queue_id)
        return (row.next_hop or "") if row is not None else ""

    def delivered(
        self, s: Stimulus, queue_id: int, refusals: Sequence[RecipientRefusal] = (), ordinary: str = ""
    ) -> list[LocalDelivery]:
        """The peer answered 250 after the content, for all recipients but those in `refusals`, which are
        tried again or returned. `ordinary`: why a system message went as ordinary mail (spec: ML-3). A row that is no
        longer there is passed over: sending twice is harmless.
        """
        # spec: OUT-9
        row = mta_queue.find_row(s.conn, queue_id)
        if row is None:
            return []
        refused = {refusal.address for refusal in refusals}
        s.trace.record(
            HopSent,
            mail=row.message_id or None,
            next_hop=row.next_hop or "",
            connector=row.connector,
            recipients=tuple(address for address in row.recipients if address not in refused),
            size=row.size,
            attempt=row.attempts + 1,
            queue_id=queue_id,
            ordinary=ordinary,
        )
        left = tuple(address for address in row.recipients if address in refused)
        if left:
            return self._failed(s, replace(row, recipients=left), refusals)
        mta_queue.drop_row(s.conn, row)
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
        row = mta_queue.find_row(s.conn, queue_id)
        if row is None:
            return []
        own = {refusal.address for refusal in refusals}
        rest = [RecipientRefusal(a, reason, permanent) for a in row.recipients if a not in own]
        return self._failed(s, row, [*refusals, *rest])

    def tick(self, s: Stimulus) -> list[LocalDelivery]:
        """Does what is due at `s.now` without a socket: looks again for a route for mails that have none."""
        local: list[LocalDelivery] = []
        for queue_id in mta_queue.unrouted_ids(s.conn, s.now):
            if not self._moved(s, queue_id, local):
                local += self.deferred(s, queue_id, NO_ROUTE)
        return local

    def reroute(self, s: Stimulus) -> list[LocalDelivery]:
        """Moves every queued copy that the routing that holds now would send another way. Linear in the
        queue.
        """
        # spec: RT-2
        local: list[LocalDelivery] = []
        for queue_id in mta_queue.all_ids(s.conn):
            self._moved(s, queue_id, local)
        return local

    def hold(self, s: Stimulus, queue_id: int, until_at: LabTime) -> None:
        """Keeps a copy back until `until_at`: the delay fault."""
        mta_queue.hold_row(s.conn, queue_id, until_at)

    def next_due(self, conn: Connection) -> LabTime | None:
        """When `ready` or `tick` has something to do; in the past when it has now. None: an empty queue."""
        return mta_queue.next_due(conn)

    def queued(self, conn: Connection) -> list[QueuedMail]:
        """The queue, for people to look at."""
        return mta_queue.queued_mails(conn)

    # --- inside

    def _split(self, recipients: Sequence[str], size: int) -> Split:
        return split_recipients(self.server, self.routing, self.addresses, recipients, size)

    def _dispatch(self, s: Stimulus, mail: OutgoingMail, hop: IncomingHop | None) -> list[LocalDelivery]:
        size = far_size(mail.content)
        split = self._split(mail.recipients, size)
        contents: dict[bool, int] = {}
        for next_hop, recipients in split.copies():
            far = next_hop is not None and next_hop.connector is not None and size != len(mail.content)
            if far not in contents:
                # spec: ML-4
                written = replace(mail, content=as_seven_bit(mail.content)) if far else mail
                contents[far] = mta_queue.add_content(s.conn, written, s.trace.lamport)
            self._queue(s, mail, size, contents[far], next_hop, recipients)
        return self._end(s, mail, split, 0, hop)

    def _queue(
        self,
        s: Stimulus,
        mail: OutgoingMail,
        size: int,
        content_id: int,
        hop: NextHop | None,
        recipients: tuple[str, ...],
    ) -> None:
        patience = self.policy.of(mail.priority)
        nowhere = Place(None, None, s.now + patience.retry_us)
        where = nowhere if hop is None else place(s.conn, s.now, hop, size, mail.priority)
        expires_at = s.now + patience.expiry_us
        queue_id = mta_queue.add_row(
            s.conn, content_id, where, recipients, priority=mail.priority, expires_at=expires_at
        )
        if hop is None:
            row = mta_queue.find_row(s.conn, queue_id)
            assert row is not None
            _trace_failure(s, row, NO_ROUTE, where.due_at)

    def _failed(self, s: Stimulus, row: QueueRow, refusals: Sequence[RecipientRefusal]) -> list[LocalDelivery]:
        """Ends an attempt that did not reach `row.recipients`: each of them is returned or tried again."""
        why = {refusal.address: refusal.reason for refusal in refusals}
        returned = {r.address: r.reason for r in refusals if r.permanent and r.address in row.recipients}
        again = tuple(address for address in row.recipients if address not in returned)
        gives_up = self._gives_up(s, row)
        if gives_up:
            returned |= {address: f"{gives_up}; the last attempt: {why[address]}" for address in again}
            again = ()
        reason = "; ".join(dict.fromkeys(why.values()))
        mail = self._mail_of(s, row) if returned else None
        if again:
            # The last attempt is made at the instant of expiry, or when the link next opens.
            retry_at = min(s.now + self.policy.of(row.priority).retry_us, row.expires_at)
            attempts = row.attempts if row.next_hop is None else row.attempts + 1
            left = replace(row, recipients=again, attempts=attempts, last_error=reason)
            local = self._requeue(s, left, retry_at, failed=True)
        else:
            _trace_failure(s, row, reason, None)
            mta_queue.drop_row(s.conn, row)
            local = []
        return local + self._return(s, mail, row.queue_id, returned) if mail else local

    def _gives_up(self, s: Stimulus, row: QueueRow) -> str:
        """Why a mail whose attempt has just failed is not tried again; '' when it is."""
        if s.now >= row.expires_at:
            return EXPIRED
        most = self.policy.max_retries
        return "" if most is None or row.attempts < most else TRIED_OFTEN.format(retries=most)

    def _moved(self, s: Stimulus, queue_id: int, local: list[LocalDelivery]) -> bool:
        """Moves a copy if the routing that holds now would not leave it as it is; adds to `local` what falls
        to this server.
        """
        row = mta_queue.find_row(s.conn, queue_id)
        assert row is not None
        copies = self._split(row.recipients, row.far_size).copies()
        if len(copies) == 1 and copies[0][1] == row.recipients and not differs(row, copies[0][0]):
            return False
        local += self._requeue(s, row, row.due_at)
        return True

    def _requeue(self, s: Stimulus, row: QueueRow, retry_at: LabTime, *, failed: bool = False) -> list[LocalDelivery]:
        """Gives a copy the route that holds now: at `retry_at` if it is the old one, like a new mail if not."""
        split = self._split(row.recipients, row.far_size)
        copies = [(_where(s, row, hop, retry_at), recipients) for hop, recipients in split.copies()]
        if failed:
            _trace_failure(s, row, row.last_error, copies[0][0].due_at if copies else None)
        local: list[LocalDelivery] = []
        if split.local or split.returned:
            local = self._end(s, self._mail_of(s, row), split, row.queue_id, None)
        if not copies:
            mta_queue.drop_row(s.conn, row)
            return local
        far_id = self._far_content(s, row) if any(where.connector is not None for where, _ in copies) else 0
        where, recipients = copies[0]
        content_id = far_id if where.connector is not None else row.content_id
        mta_queue.change_row(s.conn, replace(row, recipients=recipients, content_id=content_id), where)
        for where, recipients in copies[1:]:
            mta_queue.add_row(
                s.conn,
                far_id if where.connector is not None else row.content_id,
                where,
                recipients,
                priority=row.priority,
                expires_at=row.expires_at,
                attempts=row.attempts,
                last_error=row.last_error,
            )
        mta_queue.drop_content(s.conn, row.content_id)
        return local

    def _far_content(self, s: Stimulus, row: QueueRow) -> int:
        """The content of a copy as it crosses a connector."""
        # spec: ML-4
        if not row.binary:
            return row.content_id
        mail = self._mail_of(s, row)
        return mta_queue.add_content(s.conn, replace(mail, content=as_seven_bit(mail.content)), row.lamport)

    def _end(
        self, s: Stimulus, mail: OutgoingMail, split: Split, queue_id: int, hop: IncomingHop | None
    ) -> list[LocalDelivery]:
        """What of a mail goes no further: the delivery here, and the notice for what cannot be delivered."""
        local: list[LocalDelivery] = []
        if split.local:
            local.append(
                LocalDelivery(tuple(split.local), mail.sender, mail.content, mail.message_id, hop, mail.system)
            )
        if split.returned:
            local += self._return(s, mail, queue_id, split.returned)
        return local

    def _return(
        self, s: Stimulus, mail: OutgoingMail, queue_id: int, failures: Mapping[str, str]
    ) -> list[LocalDelivery]:
        """Gives up on the addresses in `failures`: an event, and a notice unless the mail is one itself."""
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
        return self.submit(s, notice(self.server, s.now, mail, failures))

    def _mail_of(self, s: Stimulus, row: QueueRow) -> OutgoingMail:
        content = mta_queue.find_content(s.conn, row.content_id)
        return OutgoingMail(row.message_id, row.sender, row.recipients, content, row.priority, row.subject, row.system)


def _where(s: Stimulus, row: QueueRow, hop: NextHop | None, retry_at: LabTime) -> Place:
    if hop is None:
        return Place(None, None, retry_at)
    if differs(row, hop):
        return place(s.conn, s.now, hop, row.far_size, row.priority)
    # A retry takes no new place on a slow link: what failed has not crossed, and it must not hold up the others.
    return Place(row.next_hop, row.connector, opening(hop, retry_at))


def _trace_failure(s: Stimulus, row: QueueRow, reason: str, retry_at: LabTime | None) -> None:
    s.trace.record(
        HopFailed,
        mail=row.message_id or None,
        next_hop=row.next_hop or "",
        connector=row.connector,
        reason=reason,
        retry_at=retry_at,
        queue_id=row.queue_id,
    )
