"""Checks of deletions: tombstones and how long they are kept, and that deleted items stay deleted."""

from typing import Final

from analytics.rules.check import DAY_US, Check

# spec: DL-1, DL-2, DL-4, DL-5, HI-6, IN-4
CHECKS: Final = (
    Check(
        "deletions leave a tombstone", ("DL-1",), "deletions", "A deletion that is made or applied leaves a tombstone with its number.",
        "true", "has_tombstone", "concat(node, ' deleted ', object, ' by ', number, ' but kept no tombstone')",
    ),
    Check(
        "tombstones are kept for 180 days", ("DL-4",), "drops", "A tombstone is kept for 180 days.",
        "plain and what = 'tombstone'", f"at - modified_at >= {180 * DAY_US}", "concat(node, ' dropped the tombstone ', number, ' too early')",
    ),
    Check(
        "dropped tombstones are known to all holders", ("DL-4",), "drops", "A tombstone is dropped only when the row of every other holder has its number.",
        "what = 'tombstone'", "size(unknown_to) = 0",
        "concat(node, ' dropped the tombstone ', number, ', which the row of ', array_join(unknown_to, ' and '), ' did not have')",
    ),
    Check(
        "deleted items stay deleted", ("IN-4", "DL-2", "HI-6"), "at_stores", "A store that has the tombstone of an object applies no version of the object.",
        "exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'tombstone dropped')",
        "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.deleted and v.seq < u.seq))",
        "concat(node, ' applied a version of ', object, ' after its deletion')",
    ),
    Check(
        "deleted items are not changed", ("DL-1", "DL-2"), "at_stores", "A store that has the tombstone of an object does not change the object.",
        "exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'tombstone dropped')",
        "not exists(rows, u -> u.act = 'made' and exists(rows, v -> v.deleted and v.seq < u.seq))",
        "concat(node, ' changed ', object, ' after its deletion')",
    ),
    Check(
        "recovered items were retained", ("DL-5",), "recoveries",
        "What a store recovers it has deleted, not longer ago than its retention; and the recovery is a change of its own.",
        "true", "made and deleted and at between deleted_at and deleted_at + retention_us",
        "concat(node, ' recovered ', of, ' by ', number, ', which it had not deleted, or no longer retained, or did not create as a new object')",
    ),
    Check(
        "the home store or the author reports a lost edit", ("DL-2",), "notices", "Only the home store or the author of an edit sends the notice that the edit lost to a deletion.",
        "what = 'notice' and size(versions) = 1", "holders[0] = node or author = node", "concat(node, ' sent the notice of the lost edit ', versions[0], ' but is neither the home store nor its author')",
    ),
)  # fmt: skip
