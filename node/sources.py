"""Choosing backfill sources (spec: BF-3, BF-4, BF-7). A version's way of choosing is an entry of `_CHOICES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from node.cnset import CNSet
from node.context import Context
from node.idset import decode_idset
from node.profile import VERSION_RANK, SourceChoice
from traces import LabTime
from traces.events import Candidate, SourcesConsidered
from transport.sql import Connection
from transport.stimulus import Stimulus

Choice = list[tuple[str, CNSet, CNSet]]
"""Sources in the order they are asked, each with what it is asked for."""

_UNREACHABLE = 2**31  # sorts a store that no route leads to behind every cost


@dataclass(frozen=True, slots=True)
class _Source:
    store: str
    guid: bytes
    down: bool
    preferred: bool
    cost: int | None
    version: str
    numbers: CNSet  # of the missing ones, those its row claims
    fai: CNSet
    addressed: bool

    @property
    def has(self) -> int:
        return self.numbers.count() + self.fai.count()


def choose(ctx: Context, s: Stimulus, fid: int, entry: int, numbers: CNSet, fai: CNSet) -> Choice:
    """Who is asked for what, by this store's version; the choice and why each was passed over are traced."""
    stores = ctx.other_holders(fid)
    stores += [store for store in leavers(s.conn, fid) if store not in stores]
    found = [_source(ctx, s.conn, fid, store, numbers, fai) for store in stores]
    ordered, chosen, reasons = _CHOICES[ctx.config.profile.source_choice](found, numbers, fai)
    s.trace.record(
        SourcesConsidered,
        folder=ctx.folders.text_of(fid),
        entry=entry,
        candidates=tuple(
            Candidate(
                store=each.store,
                down=each.down,
                preferred=each.preferred,
                cost=each.cost,
                version=each.version,
                has=each.has,
                passed_over=reasons.get(each.store, ""),
            )
            for each in ordered
        ),
        chosen=tuple(store for store, _, _ in chosen),
    )
    return chosen


def _source(ctx: Context, conn: Connection, fid: int, store: str, numbers: CNSet, fai: CNSet) -> _Source:
    entry = ctx.directory.get(store)
    assert entry is not None, "holders have joined the directory"
    row = ctx.rst.row(fid, store)
    has, has_fai = (row.numbers, row.fai) if row else leaver_claims(conn, fid, store)
    down = conn.exec_driver_sql("SELECT down FROM peer WHERE store = ?", (store,)).scalar()
    return _Source(
        store=store,
        guid=entry.guid,
        down=bool(down),
        preferred=store == ctx.config.preferred_source,
        cost=ctx.directory.cost(ctx.name, store),
        version=entry.version,
        numbers=numbers & has,
        fai=fai & has_fai,
        addressed=entry.address is not None,
    )


def _sorted_list(found: list[_Source], numbers: CNSet, fai: CNSet) -> tuple[list[_Source], Choice, dict[str, str]]:
    """2003 and 2007: one sorted list, asked from its head until all is requested (spec: BF-3) [S1 S3].

    The sources name the criteria in order and do not say which weighs most; here the first does. [X, C4]
    """
    ordered = sorted(
        found,
        key=lambda each: (
            each.down,
            not each.preferred,
            _UNREACHABLE if each.cost is None else each.cost,
            -VERSION_RANK[each.version],
            -each.has,
            each.guid,
        ),
    )
    chosen: Choice = []
    reasons: dict[str, str] = {}
    for each in ordered:
        if not each.has:
            reasons[each.store] = "has none of it"
        elif not each.addressed:
            reasons[each.store] = "has no mail address"
        else:
            share, share_fai = each.numbers & numbers, each.fai & fai
            if not share and not share_fai:
                reasons[each.store] = "the ones before it have all it has"
                continue
            chosen.append((each.store, share, share_fai))
            numbers, fai = numbers - share, fai - share_fai
    return ordered, chosen, reasons


_CHOICES: Mapping[
    SourceChoice, Callable[[list[_Source], CNSet, CNSet], tuple[list[_Source], Choice, dict[str, str]]]
] = {SourceChoice.SORTED_LIST: _sorted_list}


def leavers(conn: Connection, fid: int) -> list[str]:
    """Stores that leave the folder and wait until another has all they have: sources too, for that long (spec: RP-2)."""
    return [store for (store,) in conn.exec_driver_sql("SELECT store FROM leaver WHERE fid = ? ORDER BY store", (fid,))]


def leaver_claims(conn: Connection, fid: int, store: str) -> tuple[CNSet, CNSet]:
    row = conn.exec_driver_sql(
        "SELECT numbers, numbers_fai FROM leaver WHERE fid = ? AND store = ?", (fid, store)
    ).first()
    return (decode_idset(row[0]), decode_idset(row[1])) if row else (CNSet.EMPTY, CNSet.EMPTY)


def touch(conn: Connection, store: str, now: LabTime) -> None:
    """A request goes to `store` now (spec: BF-9)."""
    conn.exec_driver_sql(
        "INSERT INTO peer VALUES (?, 0, 0, ?, NULL) ON CONFLICT (store) DO UPDATE SET backfilled_at = excluded.backfilled_at",
        (store, now),
    )
