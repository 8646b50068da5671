"""What stood at a node when it did something: whom its directory listed, and whether content was suspended there.

Both follow from what was done to the node, stores joined and deleted and settings given, not from what it says of itself.
Stores that went back to a backup are left out: they know again what they knew then.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.organization import Organization
from analytics.silver import Silver

SUSPENDED: Final = "Content Replication Suspended"


def standing(events: Silver, org: Organization, restored: DataFrame) -> DataFrame:
    """trace, node, version, directory (by mail address: store, first and last, when it was stamped, gone, when it was deleted;
    events of the node by their seq), switches (settings of SUSPENDED: seq, on)."""
    entries = (
        events.of("address.stamped")
        .groupBy("trace", "node", "store")
        .agg(F.min("address").alias("address"), F.min("seq").alias("first"), F.max("seq").alias("last"))
    )
    gone = events.of("store.deleted").groupBy("trace", "node", "store").agg(F.max("seq").alias("gone"))
    known = entries.join(gone, ["trace", "node", "store"], "left").groupBy("trace", "node", "address")
    one = known.agg(F.min(F.struct("store", "first", "last", "gone")).alias("of"))
    listed = one.groupBy("trace", "node").agg(
        F.map_from_entries(F.collect_list(F.struct("address", "of"))).alias("directory")
    )
    set_ = events.of("setting.value").where(F.col("name") == SUSPENDED)
    switches = set_.groupBy("trace", "node").agg(
        F.array_sort(F.collect_list(F.struct("seq", (F.col("value") == "1").alias("on")))).alias("switches")
    )
    versions = org.servers.select("trace", F.col("store").alias("node"), "version")
    return (
        listed.join(switches, ["trace", "node"], "left")
        .join(versions, ["trace", "node"], "left")
        .join(restored, ["trace", "node"], "left_anti")
    )


STANDS_SUSPENDED: Final = (
    "coalesce(version in ('2003', '2007') and try_element_at(filter(switches, s -> s.seq < seq), -1).on, false)"
)
"""Whether content stands still at the node at an event (RP-5): 5.5 and 2000 do not obey."""
