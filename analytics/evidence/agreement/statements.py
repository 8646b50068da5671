"""The statements of the events of a trace, and whether they agree: one pass over the events, driven by the table `facts`.

Each event states facts. A statement has a fact, a key (which mail, which version, which entry) and values. Some events state a
fact first hand: the sender of a mail, the author of a version. Others repeat it: each server on the mail's way, each store that
applies the version. So an event that was altered or removed contradicts the others.

    mail.submitted  at A   mail 7: the sender is A, the type is 4      first hand
    mail.received   at B   mail 7: the sender is A, the type is 4      repeats it
    mail.received   at C   mail 7: the sender is A, the type is 2      contradicts both
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.agreement.facts import (
    DERIVED,
    FACTS,
    IN_A_QUEUE,
    LISTS,
    SETTING,
    SHARED,
    STATEMENTS,
    How,
    States,
)
from analytics.evidence.organization import SETUP, topologies
from analytics.evidence.version_history import is_undone
from analytics.ingest.lines import FAMILIES
from analytics.ingest.schemas import WIDE
from analytics.ingest.silver import Silver

_TOPOLOGY: Final = (
    "domain string, recipient_policies array<struct<domain: string>>, settings map<string, string>,"
    " servers map<string, struct<version: string, settings: map<string, string>>>"
)
_ORGANIZATION: Final = "connectors array<struct<name: string>>, servers map<string, struct<version: string>>"
_PLAIN_TYPES: Final = ("string", "bigint", "double", "boolean")
_PARTS_OF_ONE: Final = "\x1e"
_BETWEEN: Final = "\x1f"
_NOT_STATED: Final = "\x7f"
"""A statement is one text, because a struct takes far longer to collect and compare. These signs are between its parts, between
its values, and in place of a value that is not stated. The first two come before all letters, so the order of texts is that of
structs."""

_SINGLE: Final = tuple(name for name, fact in FACTS.items() if fact.single)
_REPEATED: Final = tuple(name for name, fact in FACTS.items() if fact.repeated)

_NOTHING: Final = "cast(array() as array<array<string>>)"
_NULL: Final = "cast(null as string)"


def _text(part: str, statement: States) -> str:
    """Return SQL for a part of a statement as text: a part of the element `e` of a list, a derived column, or a field."""
    names = LISTS[statement.items][0] if statement.items else ()
    if part == "-":
        return _NULL
    if part in names:
        return f"e[{names.index(part)}]"
    if part in DERIVED:
        return f"derived_{part}"
    is_plain = WIDE[part].dataType.simpleString() in _PLAIN_TYPES
    return f"cast({part} as string)" if is_plain else f"to_json({part})"


def _statement(statement: States) -> str:
    """Return SQL for a statement. Its key is null if a part of the key is."""
    fact = FACTS[statement.fact]
    says = [f"coalesce({_text(part, statement)}, '{_NOT_STATED}')" for part in statement.says.split()]
    says += [f"'{_NOT_STATED}'"] * (len(fact.values) - len(says))
    key = ", ' ', ".join(_text(part, statement) for part in statement.key.split())
    return (
        f"named_struct('fact', {_quoted(statement.fact)}, 'how', '{statement.how.value}', 'key', concat({key}),"
        f" 'says', concat_ws('{_BETWEEN}', {', '.join(says)}))"
    )


def _quoted(text: str) -> str:
    return '"' + text + '"'


def _by_event(stated: Sequence[States]) -> str:
    """Return SQL for the array of all statements of an event."""
    cases = []
    for tag in sorted({statement.event for statement in stated}):
        mine = [statement for statement in stated if statement.event == tag]
        by_list = {
            name: [_statement(statement) for statement in mine if statement.items == name] for name in ("", *LISTS)
        }
        parts = [f"array({', '.join(plain)})" for plain in [by_list.pop("")] if plain]
        for name, statements in by_list.items():
            if statements:
                elements = f"coalesce({LISTS[name][1]}, {_NOTHING})"
                parts.append(f"flatten(transform({elements}, e -> array({', '.join(statements)})))")
        cases.append(f"when '{tag}' then concat({', '.join(parts)})")
    return f"case type {' '.join(cases)} end"


def _statements(events: Silver, nodes: DataFrame) -> Iterator[DataFrame]:
    """Yield tables of each statement of each event: trace, node, at, type, undone (a restore has undone the event), fact, how,
    key, says, repeated."""
    for often, tags in product((False, True), FAMILIES.values()):  # a family is a partition, and has few of the columns
        stated = [
            statement
            for statement in STATEMENTS
            if statement.often == often and statement.event in tags and events.has(statement.event)
        ]
        if stated:
            yield _stated(events, nodes, stated, often=often)


def _stated(events: Silver, nodes: DataFrame, stated: Sequence[States], *, often: bool) -> DataFrame:
    """Return these statements.

    often: each of them once.
    """
    lines = events.lines(*sorted({statement.event for statement in stated})).join(
        F.broadcast(nodes), ["trace", "node"], "left"
    )
    lines = lines.withColumns({name: F.expr(sql) for name, sql in SHARED.items()})
    lines = lines.withColumns({f"derived_{name}": F.expr(sql) for name, sql in _derived(stated).items()})
    undone, gone = is_undone(F.col("seq")).alias("undone"), F.coalesce("gone", F.lit(False)).alias("gone")
    of_event = F.explode(F.expr(_by_event(stated))).alias("s")
    rows = lines.select("trace", "node", "at", "type", undone, gone, "sent_until", of_event).where("s.key is not null")
    in_time = f"s.fact != '{IN_A_QUEUE}' or coalesce(at <= sent_until, false)"
    repeated = F.expr(f"s.fact in {_REPEATED} and not undone and not gone and ({in_time})").alias("repeated")
    every = rows.select("trace", "node", "at", "type", "undone", "s.fact", "s.how", "s.key", "s.says", repeated)
    return (
        every.groupBy(*[name for name in every.columns if name != "at"]).agg(F.min("at").alias("at"))
        if often
        else every
    )


def _derived(stated: Sequence[States]) -> dict[str, str]:
    """Return SQL for the derived columns of these statements, computed once for an event of the types that need them."""
    types: dict[str, set[str]] = {}
    for statement in stated:
        for part in {*statement.key.split(), *statement.says.split()} & DERIVED.keys():
            types.setdefault(part, set()).add(statement.event)
    return {
        part: f"case when type in ({', '.join(map(repr, sorted(types[part])))}) then cast({DERIVED[part]} as string) end"
        for part in sorted(types)
    }


def _of_topology(events: Silver, rows: DataFrame) -> DataFrame:
    """Return what the topology states: the versions, holders and ids of its folders, its settings, and all servers and
    connectors that there were (RT-6).

    rows: the histories, which have the ids of the folders.
    """
    started = events.of("run.started").select(
        "trace",
        F.col("node").alias("lab"),
        F.col("at").alias("began"),
        "type",
        F.from_json("topology", _TOPOLOGY).alias("t"),
    )
    began = started.select("trace", "lab", "began", "type")
    versions = rows.where(F.col("act").eqNullSafe("made") & F.col("store").eqNullSafe(SETUP))
    versions = versions.select("trace", "folder", "object", "number", "replicas").join(F.broadcast(began), "trace")
    servers = started.select("*", F.explode("t.servers").alias("store", "of"))
    default = F.coalesce("t.settings", F.create_map().cast("map<string, string>"))
    chosen = F.map_zip_with(
        default,
        F.coalesce("of.settings", F.create_map().cast("map<string, string>")),
        lambda _, both, own: F.coalesce(own, both),
    )
    settings = servers.select("*", F.explode(chosen).alias("name", "value"))
    every = topologies(events).select(
        "trace",
        F.col("node").alias("lab"),
        F.col("at").alias("began"),
        "type",
        F.from_json("topology", _ORGANIZATION).alias("t"),
    )
    connectors = every.select("*", F.explode("t.connectors").alias("connector"))
    members = every.select("*", F.explode("t.servers").alias("store", "of"))

    def say(table: DataFrame, fact: str, key: Sequence[str], *says: str) -> DataFrame:
        values = [F.coalesce(F.expr(column).cast("string"), F.lit(_NOT_STATED)) for column in says]
        missing = [F.lit(_NOT_STATED)] * (len(FACTS[fact].values) - len(values))
        return table.select(
            "trace",
            F.col("lab").alias("node"),
            F.col("began").alias("at"),
            "type",
            F.lit(fact).alias("fact"),
            F.lit(How.FIRST.value).alias("how"),
            F.concat_ws(" ", *key).alias("key"),
            F.concat_ws(_BETWEEN, *values, *missing).alias("says"),
            F.lit(False).alias("repeated"),
            F.lit(False).alias("undone"),
        )

    stated = (
        say(versions, "version", ["number"], "object", "folder", "'folder'", "number", "began", "null", "'false'"),
        say(versions, "folder", ["object"]),
        say(versions.withColumn("replica", F.explode("replicas")), "holder", ["object", "replica"]),
        say(started, "mail domain", ["t.domain"]),
        say(started.withColumn("policy", F.explode("t.recipient_policies")), "mail domain", ["policy.domain"]),
        say(members, "server", ["store"], "of.version"),
        say(settings, "setting", ["store", "name", "began"], SETTING.format("value")),
        # A number without a unit is a number of days where the setting is a time.
        say(settings, "setting", ["store", "name", "began"], "try_cast(value as bigint) * 86400"),
        say(connectors, "connector", ["connector.name"]),
    )
    return reduce(DataFrame.unionByName, stated)


def facts(events: Silver, rows: DataFrame, nodes: DataFrame) -> DataFrame:
    """Return each fact with how it was stated: trace, fact, key, at, disputed, other, unknown, unheeded, repeated, compared.

    rows: the histories.

    disputed: two statements that contradict each other; unknown: a repetition without a statement first hand; unheeded: a
    statement that should be repeated, and is not. Each is null if there is none. other: a statement first hand. repeated: some
    statement should be repeated. compared: there are two statements.
    """
    stated = reduce(DataFrame.unionByName, _statements(events, nodes), _of_topology(events, rows))
    flags = (F.col(name).cast("string") for name in ("repeated", "undone"))
    statement = F.concat_ws(_PARTS_OF_ONE, "how", "says", "type", "node", *flags)
    rows = stated.groupBy("trace", "fact", "key").agg(
        F.min("at").alias("at"),
        F.collect_set(statement).alias("all"),
        F.min("says").eqNullSafe(F.max("says")).alias("same"),
        F.max(F.col("how") == How.FIRST.value).alias("stated"),
        F.max(F.col("how") == How.REPEATS.value).alias("retold"),
        F.max(F.col("how") != How.FIRST.value).alias("echoed"),
        F.max("repeated").alias("repeated"),
    )
    differ = "coalesce(exists(sequence(0, size(a.says) - 1), i -> a.says[i] != b.says[i]), false)"
    # Which of the two is found must not depend on the order in which Spark collects them.
    values = f"transform(split(p[1], '{_BETWEEN}'), v -> nullif(v, '{_NOT_STATED}')) as says"
    every = (
        f"transform(transform(array_sort(all), a -> split(a, '{_PARTS_OF_ONE}')),"
        f" p -> struct(p[0] as how, {values}, p[2] as type, p[3] as node,"
        " p[4] = 'true' as repeated, p[5] = 'true' as undone))"
    )
    firsts, repeats = (f"filter({every}, a -> a.how {sign} '{How.FIRST.value}')" for sign in ("=", "!="))
    # Most facts are stated alike by all, and need no look at each statement.
    doubtful = "not same or repeated and not echoed or not stated and retold"
    parts = rows.withColumn("first", F.expr(f"case when {doubtful} then {firsts} end"))
    parts = parts.withColumn("told", F.expr(f"case when {doubtful} then {repeats} end"))
    # A restored store forgets what it did, and may use the key again.
    two = f"not a.undone and exists(first, b -> not b.undone and {differ})"
    false = f"case when fact in {_SINGLE} then try_element_at(filter(first, a -> {two}), 1) end"
    disagreement = f"size(first) > 0 and forall(first, b -> {differ})"
    disputed = f"coalesce({false}, try_element_at(filter(told, a -> {disagreement}), 1))"
    unknown = f"case when not stated then try_element_at(filter(told, a -> a.how = '{How.REPEATS.value}'), 1) end"
    unheeded = f"try_element_at(filter(first, a -> a.repeated and forall(told, b -> {differ})), 1)"
    found = {
        "disputed": disputed,
        "unknown": unknown,
        "unheeded": unheeded,
        "other": "try_element_at(first, 1)",
        "compared": "size(all) > 1",
    }
    columns = (F.expr(sql).alias(name) for name, sql in found.items())
    return parts.select("trace", "fact", "key", "at", "repeated", *columns)
