"""Broadcast cycles: what a store sent about a folder at one instant, and what it claimed of its own range (CN-6, OUT-3).

Mails that an administrator ordered to send again (AD-1) are no cycles, but what they claim counts as claimed.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.conditions import RESENT
from analytics.evidence.number_sets import merged
from analytics.evidence.organization import Organization
from analytics.evidence.set_columns import ranges
from analytics.ingest.silver import Silver

"""SQL for whether a mail was sent again by an administrator's order (AD-1)."""


def cycles(events: Silver, listed: DataFrame, org: Organization) -> DataFrame:
    """Return trace, node, at, seq, folder, message_type, version, holders, untouched, sizes, updates, own, claimed_before,
    made.

    holders, untouched: as in `holders.with_holders`. sizes, updates: of the cycle's mails, in order. own: the ranges of the
    store's own GUID in the sets of messages or folders. claimed_before: the highest own number in earlier cycles, or the
    counter at which the present replica began; 0 for none. made: the highest own number of the store's changes in the folder.
    """
    mails = events.of("mail.submitted").where("message_type in (2, 4)")
    mine = org.guids.groupBy("trace", F.col("store").alias("node")).agg(
        F.min("guid").alias("guid"), F.count(F.lit(1)).alias("guids")
    )
    resent, section = F.expr(RESENT).alias("resent"), F.col("folders")[0].alias("f")
    of_mail = ("trace", "node", "seq", "at", "message_type", "size")
    named = mails.select(*of_mail, resent, section).select(
        *of_mail, "resent", "f.folder", "f.updates", ranges("f.cnset").alias("named")
    )
    changes = (
        events.of("change.made")
        .where("kind != 'fai'")
        .select("trace", "node", "seq", "folder", F.substring_index("number", ":", -1).cast("long").alias("counter"))
    )
    line = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    # A change between two mails of one instant begins another cycle, which an administrator asked for.
    after = named.unionByName(changes, allowMissingColumns=True).withColumn("changes", F.count("counter").over(line))
    cycle_mails = (
        after.where("named is not null").drop("counter").join(F.broadcast(mine.where("guids = 1")), ["trace", "node"])
    )
    together = cycle_mails.groupBy("trace", "node", "folder", "at", "message_type", "changes", "resent").agg(
        F.min("seq").alias("seq"),
        F.array_sort(F.collect_list(F.struct("seq", "size", "updates"))).alias("mails"),
        F.flatten(F.collect_list(F.expr("filter(named, r -> r.guid = guid)"))).alias("named"),
    )
    # If no holder can be reached, changes count as broadcast without a mail (ML-1, ML-8).
    unaddressed = events.of("address.lacking").where("message_type in (2, 4)")
    unaddressed = unaddressed.select("trace", "node", "seq", F.explode("folders").alias("folder"))
    unlinked = events.of("tree.lacking").where("message_type in (2, 4)").select("trace", "node", "seq", "folder")
    unsent = unaddressed.unionByName(unlinked).withColumn("unsent", F.lit(True))
    own = together.withColumn("own", F.expr(merged("named"))).drop("named", "changes")
    top = F.expr("array_max(transform(own, r -> r.high))")
    both = own.withColumn("top", top).unionByName(changes, allowMissingColumns=True)
    both = both.unionByName(_replicas_begun(events), allowMissingColumns=True)
    both = both.unionByName(unsent, allowMissingColumns=True)
    both = both.withColumn("top", F.when(F.col("unsent"), F.max("counter").over(line)).otherwise(F.col("top")))
    cases = (
        both.withColumns(
            {
                "claimed_before": F.coalesce(F.max("top").over(line), F.lit(0)),
                "made": F.coalesce(F.max("counter").over(line), F.lit(0)),
            }
        )
        .where("own is not null and not resent")
        .drop("resent")
    )
    lists = listed.where("what = 'mail' and message_type in (2, 4)").select(
        "trace", "node", "seq", "folder", "holders", "untouched"
    )
    versions = F.broadcast(org.servers.select("trace", F.col("store").alias("node"), "version"))
    result = cases.join(lists, ["trace", "node", "seq", "folder"]).join(versions, ["trace", "node"], "left")
    sizes = {name: F.expr(f"transform(mails, m -> m.{name})") for name in ("size", "updates")}
    return result.withColumns({"sizes": sizes["size"], "updates": sizes["updates"]}).drop("mails", "counter", "unsent")


def _replicas_begun(events: Silver) -> DataFrame:
    """Return trace, node, seq, folder, top: the replicas that a store began during the run, and its counter at that time."""
    added = events.of("replica.added").where("store = node").select("trace", "node", "seq", "folder")
    changes = events.of("change.made").select(
        "trace",
        "node",
        F.col("seq").alias("made_seq"),
        F.substring_index("number", ":", -1).cast("long").alias("counter"),
    )
    both = changes.join(F.broadcast(added), ["trace", "node"]).where("made_seq < seq")
    return both.groupBy("trace", "node", "seq", "folder").agg(F.max("counter").alias("top"))
