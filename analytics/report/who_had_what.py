"""For a few folders: which holder got which change, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.drawing.lab_time import duration
from analytics.drawing.svg import natural
from analytics.verdicts.judgements import CONVERGED
from analytics.verdicts.result import short
from analytics.verdicts.words import number

FOLDERS: Final = 6
CHANGES: Final = 40
"""How many changes of a folder are shown: the last ones. The tables have all changes."""


@dataclass(frozen=True, slots=True)
class Cell:
    """text: `made`, how long the change took, or `-`. way: how it arrived, for the colour."""

    text: str
    way: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """A folder of a run: its holders, and for each change its name, subject and a cell for each holder. earlier: how many
    changes are not shown. converged: a change that did not arrive was superseded."""

    name: str
    converged: bool
    path: str
    earlier: int
    holders: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def matrices(chosen: Sequence[Any], histories: DataFrame, guids: DataFrame) -> list[Matrix]:
    """Return the matrices of the folders in `chosen` (rows with trace, folder, path, judgement, holders), at most FOLDERS."""
    few = list(chosen[:FOLDERS])
    if not few:
        return []
    spark = histories.sparkSession
    wanted = spark.createDataFrame([(each.trace, each.folder) for each in few], "trace string, folder string")
    mine = histories.where("act in ('made', 'applied') and store != 'Setup'").join(
        F.broadcast(wanted), ["trace", "folder"], "left_semi"
    )
    arrivals = mine.where("not undone and not dropped").groupBy("trace", "folder", "number", "store").agg(
        F.min("at").alias("at"), F.min_by("way", "seq").alias("way"), F.min_by("act", "seq").alias("act")
    )  # fmt: skip
    by_change = arrivals.groupBy("trace", "folder", "number").agg(
        F.collect_list(F.struct("store", "at", "way", "act")).alias("at")
    )
    made = mine.where("act = 'made'").select(
        "trace", "folder", "number", "guid", "counter", F.col("at").alias("made_at"), "subject", "deleted"
    )
    within = Window.partitionBy("trace", "folder")
    made = made.withColumn("all", F.count(F.lit(1)).over(within)).withColumn(
        "nth", F.row_number().over(within.orderBy(F.desc("made_at"), "number"))
    )
    latest = (
        made.where(F.col("nth") <= CHANGES)
        .join(by_change, ["trace", "folder", "number"], "left")
        .join(F.broadcast(guids.select("trace", "guid", "name")), ["trace", "guid"], "left")
    )
    rows = latest.collect()
    return [
        _matrix(each, [row for row in rows if (row.trace, row.folder) == (each.trace, each.folder)]) for each in few
    ]


def _matrix(folder: Any, rows: Sequence[Any]) -> Matrix:
    shown = sorted(rows, key=lambda row: (row.made_at, row.number))
    earlier = shown[0]["all"] - len(shown) if shown else 0
    holders = tuple(sorted(folder.holders or (), key=natural))
    return Matrix(
        short(folder.trace),
        folder.judgement == CONVERGED,
        folder.path,
        earlier,
        holders,
        tuple(_line(row, holders) for row in shown),
    )


def _line(row: Any, holders: Sequence[str]) -> tuple[str, str, tuple[Cell, ...]]:
    at = {each.store: each for each in row.at or ()}
    subject = "(deleted)" if row.deleted else row.subject or ""
    return (
        number(row.name, row.guid, row.counter, row.counter),
        subject,
        tuple(_cell(at.get(each), row) for each in holders),
    )


def _cell(arrival: Any, row: Any) -> Cell:
    if arrival is None:
        return Cell("-", "lacks")
    if arrival.act == "made":
        return Cell("made", "made")
    return Cell(duration(max(0, arrival.at - row.made_at)), arrival.way or "")
