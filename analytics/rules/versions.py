"""Checks of versions that a store applies or defers."""

from typing import Final

from analytics.evidence.conditions import COVERS
from analytics.rules.check import DAY_US, HOUR_US, Check

_MERGED: Final = (
    "forall(map_entries(pcl), e -> exists(deletions, d -> try_element_at(d, e.key) = e.value))"
    " and forall(map_entries(made_pcl), e -> coalesce(try_element_at(pcl, e.key) >= e.value, false))"
)

# spec: CF-6, CN-4, CN-9, DU-1, HI-2, HI-4, HI-5, IN-3, ML-2
CHECKS: Final = (
    Check(
        id="versions are applied as their author made them",
        rules=("HI-2", "ML-2", "DU-1"),
        table="applied",
        says=(
            "An applied version is the version that its author made: object, folder, kind, bytes, predecessors"
            " and time. A deletion may also have the predecessors of another deletion of the object."
        ),
        about="true",
        holds=(
            "made_object = object and made_folder = folder and (author = 'Setup' or made_kind = kind"
            " and made_digest = digest and made_at = modified_at"
            f" and (map_entries(made_pcl) = map_entries(pcl) or coalesce(size(deletions), 0) > 1 and {_MERGED})"
            " and (deleted or coalesce(made_rivals, array()) = coalesce(rivals, array())) and made_deleted = deleted)"
        ),
        words=(
            "concat(store, ' applied ', number, case when made_object is null then ', which no store made' else ' in"
            " another form than its author made it' end)"
        ),
    ),
    Check(
        id="old versions are not applied",
        rules=("CN-4", "CF-6", "IN-3"),
        table="at_stores",
        says="A store applies no version that a version in the store already includes.",
        about="kind = 'message'",
        holds=(
            "forall(rows, u -> u.act != 'applied' or u.deleted or not exists(rows, v -> v.seq < u.seq"
            " and not v.deleted and v.act != 'tombstone dropped'"
            f" and {COVERS.format(v='v', u='u')}))"
        ),
        words="concat(node, ' applied a version of ', object, ' that is older than the version that it had')",
    ),
    Check(
        id="older versions do not replace later ones",
        rules=("HI-5", "CN-9"),
        table="at_stores",
        says="Of a folder or an associated message (FAI, such as a view), an older version never replaces a later one.",
        about="(folder = '1-1' or kind = 'fai') and not exists(rows, r -> r.act = 'tombstone dropped')",
        holds=(
            "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.seq < u.seq"
            " and not v.deleted"
            " and struct(v.modified_at, v.guid, v.counter) > struct(u.modified_at, u.guid, u.counter)))"
        ),
        words="concat(node, ' replaced a later version of ', object, ' by an older one')",
    ),
    Check(
        id="deferred versions wait 7 days or 4 hours",
        rules=("HI-4",),
        table="deferred",
        says="A deferred version waits 7 days in the hierarchy and 4 hours in content.",
        about="true",
        holds=f"until_at - at = case when folder = '1-1' then {7 * DAY_US} else {4 * HOUR_US} end",
        words="concat(node, ' defers ', number, ' for another time')",
    ),
)
