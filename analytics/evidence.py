"""Evidence tables for the checks: each row one case, with all that the checks of that table need to decide it.

What a node derived (costs, due times, what is missing) stands in no table as a reason, only as what is to be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.histories import pcl_map, restores
from analytics.mails import ranges
from analytics.silver import Silver

_SETTINGS: Final = "settings map<string, string>, servers map<string, struct<settings: map<string, string>>>"


def plain_stores(events: Silver) -> DataFrame:
    """trace, store: those whose settings are all the default, so that the documented times hold as they are written."""
    told = events.of("run.started").select("trace", F.from_json("topology", _SETTINGS).alias("t"))
    plain = told.where(F.coalesce(F.size("t.settings"), F.lit(0)) <= 0)
    stores = plain.select("trace", F.explode("t.servers").alias("store", "of"))
    stores = stores.where(F.coalesce(F.size("of.settings"), F.lit(0)) <= 0).select("trace", "store")
    other = events.of("setting.value").where(F.col("value") != F.col("default"))
    return stores.join(other.select("trace", F.col("node").alias("store")).distinct(), ["trace", "store"], "left_anti")


def changes(events: Silver) -> DataFrame:
    """Changes made, each with the one before it of the same GUID, and the versions that it replaced."""
    made = events.of("change.made").withColumn("guid", F.substring_index("number", ":", 1))
    made = made.withColumn("counter", F.substring_index("number", ":", -1).cast("long")).withColumn("list", pcl_map())
    own = Window.partitionBy("trace", "guid").orderBy("seq")
    rows = made.select(
        "trace", "node", "seq", "at", "folder", "object", "number", "guid", "counter", "list", "kind", "operation",
        "modified_at", "replicas", "subject", "supersedes",
        F.lag("counter").over(own).alias("before"),
        F.count(F.lit(1)).over(Window.partitionBy("trace", "number")).alias("same"),
    )  # fmt: skip
    older = made.select(
        "trace", F.col("number").alias("replaced"), F.col("modified_at").alias("m"), F.col("list").alias("l")
    )
    links = rows.select("trace", "node", "seq", F.explode("supersedes").alias("replaced"))
    pairs = F.array_sort(F.flatten(F.collect_list(F.map_entries("l"))))
    of = (
        links.join(older, ["trace", "replaced"])
        .groupBy("trace", "node", "seq")
        .agg(F.max("m").alias("replaced_at"), pairs.alias("replaced_lists"), F.count(F.lit(1)).alias("replaced_known"))
    )
    return rows.join(of, ["trace", "node", "seq"], "left")


def applied(events: Silver, rows: DataFrame) -> DataFrame:
    """Versions applied beside the change that was made."""
    made = rows.where("act = 'made'").select(
        "trace", "number", F.col("object").alias("made_object"), F.col("folder").alias("made_folder"),
        F.col("digest").alias("made_digest"), F.col("pcl").alias("made_pcl"), F.col("modified_at").alias("made_at"),
        F.col("deleted").alias("made_deleted"), F.col("store").alias("author"),
    ).dropDuplicates(["trace", "number"])  # fmt: skip
    came = rows.where("act = 'applied' and seq > 0 and not went")
    return came.join(made, ["trace", "number"], "left")


def at_stores(rows: DataFrame) -> DataFrame:
    """trace, node, folder, object, rows: all that one store made and applied of an object, as far as it counts now."""
    kept = rows.where("seq > 0 and not went and not dropped")
    row = F.struct("seq", "act", "number", "guid", "counter", "pcl", "deleted", "modified_at")
    return kept.groupBy("trace", F.col("store").alias("node"), "folder", "object").agg(
        F.collect_list(row).alias("rows"), F.first("kind", ignorenulls=True).alias("kind"), F.max("at").alias("at")
    )


def sent(events: Silver) -> DataFrame:
    """Replication mails as submitted: with what each says of its folders, and when their store had started."""
    mails = events.of("mail.submitted")
    plain = F.transform(
        "folders",
        lambda f: F.struct(
            f["folder"].alias("folder"), f["cnset"].alias("cnset"), f["row"].alias("row"),
            f["cnset_fai"].alias("cnset_fai"), f["row_fai"].alias("row_fai"), f["updates"].alias("updates"),
        ),
    )  # fmt: skip
    starts = events.of("node.started").groupBy("trace", "node", "incarnation").agg(F.max("at").alias("started_at"))
    return mails.withColumn("says", plain).join(F.broadcast(starts), ["trace", "node", "incarnation"], "left")


def received(events: Silver) -> DataFrame:
    """Replication mails as unpacked, beside what their sender submitted."""
    came = events.of("mail.received")
    left = events.of("mail.submitted").select(
        "trace", "mail", F.col("node").alias("wrote"), F.col("folders").alias("wrote_folders"),
        F.col("number").alias("wrote_number"),
        F.col("message_type").alias("wrote_type"), F.col("at").alias("wrote_at"), F.col("lamport").alias("wrote_lamport"),
    )  # fmt: skip
    return came.join(left, ["trace", "mail"], "left")


def rows_replaced(events: Silver) -> DataFrame:
    """Rows of other stores as kept here, beside what that store said in that mail."""
    said = (
        events.of("mail.submitted")
        .select(
            "trace",
            "mail",
            F.col("node").alias("wrote"),
            F.col("number").alias("wrote_number"),
            F.explode("folders").alias("f"),
        )
        .select(
            "trace",
            "mail",
            "wrote",
            "wrote_number",
            F.col("f.folder").alias("folder"),
            F.col("f.row").alias("said"),
            F.col("f.row_fai").alias("said_fai"),
        )
    )
    found = events.of("row.replaced").join(said, ["trace", "mail", "folder"], "left")
    same = (F.col("cnset") == F.col("said")) & (F.col("cnset_fai") == F.col("said_fai"))
    its = (F.col("wrote") == F.col("store")) & (F.col("wrote_number") == F.col("sent_number"))
    return found.groupBy("trace", "node", "seq", "at", "folder", "store", "mail").agg(
        F.max(F.coalesce(same & its, F.lit(False))).alias("said_so")
    )


def hops(events: Silver) -> DataFrame:
    """trace, mail, node, next_hop, connector, copies, at, landed (the next server has it, or lost it by a fault),
    arrivals (how often it came to this node; null where it was submitted)."""
    gone = (
        events.of("hop.sent")
        .where("mail is not null")
        .groupBy("trace", "mail", "node", "next_hop", "connector")
        .agg(F.count_distinct("queue_id").alias("copies"), F.min("at").alias("at"))
    )
    ends = F.col("type").isin("hop.received", "hop.dropped", "mail.bad")
    arrivals = F.count_if(F.col("type") == "hop.received").alias("arrivals")
    here = events.events.where((F.col("family") == "mail") & ends).groupBy("trace", "mail", "node").agg(arrivals)
    landed = here.select("trace", "mail", F.col("node").alias("next_hop"), F.lit(True).alias("landed"))
    found = gone.join(landed, ["trace", "mail", "next_hop"], "left").join(here, ["trace", "mail", "node"], "left")
    return found.withColumn("landed", F.coalesce("landed", F.lit(False)))


def requests(events: Silver) -> DataFrame:
    """Backfill requests received, with what was asked and the answers to that very mail."""
    asked = (
        events.of("mail.received")
        .where("message_type = 8")
        .groupBy("trace", "node", "mail")
        .agg(
            F.min("at").alias("at"),
            F.first("sender").alias("sender"),
            F.count(F.lit(1)).alias("times"),
            F.first("folders").alias("folders"),
        )
    )
    answers = (
        events.of("request.answered")
        .groupBy("trace", "node", F.col("request_mail").alias("mail"))
        .agg(F.count(F.lit(1)).alias("answers"), F.min("at").alias("answered_at"), F.first("cnset").alias("answer"))
    )
    # A store that went back to a backup may have answered before, or answer again: nothing can be said of it.
    back = restores(events).select("trace", F.col("store").alias("node"))
    wanted = F.flatten(F.transform("folders", lambda f: F.concat(_ranges_of(f["cnset"]), _ranges_of(f["cnset_fai"]))))
    rows = asked.join(answers, ["trace", "node", "mail"], "left").join(back, ["trace", "node"], "left_anti")
    return rows.withColumn("wanted", wanted).withColumn("given", ranges("coalesce(answer, '')"))


def entries(events: Silver) -> DataFrame:
    """The life of each backfill entry: made, timed out, asked for, satisfied or pruned; of stores never restored."""
    tags = ("entry.made", "entry.timed_out", "entry.satisfied", "entry.pruned", "request.sent", "request.ended")
    rows = events.events.where((F.col("family") == "replication") & F.col("type").isin(*tags))
    back = restores(events).select("trace", F.col("store").alias("node"))
    of = rows.join(back, ["trace", "node"], "left_anti").withColumn("entry", F.col("entry").cast("long"))

    def when(tag: str, column: str) -> Column:
        return F.when(F.col("type") == tag, F.col(column))

    lives = of.groupBy("trace", "node", "entry").agg(
        F.min(when("entry.made", "folder")).alias("folder"),
        F.min(when("entry.made", "at")).alias("at"),
        F.min(when("entry.made", "due_at")).alias("due_at"),
        F.max(when("entry.made", "local")).alias("local"),
        F.min(when("entry.timed_out", "at")).alias("timed_out_at"),
        F.min(when("request.sent", "at")).alias("asked_at"),
        F.min(when("request.sent", "retry_at")).alias("retry_at"),
        F.count_if(F.col("type") == "request.sent").alias("asked"),
        F.count_if(F.col("type") == "request.ended").alias("ended"),
        F.max(F.col("type").isin("entry.satisfied", "entry.pruned")).alias("over"),
    )
    return lives.join(
        F.broadcast(plain_stores(events).withColumn("plain", F.lit(True))).withColumnRenamed("store", "node"),
        ["trace", "node"],
        "left",
    ).withColumn("plain", F.coalesce("plain", F.lit(False)))


def decisions(events: Silver) -> DataFrame:
    """Choices of backfill sources, each with its candidates in the order of the choice."""
    return events.of("sources.considered")


def statuses(events: Silver) -> DataFrame:
    """Each folder that a status check found due, with the last update here that the trace knows of, and the status before."""
    updates = events.of("change.made", "version.applied").select(
        "trace",
        "node",
        "seq",
        "at",
        "folder",
        F.col("at").alias("updated_at"),
        F.lit(None).cast("long").alias("due_at"),
    )
    due = events.of("status.due").select(
        "trace",
        "node",
        "seq",
        "at",
        F.explode("folders").alias("folder"),
        F.lit(None).cast("long").alias("updated_at"),
        F.col("at").alias("due_at"),
    )
    before = Window.partitionBy("trace", "node", "folder").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    both = updates.unionByName(due)
    both = both.withColumn("last_update_at", F.last("updated_at", ignorenulls=True).over(before)).withColumn(
        "last_due_at", F.last("due_at", ignorenulls=True).over(before)
    )
    plain = plain_stores(events).select("trace", F.col("store").alias("node"), F.lit(True).alias("plain"))
    restarted = (
        events.of("node.started")
        .where("seq > 1")
        .select("trace", "node")
        .distinct()
        .withColumn("restarted", F.lit(True))
    )
    rows = (
        both.where("due_at is not null")
        .join(F.broadcast(plain), ["trace", "node"], "left")
        .join(F.broadcast(restarted), ["trace", "node"], "left")
    )
    return rows.withColumn("plain", F.coalesce("plain", F.lit(False))).withColumn("steady", F.col("restarted").isNull())


def conflicts(events: Silver) -> DataFrame:
    """Conflicts as a store saw them, beside the last writer of their versions."""
    seen = events.of("conflict.arose").select(
        "trace", "node", "seq", "at", "folder", "object", "winner", F.explode("versions").alias("number")
    )
    made = events.of("change.made").select(
        "trace",
        "number",
        "modified_at",
        F.substring_index("number", ":", 1).alias("guid"),
        F.substring_index("number", ":", -1).cast("long").alias("counter"),
        F.col("object").alias("of_object"),
    )
    last = F.max_by("number", F.struct("modified_at", "guid", "counter"))
    return (
        seen.join(made, ["trace", "number"], "left")
        .groupBy("trace", "node", "seq", "at", "folder", "object", "winner")
        .agg(last.alias("last_writer"), F.count("modified_at").alias("known"), F.count(F.lit(1)).alias("versions"))
    )


def clocks(events: Silver) -> DataFrame:
    """Every event beside the one before it on its node."""
    line = Window.partitionBy("trace", "node").orderBy("seq")
    heads = events.events.select("trace", "node", "seq", "at", "lamport", "type")
    return heads.withColumn("at_before", F.lag("at").over(line)).withColumn(
        "lamport_before", F.lag("lamport").over(line)
    )


def held(events: Silver) -> DataFrame:
    """Versions held back, of stores with the default settings."""
    plain = plain_stores(events).select("trace", F.col("store").alias("node"))
    return events.of("version.held").join(F.broadcast(plain), ["trace", "node"], "left_semi")


def _ranges_of(column: Column) -> Column:
    parts = F.filter(F.split(column, ";"), lambda part: part != "")

    def of(part: Column) -> Column:
        guid = F.split_part(part, F.lit(":"), F.lit(1))
        return F.transform(
            F.split(F.split_part(part, F.lit(":"), F.lit(2)), ","),
            lambda item: F.struct(
                guid.alias("guid"),
                F.split_part(item, F.lit("-"), F.lit(1)).cast("long").alias("low"),
                F.split_part(item, F.lit("-"), F.lit(-1)).cast("long").alias("high"),
            ),
        )

    return F.flatten(F.transform(parts, of))


Maker = Callable[[Silver, DataFrame], DataFrame]

TABLES: Final[Mapping[str, Maker]] = {
    "changes": lambda events, _: changes(events),
    "applied": applied,
    "at_stores": lambda _, rows: at_stores(rows),
    "sent": lambda events, _: sent(events),
    "received": lambda events, _: received(events),
    "rows_replaced": lambda events, _: rows_replaced(events),
    "hops": lambda events, _: hops(events),
    "requests": lambda events, _: requests(events),
    "entries": lambda events, _: entries(events),
    "decisions": lambda events, _: decisions(events),
    "statuses": lambda events, _: statuses(events),
    "conflicts": lambda events, _: conflicts(events),
    "clocks": lambda events, _: clocks(events),
    "held": lambda events, _: held(events),
}
"""Name to how it is made from the events and the histories."""
