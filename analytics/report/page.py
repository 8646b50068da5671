"""The report: one HTML file that opens without a network. The verdict comes first, then rules, plots and tables."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.report import measures, spacetime, who_had_what, witness
from analytics.report.spacetime import TYPES
from analytics.verdicts.verdict import CheckResult, Gold, short
from analytics.verdicts.witness_names import named
from traces.labtime import format_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS: Final = 200
BARS: Final = 60

_PAGE: Final = Path(__file__).with_name("report.html.j2")


def write_report(gold: Gold, result: CheckResult, file: Path) -> None:
    """Write the report. Its size is limited: it shows some rows of each table, and sums over all runs."""
    by_way = measures.latency(gold.histories).orderBy("trace", "way").limit(MAX_ROWS).collect()
    fates = measures.fates(gold.histories, gold.objects, gold.folders).groupBy("fate").count().orderBy("fate").collect()
    mails = (
        measures.traffic(gold.mails)
        .groupBy("message_type")
        .agg(*[F.sum(name).alias(name) for name in ("mails", "copies", "bytes", "arrived", "lost", "bad")])
    )
    chosen = witness.worst_folders(gold.verdicts).limit(who_had_what.FOLDERS).collect()
    moments = spacetime.moments(gold.rules, gold.mismatches, gold.histories)
    texts = named(gold, [(each.trace, each.text) for each in moments])
    moments = [replace(each, text=text) for each, text in zip(moments, texts, strict=True)]
    page = Environment(autoescape=True).from_string(_PAGE.read_text(encoding="utf-8"))
    colour = {0: "good", 1: "bad"}.get(result.exit_code, "unknown")
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    text = page.render(
        result=result,
        colour=colour,
        matrices=[(short(each.trace), each) for each in who_had_what.matrices(chosen, gold.histories, gold.org.guids)],
        pictures=[
            (short(each.moment.trace), each.moment.text, Markup(each.svg))
            for each in spacetime.pictures(moments, gold.mails, gold.events.events)
        ],
        traffic_plot=Markup(_traffic_plot(gold)),
        latency=[
            (
                short(row.trace),
                row.way,
                row.applied,
                *map(format_duration, (row.p50_us, row.p90_us, row.p99_us, row.longest_us)),
            )
            for row in by_way
        ],
        fates=[(row.fate, row["count"]) for row in fates],
        traffic=[
            (
                TYPES.get(row.message_type, row.message_type),
                row.mails,
                row.copies,
                row.bytes,
                row.arrived,
                row.lost,
                row.bad,
            )
            for row in mails.orderBy("message_type").collect()
        ],
    )
    file.write_text(text, encoding="utf-8")


def _traffic_plot(gold: Gold) -> str:
    """Return a plot of the mails and the lost mails over the time of the runs, each from its start to its end; faults are
    shaded."""
    ends = gold.mails.where("submitted_at is not null")
    span = ends.groupBy("trace").agg(F.min("submitted_at").alias("from_at"), F.max("submitted_at").alias("to_at"))
    share = (F.col("submitted_at") - F.col("from_at")) / F.greatest(F.col("to_at") - F.col("from_at"), F.lit(1))
    slot = F.least(F.floor(share * BARS), F.lit(BARS - 1)).alias("slot")
    slots = (
        ends.join(F.broadcast(span), "trace")
        .groupBy(slot)
        .agg(F.count(F.lit(1)).alias("copies"), F.count_if(F.col("dropped_at").isNotNull()).alias("lost"))
    )
    return _svg(slots.orderBy("slot").collect(), _fault_slots(gold.events.events, span))


def _fault_slots(events: DataFrame, span: DataFrame) -> list[int]:
    """Return the slots in which a fault was active in some run: from its injection until it was healed, or to the end."""
    faults = events.where("family = 'run' and type in ('fault.injected', 'fault.healed')")
    windows = (
        faults.groupBy("trace", "fault")
        .agg(
            F.min(F.when(F.col("type") == "fault.injected", F.col("at"))).alias("began_at"),
            F.max(F.when(F.col("type") == "fault.healed", F.col("at"))).alias("healed_at"),
        )
        .where("began_at is not null")
        .join(F.broadcast(span), "trace")
    )

    def slot(at: Column) -> Column:
        share = (at - F.col("from_at")) / F.greatest(F.col("to_at") - F.col("from_at"), F.lit(1))
        return F.greatest(F.lit(0), F.least(F.floor(share * BARS), F.lit(BARS - 1)))

    ended = F.coalesce("healed_at", "to_at")
    slots = windows.select(F.explode(F.sequence(slot(F.col("began_at")), slot(ended))).alias("slot"))
    return [int(row.slot) for row in slots.distinct().orderBy("slot").collect()]


def _svg(slots: Sequence[Any], faults: Sequence[int]) -> str:
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    mpl.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(10, 2.6))
    _bars(axes, slots, faults)
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]


def _bars(axes: Axes, slots: Sequence[Any], faults: Sequence[int]) -> None:
    for slot in faults:
        axes.axvspan(slot - 0.5, slot + 0.5, color="#f3d9a4", lw=0)
    axes.bar([row.slot for row in slots], [row.copies for row in slots], color="#4c78a8", label="sent")
    axes.bar([row.slot for row in slots], [row.lost for row in slots], color="#c44e52", label="lost")
    axes.set_xlabel("time from the first mail of a run to its last; shaded: a fault was active")
    axes.set_ylabel("copies of mails")
    axes.legend(frameon=False)
