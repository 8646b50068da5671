"""Generate traces of any size with Spark: a few stores post and replicate for a given number of cycles.

The number of a cycle determines which store posts, and the sequence number of each event. So a billion events need no
memory, and the same arguments give the same lines. Faults are planted at known places: in every `fault_every`-th cycle
one store ignores the first post that it receives.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from traces.labtime import MINUTE_US
from traces.segments import close_segment
from traces.trace_version import TRACE_VERSION

POSTS: Final = 20
"""How many posts a cycle has. One store makes them and sends them in one mail."""

LINE_BYTES: Final = 65
"""The length of the line that a server puts on top of a mail that it accepts, without the names of the two servers."""

START_AT: Final = 1_066_694_400_000_000
SETUP: Final = "5e" * 16
FOLDER: Final = f"{SETUP}:1"


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a trace: `cycles` with POSTS posts each, by `stores` stores in turn.

    run: its id.
    fault_every: 0 for no faults.
    """

    cycles: int
    stores: int = 3
    fault_every: int = 0
    run: str = "made"

    @classmethod
    def of_events(cls, events: int, *, stores: int = 3, fault_every: int = 0) -> Shape:
        """Return the shape with about this many events."""
        return cls(max(1, events // cls(1, stores).events_a_cycle), stores, fault_every)

    @property
    def by_author(self) -> int:
        """The number of events of the posting store in a cycle: its posts, the mail, and a hop to each other store."""
        return POSTS + self.stores

    @property
    def by_receiver(self) -> int:
        """The number of events of one receiving store in a cycle: the hop, the mail, the row, and a version for each post."""
        return POSTS + 3

    @property
    def events_a_cycle(self) -> int:
        return self.by_author + (self.stores - 1) * self.by_receiver

    @property
    def lamports_a_cycle(self) -> int:
        """How much the Lamport numbers increase in a cycle."""
        return self.by_author + (self.by_receiver if self.stores > 1 else 0)

    @property
    def events(self) -> int:
        """The number of events in the trace, with starts, stops and the two events of the lab."""
        return self.cycles * self.events_a_cycle + 2 * self.stores + 2

    @property
    def faults(self) -> int:
        return 0 if not self.fault_every else -(-self.cycles // self.fault_every)

    @property
    def names(self) -> list[str]:
        return [f"S{index}" for index in range(self.stores)]


def generate(spark: SparkSession, shape: Shape, place: Path) -> None:
    """Write the trace's segments into `place/traces/`, which must not exist yet."""
    folder = place / "traces"
    lines = _cycles(spark, shape).unionByName(_ends(spark, shape))
    lines.select("value").write.text(str(folder))
    # Spark chooses the file names; the suffix makes a file a segment.
    for part in folder.glob("part-*.txt"):
        close_segment(part)
        part.rename(part.with_suffix(".jsonl"))


def _line(kind: str, shape: Shape, node: Column, seq: Column, at: Column, /, **fields: Column) -> Column:
    # The receivers go on from the author's last number, and one of them is the author of the next cycle.
    before = F.when(F.col("store") == F.col("author"), 0).otherwise(shape.by_author)
    lamport = 1 + F.col("k") * shape.lamports_a_cycle + before + seq - F.col("base")
    head = {
        "type": F.lit(kind),
        "run": F.lit(shape.run),
        "node": node,
        "incarnation": F.lit(1),
        "at": at,
        "seq": seq,
        "lamport": lamport,
        **fields,
    }
    return F.to_json(F.struct(*[column.alias(name) for name, column in head.items()]), {"ignoreNullFields": "false"})


def _cycles(spark: SparkSession, shape: Shape) -> DataFrame:
    """Return the lines of each cycle at each store."""
    stores = shape.stores
    cycles = (
        spark.range(shape.cycles)
        .withColumnRenamed("id", "k")
        .withColumn("store", F.explode(F.sequence(F.lit(0), F.lit(stores - 1))))
    )
    author = (F.col("k") % stores).cast("int")
    # Earlier cycles in which this store posted.
    own_cycles = F.floor((F.col("k") - F.col("store") + stores - 1) / stores)
    base = 1 + own_cycles * shape.by_author + (F.col("k") - own_cycles) * shape.by_receiver
    guid = F.lpad(F.hex(author + 1), 32, "0")
    first = F.floor(F.col("k") / stores) * POSTS  # the author's earlier posts
    rows = cycles.select(
        "k",
        "store",
        author.alias("author"),
        base.cast("long").alias("base"),
        F.lower(guid).alias("guid"),
        first.cast("long").alias("first"),
    )
    rows = rows.withColumn("at", F.lit(START_AT) + (F.col("k") + 1) * (15 * MINUTE_US))
    rows = rows.withColumn(
        "lines", F.when(F.col("store") == F.col("author"), _author(shape)).otherwise(_receiver(shape))
    )
    return rows.select(F.explode("lines").alias("value"))


def _name(index: Column) -> Column:
    return F.concat(F.lit("S"), index.cast("string"))


def _address(store: Column) -> Column:
    return F.concat(store, F.lit("-IS@made.test"))


def _number(index: Column) -> Column:
    return F.concat(F.col("guid"), F.lit(":"), (F.col("first") + index).cast("string"))


def _mail_number(shape: Shape) -> Column:
    return F.floor(F.col("k") / shape.stores) + 1


def _mail(shape: Shape) -> Column:
    number, token = _mail_number(shape).cast("string"), F.substring(F.sha2(F.col("k").cast("string"), 256), 1, 12)
    return F.concat(number, F.lit("."), token, F.lit("@"), _name(F.col("author")), F.lit(".made.test"))


def _number_sets(shape: Shape) -> tuple[Column, Column]:
    """Return the mail's CNSet, and its sender's row: all posts of every store so far."""
    low, high = (F.col("first") + 1).cast("string"), (F.col("first") + POSTS).cast("string")
    parts = []
    for index in range(shape.stores):
        cycles = F.floor(
            (F.col("k") - index + shape.stores) / shape.stores
        )  # cycles in which this store posted, including this one
        last = (cycles * POSTS).cast("string")
        parts.append(F.when(cycles > 0, F.concat(F.lit(f"{index + 1:032x}:1-"), last)))
    return F.concat("guid", F.lit(":"), low, F.lit("-"), high), F.concat_ws(";", *parts)


def _mail_fields(shape: Shape) -> dict[str, Column]:
    cnset, row = _number_sets(shape)
    folder = F.struct(
        F.lit(FOLDER).alias("folder"),
        cnset.alias("cnset"),
        F.lit("").alias("cnset_fai"),
        row.alias("row"),
        F.lit("").alias("row_fai"),
        F.lit(POSTS).alias("updates"),
    )
    other_names = F.filter(F.array(*[F.lit(name) for name in shape.names]), lambda name: name != _name(F.col("author")))
    return {
        "mail": _mail(shape),
        "message_type": F.lit(4),
        "folders": F.array(folder),
        "recipients": F.transform(other_names, _address),
        "size": F.lit(POSTS * 1200),
        "number": _mail_number(shape),
        "marks": F.expr("cast(array() as array<string>)"),
    }


def _author(shape: Shape) -> Column:
    node, base, at = _name(F.col("store")), F.col("base"), F.col("at")

    def post(index: Column) -> Column:
        number = _number(index)
        return _line(
            "change.made",
            shape,
            node,
            base + index,
            at,
            folder=F.lit(FOLDER),
            object=number,
            number=number,
            kind=F.lit("message"),
            operation=F.lit("create"),
            modified_at=at,
            supersedes=F.expr("cast(array() as array<string>)"),
            pcl=number,
            digest=F.sha2(number, 256),
            subject=F.concat(F.lit("Post "), number),
        )

    posts = F.transform(F.sequence(F.lit(1), F.lit(POSTS)), post)
    mail = _line("mail.submitted", shape, node, base + POSTS + 1, at, **_mail_fields(shape))
    hops = [
        _line(
            "hop.sent",
            shape,
            node,
            base + POSTS + 1 + step,
            at,
            mail=_mail(shape),
            next_hop=_name((F.col("author") + step) % shape.stores),
            connector=F.lit(None).cast("string"),
            recipients=F.array(_address(_name((F.col("author") + step) % shape.stores))),
            size=F.lit(POSTS * 1200),
            attempt=F.lit(1),
            queue_id=F.col("k") * shape.stores + step,
        )
        for step in range(1, shape.stores)
    ]
    return F.concat(posts, F.array(mail, *hops))


def _receiver(shape: Shape) -> Column:
    node, base, at = _name(F.col("store")), F.col("base"), F.col("at")
    _, row = _number_sets(shape)
    sender = _name(F.col("author"))
    size = F.lit(POSTS * 1200)
    line = F.length(sender) + F.length(node) + LINE_BYTES
    arrival = F.array(
        _line(
            "hop.received",
            shape,
            node,
            base + 1,
            at,
            mail=_mail(shape),
            peer=sender,
            recipients=F.array(_address(node)),
            size=size,
        ),
        _line(
            "mail.received",
            shape,
            node,
            base + 2,
            at,
            sender=sender,
            **_mail_fields(shape) | {"size": size + line, "recipients": F.array(node)},
        ),
        _line(
            "row.replaced",
            shape,
            node,
            base + 3,
            at,
            mail=_mail(shape),
            folder=F.lit(FOLDER),
            store=sender,
            cnset=row,
            cnset_fai=F.lit(""),
            sent_at=at,
            sent_number=_mail_number(shape),
        ),
    )
    last = (F.col("author") + shape.stores - 1) % shape.stores
    faulty = F.lit(bool(shape.fault_every)) & (F.col("k") % max(1, shape.fault_every) == 0) & (F.col("store") == last)

    def version(index: Column) -> Column:
        number = _number(index)
        fields = {
            "mail": _mail(shape),
            "folder": F.lit(FOLDER),
            "object": number,
            "number": number,
            "kind": F.lit("message"),
            "pcl": number,
            "modified_at": at,
            "way": F.lit("broadcast"),
            "stands_for": number,
            "digest": F.sha2(number, 256),
            "deleted": F.lit(False),
        }
        applied = _line("version.applied", shape, node, base + 3 + index, at, **fields)
        ignored = _line("version.ignored", shape, node, base + 3 + index, at, reason=F.lit("duplicate"), **fields)
        return F.when(faulty & (index == 1), ignored).otherwise(applied)

    return F.concat(arrival, F.transform(F.sequence(F.lit(1), F.lit(POSTS)), version))


def _ends(spark: SparkSession, shape: Shape) -> DataFrame:
    """Return the first and last events of the run and of each store."""
    topology = {
        "servers": {name: {"site": "S", "version": "2003", "joins": "start"} for name in shape.names},
        "folders": {"F": {"replicas": shape.names}},
    }
    end_at = START_AT + (shape.cycles + 2) * 15 * MINUTE_US
    lines = [
        {
            "node": "lab",
            "seq": 1,
            "at": START_AT,
            "type": "run.started",
            "topology": json.dumps(topology),
            "seed": "1",
            "settings": {},
            "version": TRACE_VERSION,
        },
        {"node": "lab", "seq": 2, "at": end_at, "type": "run.ended", "verdict": "passed"},
    ]
    for index, name in enumerate(shape.names):
        own_cycles = (shape.cycles - index + shape.stores - 1) // shape.stores
        last = 1 + own_cycles * shape.by_author + (shape.cycles - own_cycles) * shape.by_receiver + 1
        is_author = (shape.cycles - 1) % shape.stores == index
        lamport = (
            2 + (shape.cycles - 1) * shape.lamports_a_cycle + shape.by_author + (0 if is_author else shape.by_receiver)
        )
        lines += [
            {
                "node": name,
                "seq": 1,
                "at": START_AT,
                "type": "node.started",
                "version": "2003",
                "replica_guid": f"{index + 1:032x}",
                "reason": "first",
            },
            {"node": name, "seq": last, "at": end_at, "type": "node.stopped", "how": "stop", "lamport": lamport},
        ]
    events = [{"run": shape.run, "incarnation": 1, "lamport": line["seq"], **line} for line in lines]
    return spark.createDataFrame([(json.dumps(line),) for line in events], "value string")
