"""The required responders of a status request: all holders, or a few found in six steps (spec: ST-3, ST-4).

Each step adds its first server that is not listed yet. The steps are repeated until three servers are listed or none is
left. The holder of the oldest replica is added, because newer replicas may be incomplete. [S0]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from node.backfill.source_selection import Source, unknown_last
from node.backfill.sources import candidate_of, source_of
from node.state.context import Context
from node.state.peers import note_request
from node.state.state_table import OwnRow
from node.state.version_profiles import Responders
from node.stored_values import HIERARCHY_FID
from node.tracking.number_sets import NumberSets
from traces.events import RespondersConsidered
from traces.labtime import LabTime
from transport.stimulus import Stimulus

LISTED = 3
"""How many servers the steps list. The holder of the oldest replica may be the fourth."""

THE_OLDEST = 7
"""For the holder of the oldest replica, traces have this number in place of a step."""

_Fits = Callable[[Source], bool]
_Key = Callable[[Source], tuple[int, ...]]

STEPS: Sequence[tuple[_Fits, _Key]] = (
    (lambda holder: holder.near, lambda holder: (holder.backfilled_at,)),
    (
        lambda holder: not holder.near and is_active(holder) and holder.affinity is not None,
        lambda holder: (unknown_last(holder.affinity), unknown_last(holder.cost)),
    ),
    (lambda holder: holder.near, lambda holder: ()),
    (
        lambda holder: not holder.near and holder.affinity is not None,
        lambda holder: (unknown_last(holder.affinity), unknown_last(holder.cost)),
    ),
    (
        lambda holder: not holder.near and holder.transit_us is not None,
        lambda holder: (unknown_last(holder.transit_us),),
    ),
    (lambda holder: not holder.near, lambda holder: ()),
)
"""For each step of S0: which servers it considers, and their order. Newer servers and full holders come first."""


def six_steps(holders: Sequence[Source], added_at: Mapping[str, LabTime], limit: int) -> list[tuple[int, Source]]:
    """Return the responders in the order in which they were listed, each with its step, at most `limit`.

    added_at: for each store, when its replica was added.
    """
    responders: list[tuple[int, Source]] = []
    holders_left = list(holders)
    while holders_left and len(responders) < LISTED:
        for step, (fits, key) in enumerate(STEPS, start=1):
            candidates = [holder for holder in holders_left if fits(holder)]
            if not candidates or len(responders) == LISTED:
                continue
            first = min(candidates, key=lambda holder: (holder.older, not holder.has_all, key(holder), holder.guid))
            responders.append((step, first))
            holders_left.remove(first)
    oldest = min(holders_left, key=lambda holder: (added_at[holder.store], holder.guid), default=None)
    if oldest is not None and added_at[oldest.store] < min(added_at[holder.store] for _, holder in responders):
        responders.append((THE_OLDEST, oldest))
    return responders[:limit]


def choose(ctx: Context, s: Stimulus, own: OwnRow, way: Responders) -> list[str]:
    """Return the required responders for one folder and trace the choice. A server of step 1 moves to the end of the queue."""
    stores = ctx.reached(own.fid, ctx.other_holders(own.fid))
    folder = ctx.folders.text_of(own.fid)
    if way is Responders.ALL_HOLDERS:
        s.trace.record(RespondersConsidered, folder=folder, candidates=(), chosen=tuple(stores), method=way.value)
        return stores
    missing = ctx.rst.union(own.fid) - own.numbers
    holders = []
    for store in stores:
        row = ctx.rst.row(own.fid, store)
        numbers = row.numbers if row else NumberSets.EMPTY
        holders.append(source_of(ctx, s.conn, store, missing & numbers, has_all=missing <= numbers))
    added_at = _added_at(ctx, own.fid, holders)
    limit = ctx.config.profile.responder_limit
    responders = six_steps(holders, added_at, limit)
    for step, holder in responders:
        if step == 1:  # "effectively moves to the end of the queue" [S0]
            note_request(s.conn, holder.store, s.now)
    steps = {holder.store: step for step, holder in responders}
    others_left = [(0, holder) for holder in holders if holder.store not in steps]
    chosen = tuple(steps)
    s.trace.record(
        RespondersConsidered,
        folder=folder,
        candidates=tuple(
            msgspec.structs.replace(
                candidate_of(holder, "" if step else "enough are listed", preferred=False, group=step),
                active=is_active(holder),
                added_at=added_at[holder.store],
            )
            for step, holder in responders + others_left
        ),
        chosen=chosen,
        method=way.value,
        limit=limit,
    )
    return list(chosen)


def is_active(holder: Source) -> bool:
    """Return whether a mail from this store has arrived, and it is not marked down."""
    return holder.transit_us is not None and not holder.down


def _added_at(ctx: Context, fid: int, holders: Sequence[Source]) -> dict[str, LabTime]:
    """Return when the replica of each store was added; for the hierarchy, when the store joined."""
    props = None if fid == HIERARCHY_FID else ctx.folders.at(fid).props
    times = {} if props is None else dict(zip(props.replicas, props.added_at, strict=True))
    return {holder.store: times.get(holder.store, holder.joined_at) for holder in holders}
