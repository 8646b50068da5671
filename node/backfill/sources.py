"""The choice of backfill sources from the tables of a store (spec: BF-3, BF-4, BF-7, BF-9, RP-2, RT-3, RT-4).

This module reads what the store knows of each source, calls the method of the store's version in
`node.backfill.source_selection`, and records the choice in the trace.
"""

from __future__ import annotations

from dataclasses import replace

from node.backfill.rows import entries
from node.backfill.source_selection import ADDRESS, CHOICES, TREE, Choice, Gap, Source, group_of
from node.objects.expiry import expired_at_store
from node.state.context import Context
from node.state.peers import peer_of
from node.state.version_profiles import PROFILES, SourceChoice
from node.tracking.number_sets import NumberSets
from traces.events import Candidate, SettingIgnored, SourcesConsidered
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

LEAVERS = Statement("SELECT store FROM leaver WHERE fid = ? ORDER BY store")
CLAIMS_OF_LEAVER = Statement("SELECT numbers, numbers_fai FROM leaver WHERE fid = ? AND store = ?")


def choose(ctx: Context, s: Stimulus, fid: int, entry: int, gap: Gap) -> Choice:
    """Choose the sources to ask, each with its numbers. Record the choice and its reasons in the trace (spec: BF-3)."""
    missing = missing_of(s.conn, fid)
    holders = ctx.other_holders(fid)
    claims = {store: _claims(ctx, s.conn, fid, store) for store in sources_of(ctx, s.conn, fid)}
    candidates = [
        source_of(ctx, s.conn, store, gap.numbers & has, has_all=missing <= has, leaving=store not in holders)
        for store, has in claims.items()
    ]
    in_tree = ctx.in_tree(fid, list(claims))
    candidates = [source if source.store in in_tree else replace(source, unreached=TREE) for source in candidates]
    way = ctx.config.profile.source_choice
    choice = CHOICES[way](candidates, gap)
    s.trace.record(
        SourcesConsidered,
        folder=ctx.folders.text_of(fid),
        entry=entry,
        candidates=tuple(
            candidate_of(
                source,
                choice.passed_over.get(source.store, ""),
                preferred=source.preferred,
                group=group_of(source) if way is SourceChoice.SIX_GROUPS else 0,
            )
            for source in choice.ordered
        ),
        chosen=tuple(source.store for source, _ in choice.shares),
        method=way.value,
        **gap.numbers.texts(),
        **missing.texts("missing"),
        one_by_one=choice.one_by_one,
    )
    return choice


def missing_of(conn: Connection, fid: int) -> NumberSets:
    """Return all numbers that this store lacks in the folder. These are the numbers of the folder's entries."""
    return NumberSets.union_all(entry.numbers for entry in entries(conn, fid))


def in_order(ctx: Context, conn: Connection) -> list[Source]:
    """Return all other stores in the order in which this store considers them if they have the same numbers."""
    stores = [
        source_of(ctx, conn, store, NumberSets.EMPTY, has_all=True)
        for store in ctx.directory.stores()
        if store != ctx.name
    ]
    return CHOICES[ctx.config.profile.source_choice](stores, Gap(NumberSets.EMPTY)).ordered


def _claims(ctx: Context, conn: Connection, fid: int, store: str) -> NumberSets:
    return claimed_by(ctx, conn, fid, store) - expired_at_store(conn, fid, store)  # spec: DL-3


def source_of(
    ctx: Context, conn: Connection, store: str, numbers: NumberSets, *, has_all: bool, leaving: bool = False
) -> Source:
    """Return what this store knows about another one. numbers: the numbers, of those that are wanted, that it claims."""
    entry = ctx.directory.get(store)
    assert entry is not None, "holders have joined the directory"
    peer = peer_of(conn, store)
    return Source(
        store=store,
        guid=entry.guid,
        joined_at=entry.joined_at,
        site=entry.site,
        version=entry.version,
        rank=PROFILES[entry.version].rank,
        near=ctx.directory.same_site(ctx.name, store),
        down=peer.down,
        preferred=store == ctx.config.preferred_source,  # spec: BF-7
        cost=ctx.directory.cost(ctx.name, store),
        affinity=ctx.directory.affinity(ctx.name, store),
        transit_us=peer.transit_us,
        backfilled_at=peer.backfilled_at,
        unreached="" if entry.address is not None else ADDRESS,
        has_all=has_all,
        numbers=numbers,
        leaving=leaving,
    )


def candidate_of(source: Source, passed_over: str, *, preferred: bool, group: int) -> Candidate:
    """Return a source as traces have it."""
    return Candidate(
        store=source.store,
        down=source.down,
        preferred=preferred,
        cost=source.cost,
        version=source.version,
        has=source.has,
        passed_over=passed_over,
        site=source.site,
        near=source.near,
        group=group,
        has_all=source.has_all,
        affinity=source.affinity,
        transit_us=source.transit_us,
        backfilled_at=source.backfilled_at,
        guid=source.guid.hex(),
        leaving=source.leaving,
    )


def record_ignored_setting(ctx: Context, s: Stimulus) -> None:
    """Record an event if the preferred source is ignored, because it is not a server of this organization (spec: BF-7)."""
    preferred = ctx.config.preferred_source
    if preferred is not None and ctx.directory.get(preferred) is None:
        reason = f"no server of that name has joined; there are {', '.join(ctx.directory.stores())}"
        s.trace.record(SettingIgnored, name="Preferred Backfill Source", value=preferred, reason=reason)


def sources_of(ctx: Context, conn: Connection, fid: int) -> list[str]:
    """Return the stores that may have what this store lacks: the other holders and the leaving stores (spec: RP-2)."""
    holders = ctx.other_holders(fid)
    return holders + [store for store in leavers(conn, fid) if store not in holders]


def claimed_by(ctx: Context, conn: Connection, fid: int, store: str) -> NumberSets:
    """Return the numbers that a source claims by its row or, if it is leaving, by its delete-pending request."""
    row = ctx.rst.row(fid, store)
    return row.numbers if row else leaver_claims(conn, fid, store)


def leavers(conn: Connection, fid: int) -> list[str]:
    """Return the leaving stores of a folder.

    A leaving store is a source until another store has everything that it has (spec: RP-2).
    """
    return [store for (store,) in conn.exec_driver_sql(LEAVERS, (fid,))]


def leaver_claims(conn: Connection, fid: int, store: str) -> NumberSets:
    """Return the numbers that a leaving store said it has."""
    row = conn.exec_driver_sql(CLAIMS_OF_LEAVER, (fid, store)).first()
    return NumberSets.decode(*row) if row else NumberSets.EMPTY
