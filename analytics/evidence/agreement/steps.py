"""The steps of lives: a table that the automata of `analytics.evidence.agreement.lifecycles` evaluate."""

from __future__ import annotations

import json
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.agreement.lifecycles import (
    AUTOMATA,
    BEGIN,
    DERIVED_KEYS,
    END,
    ENTRY,
    IN_A_QUEUE,
    NODE,
    STATE,
    Automaton,
)
from analytics.evidence.version_history import is_undone
from analytics.ingest.silver import Silver

_BETWEEN: Final = "\x1f"
_KEYS: Final = sorted({automaton.key for automaton in AUTOMATA.values()})


def _types(automaton: Automaton) -> set[str]:
    return {state.partition(" ")[0] for states in automaton.follow.values() for state in states} - {END, BEGIN}


def _lives() -> str:
    """Return the automata of each event type, as JSON: their names, and the positions of their keys."""
    automata: dict[str, list[dict[str, object]]] = {}
    for name, automaton in AUTOMATA.items():
        for tag in sorted(_types(automaton)):
            automata.setdefault(tag, []).append({"life": name, "key": _KEYS.index(automaton.key)})
    return json.dumps(automata)


def _allowed() -> list[str]:
    """Return what may follow each state of each automaton, as texts."""
    return [
        _BETWEEN.join((name, state, then))
        for name, automaton in AUTOMATA.items()
        for state, states in automaton.follow.items()
        for then in states
    ]


def steps(events: Silver, nodes: DataFrame) -> DataFrame:
    """Return each step of each life. The directory entries in a store that is only shown are those of another server, and are
    left out. Columns: trace, node, seq, at, life, key, before, state, after, allowed, ends.

    before, after: the states before and after it, BEGIN and END at the ends.
    allowed: state may follow before.
    ends: after is END and the life may end here.
    """
    lives = F.from_json(F.lit(_lives()), "map<string, array<struct<life: string, key: int>>>")
    tags = sorted({tag for automaton in AUTOMATA.values() for tag in _types(automaton)})
    state, of = F.expr(STATE).alias("state"), F.explode(F.element_at(lives, F.col("type"))).alias("of")
    keys = F.array(*[F.expr(DERIVED_KEYS.get(name, name)).cast("string") for name in _KEYS]).alias("keys")
    rows = events.lines(*tags).select("trace", "node", "seq", "at", state, "folder", keys, of)
    rows = rows.select("trace", "node", "seq", "at", "state", "folder", "of.life", F.expr("keys[of.key]").alias("key"))
    rows = rows.where("key is not null").join(F.broadcast(nodes), ["trace", "node"], "left")
    rows = rows.where((F.col("life") == NODE) | ~is_undone(F.col("seq"))).drop("undone_spans")
    copies = events.of("backup.elsewhere").select("trace", F.col("store").alias("node")).distinct()
    copies = copies.withColumns(
        {"life": F.lit(ENTRY), "foreign": F.lit(True)}
    )  # another server's directory (spec: RP-8)
    rows = rows.join(F.broadcast(copies), ["trace", "node", "life"], "left").where("foreign is null").drop("foreign")
    drops = events.of("replica.dropped").select("trace", "node", "folder").distinct().withColumn("dropped", F.lit(True))
    rows = rows.join(F.broadcast(drops), ["trace", "node", "folder"], "left")
    line = Window.partitionBy("trace", "node", "life", "key").orderBy("seq")
    near = rows.withColumn("before", F.coalesce(F.lag("state").over(line), F.lit(BEGIN)))
    near = near.withColumn("after", F.coalesce(F.lead("state").over(line), F.lit(END)))

    def may_follow(first: Column, then: str) -> Column:
        return F.coalesce(F.concat_ws(_BETWEEN, "life", first, then).isin(_allowed()), F.lit(False))

    new_again = F.col("dropped") & (F.col("life") == "version") & may_follow(F.lit(BEGIN), "state")
    waits = F.expr(f"life = '{IN_A_QUEUE}' and not coalesce(at <= sent_until, false)")
    allowed = (may_follow(F.col("before"), "state") | new_again).alias("allowed")
    ends = (F.coalesce("gone", F.lit(False)) | waits | may_follow(F.col("state"), "after")).alias("ends")
    return near.select("trace", "node", "seq", "at", "life", "key", "before", "state", "after", allowed, ends)
