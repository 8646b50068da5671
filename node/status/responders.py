"""The required responders of a status request: all holders, or a few found in six steps (spec: ST-3, ST-4).

Each step adds its first server that is not listed yet. The steps are repeated until three servers are listed or none is
left. The holder of the oldest replica is added, because newer replicas may be incomplete. [S0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from node.backfill.sources import entry_of
from node.state.context import Context
from node.state.peers import note_request, peer_of
from node.state.state_table import OwnRow
from node.state.version_profiles import FIRST_WITH_ROUTING_GROUPS, PROFILES, Responders
from node.stored_values import HIERARCHY_FID
from node.tracking.number_sets import NumberSets
from traces.events import Candidate, RespondersConsidered
from traces.labtime import LabTime
from transport.sql import Connection
from transport.stimulus import Stimulus

LISTED = 3
"""How many servers the steps list. The holder of the oldest replica may be the fourth."""

THE_OLDEST = 7
"""For the holder of the oldest replica, traces have this number in place of a step."""

_UNKNOWN = 2**62


@dataclass(frozen=True, slots=True)
class Holder:
    """Another holder as the requesting store knows it. The fields are those of `traces.events.Candidate`."""

    store: str
    guid: bytes
    site: str
    version: str
    near: bool
    down: bool
    active: bool
    cost: int | None
    affinity: int | None
    transit_us: int | None
    backfilled_at: LabTime
    has_all: bool
    has: int
    added_at: LabTime

    @property
    def older(self) -> bool:
        return PROFILES[self.version].rank < FIRST_WITH_ROUTING_GROUPS


def _known(value: int | None) -> int:
    return _UNKNOWN if value is None else value


_Fits = Callable[[Holder], bool]
_Key = Callable[[Holder], tuple[int, ...]]

STEPS: Sequence[tuple[_Fits, _Key]] = (
    (lambda holder: holder.near, lambda holder: (holder.backfilled_at,)),
    (
        lambda holder: not holder.near and holder.active and holder.affinity is not None,
        lambda holder: (_known(holder.affinity), _known(holder.cost)),
    ),
    (lambda holder: holder.near, lambda holder: ()),
    (
        lambda holder: not holder.near and holder.affinity is not None,
        lambda holder: (_known(holder.affinity), _known(holder.cost)),
    ),
    (lambda holder: not holder.near and holder.transit_us is not None, lambda holder: (_known(holder.transit_us),)),
    (lambda holder: not holder.near, lambda holder: ()),
)
"""For each step of S0: which servers it considers, and their order. Newer servers and full holders come first."""


def six_steps(holders: Sequence[Holder], limit: int) -> list[tuple[int, Holder]]:
    """Return the responders in the order in which they were listed, each with its step, at most `limit`."""
    responders: list[tuple[int, Holder]] = []
    holders_left = list(holders)
    while holders_left and len(responders) < LISTED:
        for step, (fits, key) in enumerate(STEPS, start=1):
            candidates = [holder for holder in holders_left if fits(holder)]
            if not candidates or len(responders) == LISTED:
                continue
            first = min(candidates, key=lambda holder: (holder.older, not holder.has_all, key(holder), holder.guid))
            responders.append((step, first))
            holders_left.remove(first)
    oldest = min(holders_left, key=lambda holder: (holder.added_at, holder.guid), default=None)
    if oldest is not None and oldest.added_at < min(holder.added_at for _, holder in responders):
        responders.append((THE_OLDEST, oldest))
    return responders[:limit]


def choose(ctx: Context, s: Stimulus, own: OwnRow, way: Responders) -> list[str]:
    """Return the required responders for one folder and trace the choice. A server of step 1 moves to the end of the queue."""
    stores = [store for store in ctx.other_holders(own.fid) if ctx.directory.address(store) is not None]  # spec: ML-1
    folder = ctx.folders.text_of(own.fid)
    if way is Responders.ALL_HOLDERS:
        s.trace.record(RespondersConsidered, folder=folder, candidates=(), chosen=tuple(stores), method=way.value)
        return stores
    holders = [_holder(ctx, s.conn, own, store) for store in stores]
    limit = ctx.config.profile.responder_limit
    responders = six_steps(holders, limit)
    for step, holder in responders:
        if step == 1:  # "effectively moves to the end of the queue" [S0]
            note_request(s.conn, holder.store, s.now)
    steps = {holder.store: step for step, holder in responders}
    others_left = [holder for holder in holders if holder.store not in steps]
    chosen = [holder.store for _, holder in responders]
    s.trace.record(
        RespondersConsidered,
        folder=folder,
        candidates=tuple(
            _candidate(holder, steps.get(holder.store, 0))
            for holder in [*(holder for _, holder in responders), *others_left]
        ),
        chosen=tuple(chosen),
        method=way.value,
        limit=limit,
    )
    return chosen


def _holder(ctx: Context, conn: Connection, own: OwnRow, store: str) -> Holder:
    entry = entry_of(ctx, store)
    missing = ctx.rst.union(own.fid) - own.numbers
    row = ctx.rst.row(own.fid, store)
    numbers = row.numbers if row else NumberSets.EMPTY
    peer = peer_of(conn, store)
    return Holder(
        store=store,
        guid=entry.guid,
        site=entry.site,
        version=entry.version,
        near=ctx.directory.same_site(ctx.name, store),
        down=peer.down,
        active=peer.transit_us is not None and not peer.down,  # a mail from it has arrived
        cost=ctx.directory.cost(ctx.name, store),
        affinity=ctx.directory.affinity(ctx.name, store),
        transit_us=peer.transit_us,
        backfilled_at=peer.backfilled_at,
        has_all=missing <= numbers,
        has=(missing & numbers).count(),
        added_at=_added_at(ctx, own.fid, store, entry.joined_at),
    )


def _added_at(ctx: Context, fid: int, store: str, joined_at: LabTime) -> LabTime:
    """Return when the store's replica was added; for the hierarchy, when the store joined."""
    props = None if fid == HIERARCHY_FID else ctx.folders.at(fid).props
    if props is None:
        return joined_at
    return dict(zip(props.replicas, props.added_at, strict=True)).get(store, joined_at)


def _candidate(holder: Holder, step: int) -> Candidate:
    return Candidate(
        store=holder.store,
        down=holder.down,
        preferred=False,
        cost=holder.cost,
        version=holder.version,
        has=holder.has,
        passed_over="" if step else "enough are listed",
        site=holder.site,
        near=holder.near,
        group=step,
        has_all=holder.has_all,
        affinity=holder.affinity,
        transit_us=holder.transit_us,
        backfilled_at=holder.backfilled_at,
        guid=holder.guid.hex(),
        active=holder.active,
        added_at=holder.added_at,
    )
