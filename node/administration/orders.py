"""Orders of an administrator to one store: Send Hierarchy and Contents, Synchronize Hierarchy and Content (spec: AD-1).

Each order concerns the hierarchy (`1-1`) or the content of one folder that the store holds. It is carried out at once, whatever
the schedule. The tools of 5.5 and 2000 have no such commands, so their stores refuse.

| order | mail | to |
|---|---|---|
| send | hierarchy 0x2 or content 0x4, marked "resent" | the chosen stores |
| synchronize | status request 0x20; all must respond | all other holders |
"""

from __future__ import annotations

from collections.abc import Sequence

from node.backfill.suspension import is_suspended
from node.broadcasts.resend import resend
from node.codec.items import ROOT_TEXT
from node.errors import Misuse
from node.objects.local_changes import replica_for_posts
from node.state.context import Context
from node.state.state_table import OwnRow
from node.state.version_profiles import Responders
from node.status.statuses import request
from node.stored_values import HIERARCHY_FID
from node.tracking.number_sets import NumberSets
from traces.events import StatusOrdered
from traces.labtime import DAY_US
from transport.stimulus import Stimulus


def send_again(
    ctx: Context, s: Stimulus, path: str, *, days: int, to: Sequence[str] | None
) -> tuple[list[str], NumberSets]:
    """Send the changes of the last `days` days to the stores `to`, or to all other holders if it is None.

    Return these stores, and the numbers that the mails claim.
    """
    own = _replica(ctx, path, "Send Hierarchy and Send Contents")
    if days < 1:
        raise Misuse(f"{days} is not a number of days; write 1 or more")
    if is_suspended(ctx, own.fid):
        raise Misuse(f"content replication is suspended on {ctx.name}; resume it before {path} is sent")  # spec: RP-5
    stores = _chosen(ctx, own, path, to)
    return stores, resend(ctx, s, own, stores, max(0, s.now - days * DAY_US))


def synchronize(ctx: Context, s: Stimulus, path: str) -> list[str]:
    """Request the status of the hierarchy or a folder now. Return the stores that must respond."""
    own = _replica(ctx, path, "Synchronize Hierarchy and Synchronize Content")
    stores = _chosen(ctx, own, path, None)
    s.trace.record(StatusOrdered, folder=ctx.folders.text_of(own.fid))
    request(ctx, s, [own], Responders.ALL_HOLDERS)
    return stores


def _replica(ctx: Context, path: str, order: str) -> OwnRow:
    """Return this store's row of a folder. Raise Misuse if the store cannot carry out the order."""
    profile = ctx.config.profile
    if not profile.obeys_orders:
        raise Misuse(f"{ctx.name} has version {profile.version}, which does not have {order}; 2003 and 2007 do")
    if not ctx.replicates:
        raise Misuse(f"{ctx.name} runs no replication agent; set Replication to 1 and start the server again")
    if path == ROOT_TEXT:
        own = ctx.rst.own(HIERARCHY_FID)
        assert own is not None, "every store holds the hierarchy"
        return own
    return replica_for_posts(ctx, path)[1]


def _chosen(ctx: Context, own: OwnRow, path: str, to: Sequence[str] | None) -> list[str]:
    """Return the chosen stores. Raise Misuse if one of them does not hold the folder or has no address, or if there is none."""
    if ctx.directory.address(ctx.name) is None:  # spec: ML-1
        raise Misuse(
            f"{ctx.name} has no mail address in the directory, so it can send nothing; pflab directory shows why"
        )
    others = ctx.other_holders(own.fid)
    if others and not ctx.in_tree(own.fid, others):  # spec: ML-8
        raise Misuse(
            f"{ctx.name} can send nothing about {path}: the directory object of {', '.join(ctx.unlinked_holders(own.fid))},"
            " which holds it, names no public folder tree"
        )
    holders = ctx.reached(own.fid, others)
    stores = holders if to is None else sorted(set(to))
    wrong = [store for store in stores if store not in holders]
    if wrong:
        raise Misuse(f"{', '.join(wrong)} cannot get {path} from {ctx.name}; {_holders(holders)}")
    if not stores:
        raise Misuse(f"there is no store to which {ctx.name} could write about {path}; {_holders(holders)}")
    return stores


def _holders(holders: Sequence[str]) -> str:
    return (
        f"the other holders are {', '.join(holders)}" if holders else "no other store holds it, or none has an address"
    )
