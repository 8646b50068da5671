"""Orders of an administrator about mails that wait to be sent: freeze, unfreeze, delete, return (spec: RT-5).

The MTA carries them out (`transport.mta.mta`). Here an order is checked, and the ids become rows of the queue.
"""

from __future__ import annotations

from collections.abc import Sequence

from node.errors import MessageUnknown, Misuse
from node.state.context import Context
from transport.envelope import LocalDelivery
from transport.mta import queue_table
from transport.mta.mta import QueueOrder
from transport.stimulus import Stimulus


def change_queue(
    ctx: Context, s: Stimulus, order: QueueOrder, *, next_hop: str | None, mails: Sequence[int] | None
) -> tuple[list[int], list[LocalDelivery]]:
    """Carry out an order. Return the ids of its mails, and the notices to this server."""
    if (next_hop is None) == (mails is None):
        raise Misuse("name either the next hop whose queue is meant, or the ids of mails in the queue")
    if next_hop is not None:
        known = ctx.mta.queues(s.conn)
        if next_hop not in known:
            raise Misuse(f"{ctx.name} has no queue for {next_hop}; its queues are for {', '.join(sorted(known))}")
        rows = queue_table.of_queue(s.conn, next_hop)
    else:
        rows = [_row(s, number) for number in dict.fromkeys(mails or ())]
    return [row.queue_id for row in rows], ctx.mta.change_queue(s, order, next_hop, rows)


def _row(s: Stimulus, number: int) -> queue_table.QueueRow:
    row = queue_table.find_row(s.conn, number)
    if row is None:
        raise MessageUnknown(f"no mail {number} in the queue; it may have been sent")
    return row
