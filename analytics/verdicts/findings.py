"""Findings: what a check has found in each run, as a limited number of rows. The words of a verdict are made from them.

Every query has rows of single runs, so the findings of several checks can be put together: of the batches of a large check, and
of runs that were judged earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import SETUP
from analytics.ingest.lines import REASONS
from analytics.verdicts import witness
from analytics.verdicts.conclusion import MAX_DOUBTS, MAX_FOLDERS, MAX_LOSSES
from analytics.verdicts.gold import Gold
from analytics.verdicts.judgements import NOT_CONVERGED
from analytics.verdicts.witness_names import ID_PATTERN


def lines(gold: Gold) -> DataFrame:
    """Return trace, lines, events, and the number of lines that were set aside for each of REASONS."""
    aside = [F.count_if(F.col("aside") == reason).alias(reason) for reason in REASONS]
    events = F.count_if(F.col("aside").isNull()).alias("events")
    return gold.bronze.groupBy("trace").agg(F.count(F.lit(1)).alias("lines"), events, *aside)


def judgements(gold: Gold) -> DataFrame:
    """Return trace, judgement, folders (how many)."""
    return gold.verdicts.groupBy("trace", "judgement").agg(F.count(F.lit(1)).alias("folders"))


def doubts(gold: Gold) -> DataFrame:
    """Return trace, doubt: why a run is incomplete."""
    nth = F.row_number().over(Window.partitionBy("trace").orderBy("doubt"))
    return gold.events.doubts.withColumn("nth", nth).where(F.col("nth") <= MAX_DOUBTS).select("trace", "doubt")


def folders(gold: Gold) -> DataFrame:
    """Return trace, folder, path, judgement, holders, reasons, rank: the worst folders."""
    rank = witness.rank()
    nth = F.row_number().over(Window.partitionBy("trace").orderBy(rank, "path", "folder"))
    worst = gold.verdicts.withColumn("nth", nth).where(F.col("nth") <= MAX_FOLDERS)
    return worst.select("trace", "folder", "path", "judgement", "holders", "reasons", rank.alias("rank"))


def differences(gold: Gold) -> DataFrame:
    """Return the first mismatches of the folders that have not converged (`witness.witness_rows`). In a folder whose verdict
    is unknown, a mismatch proves nothing."""
    bad = folders(gold).where(F.col("judgement") == NOT_CONVERGED).select("trace", "folder")
    mismatches = gold.mismatches.join(F.broadcast(bad), ["trace", "folder"], "left_semi")
    return witness.witness_rows(mismatches, gold.org.guids)


def witnesses(gold: Gold) -> DataFrame:
    """Return the rows of `differences`, each with its fate; null for what is not missing."""
    few = gold.differences
    fates = witness.fates(few, gold.mail_folders, gold.mails, gold.events)
    key = ["trace", "folder", "store", "guid", "low", "kind"]
    columns = [name for name in fates.columns if name not in key]
    fate = F.struct(*columns).alias("fate")
    lacks = F.col("what").startswith("lacks")
    joined = few.where(lacks).join(fates.select(*key, fate), key, "left")
    others = few.where(~lacks).withColumn("fate", F.lit(None).cast(joined.schema["fate"].dataType))
    return joined.unionByName(others)


def rules(gold: Gold) -> DataFrame:
    """Return trace, check, consumed, violations, at, witness: the table gold/rules."""
    return gold.rules.select("trace", "check", "consumed", "violations", "at", "witness")


def names(gold: Gold) -> DataFrame:
    """Return trace, kind (folder, object or guid), id, name: of the folders and objects that the witnesses of violated checks
    mention, and of all stores."""
    id_text = F.explode(F.array_distinct(F.regexp_extract_all("witness", F.lit(ID_PATTERN), F.lit(0)))).alias("text")
    texts = gold.rules.where("violations > 0").select("trace", id_text)
    ids = texts.select(
        "trace",
        F.when(F.col("text").startswith("folder="), "folder")
        .when(F.col("text").startswith("object="), "object")
        .alias("kind"),
        F.substring_index("text", "=", -1).alias("id"),
    ).distinct()
    paths = gold.verdicts.select("trace", F.col("folder").alias("id"), F.col("path").alias("name"))
    subjects = gold.objects.where("subject != ''").select(
        "trace", F.col("object").alias("id"), F.col("subject").alias("name")
    )
    setup = gold.org.setup.select("trace", "guid", F.lit(SETUP).alias("name"))
    guids = gold.org.guids.select("trace", "guid", "name").unionByName(setup)
    of_guids = guids.select("trace", F.lit("guid").alias("kind"), F.col("guid").alias("id"), "name")
    of_folders = ids.where("kind = 'folder'").join(F.broadcast(paths), ["trace", "id"])
    of_objects = F.broadcast(ids.where("kind = 'object'")).join(subjects, ["trace", "id"])
    columns = ("trace", "kind", "id", "name")
    return of_folders.select(*columns).unionByName(of_objects.select(*columns)).unionByName(of_guids).distinct()


def losses(gold: Gold) -> DataFrame:
    """Return trace, path, subject, number, name (of its store), all: the first excused losses of each run, and how many there
    are (DU-1)."""
    of_run = Window.partitionBy("trace")
    counted = gold.losses.withColumn("all", F.count(F.lit(1)).over(of_run))
    nth = F.row_number().over(of_run.orderBy("path", "number"))
    some = counted.withColumn("nth", nth).where(F.col("nth") <= MAX_LOSSES)
    guids = F.broadcast(gold.org.guids.select("trace", "guid", "name"))
    named = some.withColumn("guid", F.substring_index("number", ":", 1)).join(guids, ["trace", "guid"], "left")
    return named.select("trace", "path", "subject", "number", "name", "all")


FINDINGS: Final[Mapping[str, Callable[[Gold], DataFrame]]] = {
    query.__name__: query for query in (lines, judgements, doubts, folders, witnesses, rules, names, losses)
}
"""The queries whose rows are the findings, by name."""
