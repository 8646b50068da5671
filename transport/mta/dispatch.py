"""What happens to a mail inside an MTA: copies are queued, fail, are tried again, take another way, go back.

The part of `transport.mta.mta.Mta` that nobody calls from outside.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from topology.routing import NextHop, Routing
from traces.events import HopExpired, HopFailed
from traces.labtime import LabTime
from transport.envelope import IncomingHop, LocalDelivery, OutgoingMail, RecipientRefusal
from transport.mime.body_encoding import as_seven_bit, far_size
from transport.mta import queue_table
from transport.mta.non_delivery import NULL_SENDER, notice
from transport.mta.queue_table import Place, QueueRow
from transport.mta.retry_policy import MtaPolicy
from transport.mta.routing import Split, differs, opening, place, split_recipients
from transport.stimulus import Stimulus

NO_ROUTE: Final = "4.4.4 no route to the recipients' servers at the moment"
EXPIRED: Final = "4.4.7 not delivered before it expired"
TRIED_OFTEN: Final = "4.4.7 not delivered in {retries} retries"
"""Reasons, each with the enhanced status code of RFC 3463."""


class Dispatch:
    """The queue of `server` and the ways out of it."""

    def __init__(
        self, server: str, routing: Routing, addresses: Callable[[str], str | None], policy: MtaPolicy
    ) -> None:
        self.server = server
        self.routing = routing
        self.addresses = addresses
        self._policy = policy

    def reroute(self, s: Stimulus) -> list[LocalDelivery]:
        """Moves every queued copy that the routing that holds now would send another way. Linear in the
        queue.
        """
        # spec: RT-2
        local: list[LocalDelivery] = []
        for queue_id in queue_table.all_ids(s.conn):
            self._moved(s, queue_id, local)
        return local

    def _split(self, recipients: Sequence[str], size: int) -> Split:
        return split_recipients(self.server, self.routing, self.addresses, recipients, size, self._policy.smart_host)

    def _dispatch(self, s: Stimulus, mail: OutgoingMail, hop: IncomingHop | None) -> list[LocalDelivery]:
        size = far_size(mail.content)
        split = self._split(mail.recipients, size)
        contents: dict[bool, int] = {}
        for next_hop, recipients in split.copies():
            far = next_hop is not None and next_hop.connector is not None and size != len(mail.content)
            if far not in contents:
                # spec: ML-4
                written = replace(mail, content=as_seven_bit(mail.content)) if far else mail
                contents[far] = queue_table.add_content(s.conn, written, s.trace.lamport)
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
        expires_at = s.now + self._policy.of(mail.priority).expiry_us
        where = _nowhere(expires_at) if hop is None else place(s.conn, s.now, hop, size, mail.priority)
        queue_id = queue_table.add_row(
            s.conn, content_id, where, recipients, priority=mail.priority, expires_at=expires_at
        )
        if hop is None:
            row = queue_table.find_row(s.conn, queue_id)
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
            retry_at = min(s.now + self._policy.of(row.priority).retry_us, row.expires_at)
            attempts = row.attempts if row.next_hop is None else row.attempts + 1
            left = replace(row, recipients=again, attempts=attempts, last_error=reason)
            local = self._requeue(s, left, retry_at, failed=True)
        else:
            _trace_failure(s, row, reason, None)
            queue_table.drop_row(s.conn, row)
            local = []
        return local + self._return(s, mail, row.queue_id, returned) if mail else local

    def _gives_up(self, s: Stimulus, row: QueueRow) -> str:
        """Why a mail whose attempt has just failed is not tried again; '' when it is."""
        if s.now >= row.expires_at:
            return EXPIRED
        most = self._policy.max_retries
        return "" if most is None or row.attempts < most else TRIED_OFTEN.format(retries=most)

    def _moved(self, s: Stimulus, queue_id: int, local: list[LocalDelivery]) -> bool:
        """Moves a copy if the routing that holds now would not leave it as it is; adds to `local` what falls
        to this server.
        """
        row = queue_table.find_row(s.conn, queue_id)
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
            queue_table.drop_row(s.conn, row)
            return local
        far_id = self._far_content(s, row) if any(where.connector is not None for where, _ in copies) else 0
        if failed or row.next_hop is None:
            where, recipients = copies.pop(0)
            content_id = far_id if where.connector is not None else row.content_id
            queue_table.change_row(s.conn, replace(row, recipients=recipients, content_id=content_id), where)
        else:
            # It may be on its way by the old route: the end of that attempt must not be taken for one by the new.
            queue_table.forget_row(s.conn, row)
        for where, recipients in copies:
            queue_table.add_row(
                s.conn,
                far_id if where.connector is not None else row.content_id,
                where,
                recipients,
                priority=row.priority,
                expires_at=row.expires_at,
                attempts=row.attempts,
                last_error=row.last_error,
            )
        queue_table.drop_content(s.conn, row.content_id)
        return local

    def _far_content(self, s: Stimulus, row: QueueRow) -> int:
        """The content of a copy as it crosses a connector."""
        # spec: ML-4
        if not row.binary:
            return row.content_id
        mail = self._mail_of(s, row)
        return queue_table.add_content(s.conn, replace(mail, content=as_seven_bit(mail.content)), row.lamport)

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
        return self._dispatch(s, notice(self.server, s.now, mail, failures), None)

    def _mail_of(self, s: Stimulus, row: QueueRow) -> OutgoingMail:
        content = queue_table.find_content(s.conn, row.content_id)
        return OutgoingMail(row.message_id, row.sender, row.recipients, content, row.priority, row.subject, row.system)


def _nowhere(expires_at: LabTime) -> Place:
    """The place of a copy without a route: nothing is tried before routes change, which moves what is queued, or it expires."""
    # spec: RT-2
    return Place(None, None, expires_at)


def _where(s: Stimulus, row: QueueRow, hop: NextHop | None, retry_at: LabTime) -> Place:
    if hop is None:
        return _nowhere(row.expires_at)
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
