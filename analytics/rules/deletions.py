"""Checks of deletions: tombstones and how long they are kept, and that deleted items stay deleted."""

from typing import Final

from analytics.rules.check import DAY_US, Check

# spec: DL-1, DL-2, DL-4, DL-5, HI-6, IN-4
CHECKS: Final = (
    Check(
        id="deletions leave a tombstone",
        rules=("DL-1",),
        table="deletions",
        says="A deletion that is made or applied leaves a tombstone with its number.",
        about="true",
        holds="has_tombstone",
        words="concat(node, ' deleted ', object, ' by ', number, ' but kept no tombstone')",
    ),
    Check(
        id="tombstones are kept for 180 days",
        rules=("DL-4",),
        table="drops",
        says="A tombstone is kept for 180 days.",
        about="plain and what = 'tombstone'",
        holds=f"at - modified_at >= {180 * DAY_US}",
        words="concat(node, ' dropped the tombstone ', number, ' too early')",
    ),
    Check(
        id="dropped tombstones are known to all holders",
        rules=("DL-4",),
        table="drops",
        says="A tombstone is dropped only when the row of every other holder has its number.",
        about="what = 'tombstone'",
        holds="size(unknown_to) = 0",
        words=(
            "concat(node, ' dropped the tombstone ', number, ', which the row of ', array_join(unknown_to, ' and '),"
            " ' did not have')"
        ),
    ),
    Check(
        id="deleted items stay deleted",
        rules=("IN-4", "DL-2", "HI-6"),
        table="at_stores",
        says="A store that has the tombstone of an object applies no version of the object.",
        about="exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'tombstone dropped')",
        holds=(
            "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.deleted"
            " and v.seq < u.seq))"
        ),
        words="concat(node, ' applied a version of ', object, ' after its deletion')",
    ),
    Check(
        id="deleted items are not changed",
        rules=("DL-1", "DL-2"),
        table="at_stores",
        says="A store that has the tombstone of an object does not change the object.",
        about="exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'tombstone dropped')",
        holds="not exists(rows, u -> u.act = 'made' and exists(rows, v -> v.deleted and v.seq < u.seq))",
        words="concat(node, ' changed ', object, ' after its deletion')",
    ),
    Check(
        id="recovered items were retained",
        rules=("DL-5",),
        table="recoveries",
        says=(
            "What a store recovers it has deleted, not longer ago than its retention;"
            " and the recovery is a change of its own."
        ),
        about="true",
        holds="made and deleted and at between deleted_at and deleted_at + retention_us",
        words=(
            "concat(node, ' recovered ', of, ' by ', number, ', which it had not deleted, or no longer retained, or"
            " did not create as a new object')"
        ),
    ),
    Check(
        id="the home store or the author reports a lost edit",
        rules=("DL-2",),
        table="notices",
        says="Only the home store or the author of an edit sends the notice that the edit lost to a deletion.",
        about="what = 'notice' and size(versions) = 1",
        holds="holders[0] = node or author = node",
        words=(
            "concat(node, ' sent the notice of the lost edit ', versions[0],"
            " ' but is neither the home store nor its author')"
        ),
    ),
)
