"""For each object: which versions must exist, and which versions each store has.

The module reasons like the oracle (CV-2), but was written independently of it, and works on histories. A version is
superseded if the predecessor list of another version covers its number (CN-4); all other versions must exist (CF-1). A
delete wins (DL-2). Of a folder or an associated message only the version of the last writer exists (HI-5, CN-9). A
version that only a restored store had may be lost, and then the version that it replaced must exist again (DU-1).

One shuffle collects the rows of an object; everything else is computed from its small array.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.conditions import COVERS
from analytics.evidence.organization import HIERARCHY

OBJECT: Final = ("trace", "folder", "object")

_ROW: Final = (
    "store", "act", "seq", "at", "kind", "number", "guid", "counter", "pcl", "rivals", "supersedes", "modified_at", "digest",
    "deleted", "undone", "dropped",
)  # fmt: skip

# r, u, v: rows. SQL is easier to read here than nested Python lambdas, because inner and outer rows have different names.
_EXPIRED: Final = (
    "exists(expiries, e -> e.store = x.store and e.number = x.number and e.seq > x.seq"
    " and e.at <= {at} and not e.undone)"
)
GONE: Final = (
    "(exists(expiries, e -> e.number = {number} and e.forgotten_at <= {at}) or"
    " exists(expiries, e -> e.number = {number} and e.at <= {at}) and not exists(rows, x -> x.number = {number} and"
    f" x.act in ('made', 'applied') and x.at <= {{at}} and not x.undone and not x.dropped and not {_EXPIRED}))"
)
"""SQL for whether a new replica may go without a version at a time, because the version has expired (DL-3): no store has it any
more, or a store on which it expired no longer has the record of that, and so cannot tell a requester."""

_COVERS: Final = f"(v.number != u.number and {COVERS.format(v='v', u='u')})"
_INCLUDES: Final = f"(r.number = u.number or r.deleted or {COVERS.format(v='r', u='u')})"
_ORDER: Final = "struct(v.modified_at, v.guid, v.counter)"
_VERSION: Final = "struct(v.number, v.guid, v.counter, v.digest)"
_LATEST: Final = (
    f"case when size(s.kept) < 2 then transform(s.kept, v -> {_VERSION})"
    f" else array(array_max(transform(s.kept, v -> struct(v.seq as place, {_VERSION} as row))).row) end"
)
"""SQL for the version that a store has of an object that can have only one: the version that it made or applied
last."""


def _uncovered(rows: str) -> str:
    return f"case when size({rows}) < 2 then {rows} else filter({rows}, u -> not exists({rows}, v -> {_COVERS})) end"


def _last_writer(rows: str) -> str:
    """Return SQL for an array with the last writer's version (CN-8)."""
    key = f"struct({_ORDER} as place, {_VERSION} as row)"
    last = f"array_max(transform({rows}, v -> {key})).row"
    return f"case when size({rows}) < 2 then transform({rows}, v -> {_VERSION}) else array({last}) end"


def objects(rows: DataFrame, expiries: DataFrame) -> DataFrame:
    """Return OBJECT, kind, subject, made (numbers), alone (only one version can exist), tombstone (a number, or null), versions
    (those that must exist: number, guid, counter, digest), lost (numbers), forgotten (some store dropped its tombstone),
    gone (the versions that a replica may lack because of age limits), states, rows and expiries (its histories, for other
    tables).

    states: what each store has: store, versions, has_tombstone (the store has applied a deletion and keeps its tombstone),
    had_tombstone (the store once had a tombstone).
    """
    grouped = rows.groupBy(*OBJECT).agg(
        F.collect_list(F.struct(*_ROW)).alias("rows"),
        F.min("kind").alias("kind"),
        F.max_by("subject", F.when(F.col("subject") != "", F.struct("modified_at", "counter"))).alias("subject"),
    )
    expired = F.collect_list(F.struct("store", "seq", "at", "number", "undone", "forgotten_at")).alias("expiries")
    grouped = grouped.join(expiries.groupBy(*OBJECT).agg(expired), [*OBJECT], "left")
    steps = (
        ("expiries", "coalesce(expiries, array())"),
        ("alone", f"folder = '{HIERARCHY}' or kind = 'fai'"),
        ("made", "filter(rows, r -> r.act = 'made')"),
        ("undone_rows", "filter(rows, r -> r.undone and r.act != 'tombstone dropped')"),
        ("present", "filter(rows, r -> not r.undone and not r.dropped and r.act != 'tombstone dropped')"),
        (
            "lost",
            f"""case when size(undone_rows) = 0 then array() else transform(filter(made, u ->
            exists(undone_rows, r -> {_INCLUDES}) and not exists(filter(present, r -> r.store != 'Setup'), r -> {_INCLUDES})
            ), u -> u.number) end""",
        ),
        ("due", "filter(made, u -> not array_contains(lost, u.number))"),
        ("deletions", "filter(due, u -> u.deleted)"),
        ("tombstone", f"array_min(transform(deletions, v -> struct({_ORDER} as place, v.number as number))).number"),
        (
            "versions",
            f"""case when size(deletions) > 0 then array() when alone then {_last_writer("due")}
            else transform({_uncovered("due")}, v -> {_VERSION}) end""",
        ),
        ("gone", f"transform(filter(versions, t -> {GONE.format(number='t.number', at=2**63 - 1)}), t -> t.number)"),
        ("forgotten", "exists(rows, r -> r.act = 'tombstone dropped')"),
        (
            "by_store",
            "transform(array_distinct(transform(present, r -> r.store)), s -> struct(s as store,"
            " filter(present, r -> r.store = s) as mine,"
            " filter(rows, r -> r.store = s and r.act = 'tombstone dropped' and not r.undone) as dropped_seqs))",
        ),
        (
            "with_deletions",
            f"transform(by_store, s -> struct(s.store, s.mine, {_last('s.dropped_seqs', -1)} as dropped_at,"
            f" {_last('filter(s.mine, r -> r.deleted)', -2)} as deleted))",
        ),
        (
            "current",
            "transform(with_deletions, s -> struct(s.store, s.deleted > s.dropped_at as has_tombstone,"
            " s.deleted >= 0 as had_tombstone,"
            " filter(s.mine, r -> not r.deleted and r.seq > s.dropped_at and s.deleted <= s.dropped_at) as kept))",
        ),
        (
            "states",
            f"""transform(current, s -> struct(s.store, case when alone then {_LATEST}
            else transform({_uncovered("s.kept")}, v -> {_VERSION}) end as versions, s.has_tombstone, s.had_tombstone))""",
        ),
    )
    for name, expression in steps:
        grouped = grouped.withColumn(name, F.expr(expression))
    change_numbers = F.expr("transform(made, r -> r.number)")
    return grouped.select(
        *OBJECT,
        "kind",
        "subject",
        change_numbers.alias("made"),
        "alone",
        "tombstone",
        "versions",
        "lost",
        "gone",
        "forgotten",
        "states",
        "rows",
        "expiries",
    )


def _last(rows: str, otherwise: int) -> str:
    return f"coalesce(array_max(transform({rows}, r -> r.seq)), cast({otherwise} as bigint))"
