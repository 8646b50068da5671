"""What the events of a trace state, and whether they agree: one pass over the events, driven by the table `facts`.

Each event states facts. A statement has a fact, a key (which mail, which version, which entry) and values. Some events state a
fact first hand: the sender of a mail, the author of a version. Others repeat it: each server on the mail's way, each store that
applies the version. So an event that was altered or removed contradicts the others.

    mail.submitted  at A   mail 7: the sender is A, the type is 4      first hand
    mail.received   at B   mail 7: the sender is A, the type is 4      repeats it
    mail.received   at C   mail 7: the sender is A, the type is 2      contradicts both
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.agreement.facts import DERIVED, FACTS, LISTS, SETTING, STATEMENTS, How, States
from analytics.evidence.organization import SETUP
from analytics.ingest.schemas import WIDE
from analytics.ingest.silver import Silver

_ELEMENT: Final = 1000
"""Numbers from here on mean the parts of an element of a list; smaller numbers mean columns."""

_NOT_STATED: Final = -1
_STATEMENT: Final = "struct<fact: string, how: string, key: array<int>, says: array<int>, list: int, single: boolean, repeated: boolean>"
_TOPOLOGY: Final = (
    "settings map<string, string>, servers map<string, struct<version: string, settings: map<string, string>>>,"
    " connectors array<struct<name: string>>"
)
_PLAIN_TYPES: Final = ("string", "bigint", "double", "boolean")


def _parts(text: str) -> list[str]:
    return text.split()


def _columns() -> list[str]:
    """Return the fields and derived columns that some statement uses, each once."""
    parts = {part for each in STATEMENTS for part in (*_parts(each.key), *_parts(each.says))}
    elements = {name for names, _ in LISTS.values() for name in names}
    return sorted(parts - elements - {"-"})


_COLUMNS: Final = _columns()
_LISTS: Final = sorted(LISTS)


def _number(part: str, each: States) -> int:
    """Return the number by which the table names a part of a statement."""
    if part == "-":
        return _NOT_STATED
    names = LISTS[each.each][0] if each.each else ()
    return _ELEMENT + names.index(part) if part in names else _COLUMNS.index(part)


def _table() -> str:
    """Return the statements by event type, as JSON."""
    table: dict[str, list[dict[str, object]]] = {}
    for each in STATEMENTS:
        fact = FACTS[each.fact]
        says = [_number(part, each) for part in _parts(each.says)]
        row: dict[str, object] = {
            "fact": each.fact,
            "how": each.how.value,
            "key": [_number(part, each) for part in _parts(each.key)],
            "says": says + [_NOT_STATED] * (len(fact.values) - len(says)),
            "list": _LISTS.index(each.each) if each.each else _NOT_STATED,
            "single": fact.single,
            "repeated": fact.repeated,
        }
        table.setdefault(each.event, []).append(row)
    return json.dumps(table)


def _text(name: str) -> Column:
    if name in DERIVED:
        return F.expr(DERIVED[name]).cast("string")
    kind = WIDE[name].dataType.simpleString()
    return F.col(name).cast("string") if kind in _PLAIN_TYPES else F.to_json(name)


def _statements(events: Silver) -> DataFrame:
    """Return each statement of each event: trace, node, seq, at, type, fact, how, key, says, single, repeated."""
    table = F.from_json(F.lit(_table()), f"map<string, array<{_STATEMENT}>>")
    rows = events.lines(*sorted({each.event for each in STATEMENTS})).select(
        "trace", "node", "seq", "at", "type",
        F.array(*map(_text, _COLUMNS)).alias("v"),
        F.array(*[F.expr(LISTS[name][1]) for name in _LISTS]).alias("lists"),
        F.explode(F.element_at(table, F.col("type"))).alias("s"),
    )  # fmt: skip
    whole = "cast(array(array()) as array<array<string>>)"
    rows = rows.withColumn("e", F.explode(F.expr(f"if(s.list < 0, {whole}, lists[s.list])")))

    def values(numbers: str) -> str:
        part = f"case when i < 0 then null when i >= {_ELEMENT} then e[i - {_ELEMENT}] else v[i] end"
        return f"transform({numbers}, i -> {part})"

    stated = rows.select(
        "trace", "node", "seq", "at", "type", "s.fact", "s.how", F.expr(values("s.key")).alias("key"),
        F.expr(values("s.says")).alias("says"), "s.single", "s.repeated",
    )  # fmt: skip
    return stated.where("not exists(key, k -> k is null)").withColumn("key", F.array_join("key", " "))


def _of_topology(events: Silver, rows: DataFrame) -> DataFrame:
    """Return what the topology states: the versions, holders and ids of its folders, its servers, settings and connectors.
    rows: the histories, which have the ids of the folders."""
    started = events.of("run.started").select(
        "trace", F.col("node").alias("lab"), F.col("at").alias("began"), F.from_json("topology", _TOPOLOGY).alias("t")
    )
    began = started.select("trace", "lab", "began")
    made = rows.where(F.col("act").eqNullSafe("made") & F.col("store").eqNullSafe(SETUP))
    made = made.select("trace", "folder", "object", "number", "replicas").join(F.broadcast(began), "trace")
    servers = started.select("*", F.explode("t.servers").alias("store", "of"))
    default = F.coalesce("t.settings", F.create_map().cast("map<string, string>"))
    chosen = F.map_zip_with(
        default,
        F.coalesce("of.settings", F.create_map().cast("map<string, string>")),
        lambda _, both, own: F.coalesce(own, both),
    )
    settings = servers.select("*", F.explode(chosen).alias("name", "value"))
    connectors = started.select("*", F.explode("t.connectors").alias("connector"))

    def say(table: DataFrame, fact: str, key: Sequence[str], *says: str) -> DataFrame:
        values = [F.expr(each).cast("string") for each in says]
        missing = [F.lit(None).cast("string")] * (len(FACTS[fact].values) - len(values))
        return table.select(
            "trace", F.col("lab").alias("node"), F.lit(0).cast("bigint").alias("seq"), F.col("began").alias("at"),
            F.lit("run.started").alias("type"), F.lit(fact).alias("fact"), F.lit(How.FIRST.value).alias("how"),
            F.concat_ws(" ", *key).alias("key"), F.array(*values, *missing).cast("array<string>").alias("says"),
            F.lit(FACTS[fact].single).alias("single"), F.lit(False).alias("repeated"),
        )  # fmt: skip

    stated = (
        say(made, "version", ["number"], "object", "folder"),
        say(made, "folder", ["object"]),
        say(made.withColumn("replica", F.explode("replicas")), "holder", ["object", "replica"]),
        say(servers, "server", ["store"], "of.version"),
        say(settings, "setting", ["store", "name", "began"], SETTING.format("value")),
        # A number without a unit is a number of days where the setting is a time.
        say(settings, "setting", ["store", "name", "began"], "try_cast(value as bigint) * 86400"),
        say(connectors, "connector", ["connector.name"]),
    )
    return reduce(DataFrame.unionByName, stated)


def facts(events: Silver, rows: DataFrame, restored: DataFrame) -> DataFrame:
    """Return each fact with how it was stated: trace, fact, key, at, disputed, other, unknown, unheeded, repeated, compared. rows:
    the histories.

    disputed: two statements that contradict each other; unknown: a repetition of what nobody stated first hand; unheeded: a
    statement that should be repeated, and is not. Each is null if there is none. other: a statement first hand. repeated: some
    statement should be repeated. compared: there are two statements.
    """
    stated = _statements(events).unionByName(_of_topology(events, rows))
    one = F.struct("how", "says", "type", "node", "single", "repeated")
    rows = stated.groupBy("trace", "fact", "key").agg(F.min("at").alias("at"), F.collect_set(one).alias("all"))
    differ = "coalesce(exists(sequence(0, size(a.says) - 1), i -> a.says[i] != b.says[i]), false)"
    # Which of the two is found must not depend on the order in which Spark collects them.
    ordered = rows.withColumn("all", F.array_sort("all"))
    parts = ordered.withColumn("first", F.expr(f"filter(all, a -> a.how = '{How.FIRST.value}')"))
    parts = parts.withColumn("told", F.expr(f"filter(all, a -> a.how != '{How.FIRST.value}')"))
    two = f"rough is null and a.single and exists(first, b -> {differ})"
    other = f"size(first) > 0 and forall(first, b -> {differ})"
    # A restored store forgets what it did, so nobody need repeat what it said, or have said what it repeats.
    rough = restored.select("trace").distinct().withColumn("rough", F.lit(True))
    parts = parts.join(F.broadcast(rough), "trace", "left")
    return parts.select(
        "trace", "fact", "key", "at",
        F.expr(f"coalesce(try_element_at(filter(first, a -> {two}), 1), try_element_at(filter(told, a -> {other}), 1))").alias("disputed"),
        F.expr(f"case when rough is null and size(first) = 0 then try_element_at(filter(told, a -> a.how = '{How.REPEATS.value}'), 1) end").alias("unknown"),
        F.expr(f"try_element_at(filter(first, a -> rough is null and a.repeated and forall(told, b -> {differ})), 1)").alias("unheeded"),
        F.expr("try_element_at(first, 1)").alias("other"),
        F.expr("rough is null and exists(first, a -> a.repeated)").alias("repeated"),
        F.expr("size(first) + size(told) > 1").alias("compared"),
    )  # fmt: skip
