"""Convergence: compare what each holder of a folder has with what it must have.

What it must have follows only from the changes made (`analytics.evidence.objects`), not from what stores claim. A change
that no store has is missing, unless its loss is excused (spec: CV-1, CV-2, DU-1).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.number_sets import guid_of_kind
from analytics.verdicts.judgements import CONVERGED, NOT_CONVERGED, UNKNOWN

_EMPTY: Final = "array()"

_ALL_RIGHT: Final = (
    "size(array_except(holders, transform(filter(states,"
    " s -> s.versions = versions and (tombstone is null or s.had_tombstone)), s -> s.store))) = 0"
)
"""SQL for whether each holder has exactly what it must have, as nearly always. Then nothing is compared one by one."""


def mismatches(objects: DataFrame, folders: DataFrame, excused: DataFrame) -> DataFrame:
    """Return a row for each item that is wrong or missing at a holder: trace, folder, path, object, kind, subject, store, what,
    number.

    what: lacks; keeps (a version that is superseded or deleted); not made (a version that no store made); bytes (other than the
    author's); lacks deletion. A version that has expired everywhere is not missing, and the version before it may stay. In a
    doubtful folder a holder is wrong only if another holder is not wrong in the same way: the holders may all lack a version or
    a deletion, or all keep a superseded version.
    """
    # Folders are few and their rows small; objects are many.
    due = objects.join(F.broadcast(folders), ["trace", "folder"]).where(f"not coalesce({_ALL_RIGHT}, false)")
    due_states = due.withColumn(
        "held",
        F.expr(
            "transform(holders, h -> struct(h as store, try_element_at(filter(states, s -> s.store = h), 1) as state))"
        ),
    )
    judged = due_states.withColumn("wrong", F.expr(f"flatten(transform(held, h -> {_wrong()}))"))
    wrong_items = (
        judged.where("size(wrong) > 0")
        .select(
            "trace", "folder", "path", "object", "kind", "subject", "versions", "gone", F.explode("wrong").alias("w")
        )
        .select("trace", "folder", "path", "object", "kind", "subject", "versions", "gone", "w.*")
    )
    # spec: DL-3 a store that cannot get the newest version any more keeps the version before it
    expired = _inside("number"), f"size(versions) > 0 and forall(versions, t -> {_inside('t.number')})"
    is_excused = F.expr(f"what = 'lacks' and {expired[0]} or what = 'keeps' and {expired[1]}")
    unexcused = wrong_items.join(F.broadcast(excused), ["trace", "folder", "store"], "left").where(~is_excused)
    return unexcused.drop("excused", "versions", "gone")


def _inside(number: str) -> str:
    """Return SQL for whether a number is excused: it expired (DL-3)."""
    key = guid_of_kind(f"substring_index({number}, ':', 1)", "kind")
    return (
        f"(array_contains(gone, {number}) or exists(coalesce(excused, array()), r -> r.guid = {key}"
        f" and cast(substring_index({number}, ':', -1) as bigint) between r.low and r.high))"
    )


def _wrong() -> str:
    """Return SQL for what is wrong at the holder `h`: an array of (store, what, number)."""
    versions = "coalesce({of}.state.versions, array())"
    here = versions.format(of="h")
    has = f"exists({versions}, k -> k.number = {{number}})"
    extra = f"filter({here}, k -> not exists(versions, t -> t.number = k.number))"
    same = "k.number = t.number and k.digest != t.digest"

    def compared(holds: str) -> str:
        """Return SQL that is false if the folder is doubtful and `holds` is false for every holder `o`."""
        return f"(not doubtful or exists(held, o -> {holds}))"

    lacking = f"not {has.format(of='h', number='t.number')} and {compared(has.format(of='o', number='t.number'))}"
    keeping = f"array_contains(made, v.number) and {compared('not ' + has.format(of='o', number='v.number'))}"
    cases = (
        ("lacks", f"filter(versions, t -> {lacking})"),
        ("keeps", f"filter({extra}, v -> {keeping})"),
        ("not made", f"filter({extra}, k -> not array_contains(made, k.number))"),
        ("bytes", f"filter(versions, t -> t.digest != '' and exists({here}, k -> {same}))"),
    )
    mismatches = [
        f"transform({rows}, r -> struct(h.store as store, '{what}' as what, r.number as number))"
        for what, rows in cases
    ]
    knows = "coalesce(h.state.has_tombstone or h.state.had_tombstone, false) or forgotten"
    undeleted = (
        f"case when tombstone is not null and size({here}) = 0 and not ({knows})"
        f" and {compared('coalesce(o.state.has_tombstone, false)')}"
        f" then array(struct(h.store as store, 'lacks deletion' as what, tombstone as number)) else {_EMPTY} end"
    )
    return f"concat({', '.join(mismatches)}, {undeleted})"


def losses(objects: DataFrame, folders: DataFrame) -> DataFrame:
    """Return the changes whose loss is excused (DU-1): trace, folder, path, object, subject, number."""
    return objects.join(F.broadcast(folders.select("trace", "folder", "path")), ["trace", "folder"]).select(
        "trace", "folder", "path", "object", "subject", F.explode("lost").alias("number")
    )


def stopped(events: DataFrame, *, unfinished: bool = False) -> DataFrame:
    """Return the stores that did not run at the end of the run (`unfinished`: now): trace, store, why."""
    ended = events.where("type = 'run.ended'").groupBy("trace").agg(F.max("at").alias("ended_at"))
    last = (
        events.where("type in ('node.started', 'node.stopped')")
        .groupBy("trace", F.col("node").alias("store"))
        .agg(F.max_by("type", "seq").alias("type"), F.max_by("at", "seq").alias("at"))
    )
    off = last.where("type = 'node.stopped'")
    early = off if unfinished else off.join(ended, "trace").where("at < ended_at")
    return early.select("trace", "store", F.lit("is stopped").alias("why"))


def verdicts(folders: DataFrame, wrong: DataFrame, doubts: DataFrame, off: DataFrame) -> DataFrame:
    """Return a row for each folder: trace, folder, path, holders, judgement, wrong (the number of mismatches), reasons."""
    counted = wrong.groupBy("trace", "folder").agg(F.count(F.lit(1)).alias("wrong"))
    why = doubts.groupBy("trace").agg(F.array_sort(F.collect_set("doubt")).alias("doubts"))
    not_running = (
        folders.select("trace", "folder", F.explode("holders").alias("store"))
        .join(off, ["trace", "store"])
        .groupBy("trace", "folder")
        .agg(F.array_sort(F.collect_set(F.concat_ws(" ", "store", "why"))).alias("not_running"))
    )
    rows = (
        folders.join(counted, ["trace", "folder"], "left")
        .join(why, "trace", "left")
        .join(not_running, ["trace", "folder"], "left")
    )
    reasons = F.concat(F.coalesce("doubts", F.array()), F.coalesce("not_running", F.array()))
    judgement = (
        F.when(F.size(reasons) > 0, UNKNOWN).when(F.coalesce("wrong", F.lit(0)) > 0, NOT_CONVERGED).otherwise(CONVERGED)
    )
    return rows.select(
        "trace",
        "folder",
        "path",
        "holders",
        judgement.alias("judgement"),
        F.coalesce("wrong", F.lit(0)).alias("wrong"),
        reasons.alias("reasons"),
    )
