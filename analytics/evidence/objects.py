"""For each object: which versions must exist, and which each store has.

The reasoning is that of the oracle (CV-2), written independently on histories. A version is superseded if the predecessor list
of another version covers its number (CN-4); all others must exist (CF-1). A delete wins (DL-2). Of a folder or an associated
message only the version of the last writer exists (HI-5, CN-9). A version that only a restored store had may be lost, and then
the version that it replaced must exist again (DU-1).

One shuffle collects the rows of an object; everything else is computed from its small array.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import HIERARCHY

OBJECT: Final = ("trace", "folder", "object")

_ROW: Final = (
    "store", "act", "seq", "at", "kind", "number", "guid", "counter", "pcl", "modified_at", "digest", "deleted", "went",
    "dropped",
)  # fmt: skip

# r, u, v: rows. SQL reads better here than nested Python lambdas: the names of inner and outer rows stay apart.
_COVERS: Final = "(v.number != u.number and coalesce(try_element_at(v.pcl, u.guid) >= u.counter, false))"
_HEIR: Final = "(r.number = u.number or r.deleted or coalesce(try_element_at(r.pcl, u.guid) >= u.counter, false))"
_ORDER: Final = "struct(v.modified_at, v.guid, v.counter)"
_BARE: Final = "struct(v.number, v.guid, v.counter, v.digest)"
_LATEST: Final = (
    f"case when size(s.kept) < 2 then transform(s.kept, v -> {_BARE})"
    f" else array(array_max(transform(s.kept, v -> struct(v.seq as place, {_BARE} as row))).row) end"
)
"""Where one version stands alone, a store has the one that it took last, whether that was right or not."""


def _uncovered(rows: str) -> str:
    return f"case when size({rows}) < 2 then {rows} else filter({rows}, u -> not exists({rows}, v -> {_COVERS})) end"


def _standing(rows: str) -> str:
    """An array of the last writer's version (CN-8)."""
    key = f"struct({_ORDER} as place, {_BARE} as row)"
    last = f"array_max(transform({rows}, v -> {key})).row"
    return f"case when size({rows}) < 2 then transform({rows}, v -> {_BARE}) else array({last}) end"


def objects(rows: DataFrame) -> DataFrame:
    """OBJECT, kind, subject, made (numbers), alone (one version stands), tombstone (a number, or null), versions (what must
    exist: number, guid, counter, digest), lost (numbers), forgotten, states: by store what it keeps: store, versions,
    buried, knew; rows: its histories, for what else is to be said of an object.

    `buried`: a deletion was applied there and its tombstone stands. `knew`: it once did.
    """
    gathered = rows.groupBy(*OBJECT).agg(
        F.collect_list(F.struct(*_ROW)).alias("rows"),
        F.first("kind", ignorenulls=True).alias("kind"),
        F.max_by("subject", F.when(F.col("subject") != "", F.struct("modified_at", "counter"))).alias("subject"),
    )
    steps = (
        ("alone", f"folder = '{HIERARCHY}' or kind = 'fai'"),
        ("made", "filter(rows, r -> r.act = 'made')"),
        ("gone", "filter(rows, r -> r.went and r.act != 'forgot')"),
        ("had", "filter(rows, r -> not r.went and not r.dropped and r.act != 'forgot')"),
        (
            "lost",
            f"""case when size(gone) = 0 then array() else transform(filter(made, u ->
            exists(gone, r -> {_HEIR}) and not exists(filter(had, r -> r.store != 'Setup'), r -> {_HEIR})
            ), u -> u.number) end""",
        ),
        ("due", "filter(made, u -> not array_contains(lost, u.number))"),
        ("deletions", "filter(due, u -> u.deleted)"),
        ("tombstone", f"array_min(transform(deletions, v -> struct({_ORDER} as place, v.number as number))).number"),
        (
            "versions",
            f"""case when size(deletions) > 0 then array() when alone then {_standing("due")}
            else transform({_uncovered("due")}, v -> {_BARE}) end""",
        ),
        ("forgotten", "exists(rows, r -> r.act = 'forgot')"),
        (
            "began",
            "transform(array_distinct(transform(had, r -> r.store)), s -> struct(s as store, filter(had, r -> r.store = s)"
            " as mine, filter(rows, r -> r.store = s and r.act = 'forgot' and not r.went) as forgot))",
        ),
        (
            "dated",
            f"transform(began, s -> struct(s.store, s.mine, {_last('s.forgot', -1)} as forgot,"
            f" {_last('filter(s.mine, r -> r.deleted)', -2)} as deleted))",
        ),
        (
            "living",
            "transform(dated, s -> struct(s.store, s.deleted > s.forgot as buried, s.deleted >= 0 as knew,"
            " filter(s.mine, r -> not r.deleted and r.seq > s.forgot and s.deleted <= s.forgot) as kept))",
        ),
        (
            "states",
            f"""transform(living, s -> struct(s.store, case when alone then {_LATEST}
            else transform({_uncovered("s.kept")}, v -> {_BARE}) end as versions, s.buried, s.knew))""",
        ),
    )
    for name, expression in steps:
        gathered = gathered.withColumn(name, F.expr(expression))
    made = F.expr("transform(made, r -> r.number)")
    return gathered.select(
        *OBJECT,
        "kind",
        "subject",
        made.alias("made"),
        "alone",
        "tombstone",
        "versions",
        "lost",
        "forgotten",
        "states",
        "rows",
    )


def _last(rows: str, otherwise: int) -> str:
    return f"coalesce(array_max(transform({rows}, r -> r.seq)), cast({otherwise} as bigint))"
