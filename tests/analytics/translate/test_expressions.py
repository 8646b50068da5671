"""Each expression that the translator knows means the same to both engines, for unusual values too."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from analytics.embedded.product import FUNCTIONS
from analytics.rows import row_of
from analytics.translate.expressions import AGGREGATES, METHODS, TEMPLATES
from analytics.translate.operators import OPERATORS
from analytics.translate.plan import Untranslatable
from analytics.translate.record import translated
from analytics.translate.types import CASTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MIN, MAX = -(2**63), 2**63 - 1
TABLE = "test/values"
SCHEMA = (
    "k int, t string, u string, n bigint, o bigint, i int, d double, b boolean, l array<bigint>, r array<bigint>,"
    " s array<string>, m map<string, bigint>, x struct<a: bigint, b: string>, y array<struct<a: bigint, b: string>>,"
    " z array<array<bigint>>, f array<boolean>"
)
ROWS: list[tuple[Any, ...]] = [
    (0, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None),
    (1, "", "", 0, 1, 0, 0.0, True, [], [], [], {}, (None, None), [], [], []),
    (2, "a:b;c:1", ":", -7, 3, -1, -2.5, False, [1, 2, 2, None, 1], [2, None], ["b", None, "a", "b"],
     {"a": 1, "b": None}, (1, None), [(2, "x"), (None, "y"), (1, None), (1, "a"), None], [[1], [2, 3]], [True, None]),
    (3, " 12 ", "A-IS@x", MAX, 1, 7, 1e18, True, [3], [1, 2], ["", "é🤦"], {"": -1}, (None, "b"), [(1, "a")],
     [[1], None], [False, None]),
    (4, "5.7", "x\n", MIN, -1, 2, -0.5, False, [None], [None], [None], {"k": MAX}, (-5, ""), [None], [[]], [False]),
    (5, "a\nb", "b", 40, 0, 3, 1.0, None, [5, -5], [9], ["c"], {"x": 2}, (2, "b"), [(5, ""), (4, "z")], None, [True]),
    (6, "-9223372036854775809", "yes", 1024, 2**40, 1, 3.99, True, [MAX, MIN], [MAX], ["a;b", "c"], {"a": 0}, (2, "a"),
     [(2, "b"), (2, "a")], [[7, 7]], [True, True]),
    (7, '{"a": 1, "c": [1, 2], "s": "t"}', "false", 8, -8, -3, 2.0, True, [4, 4], [4], ["4"], {"4": 4}, (4, "4"),
     [(4, "4")], [[4]], [False, True]),
]  # fmt: skip

EXPRESSIONS = """
k
not b
b and n > 0
b or n > 0
n is null
n is not null
n = o
n <=> o
n + o
n - o
n * o
-n
abs(n)
i + 1
n / o
d / 2
n % o
if(b, n, o)
case when n > 0 then 'p' when n < 0 then 'q' end
case when b then n else o end
coalesce(n, o, 5)
n in (0, -7, null)
t in ('', 'a')
n > o
n <= o
x < struct(2L as a, 'b' as b)
x >= struct(cast(null as bigint) as a, 'b' as b)
x = struct(2L as a, 'b' as b)
greatest(n, o)
greatest(x, struct(2L as a, cast(null as string) as b))
least(x, struct(2L as a, cast(null as string) as b))
least(n, o, 3)
x.a
struct(n as p, t as q)
array(n, o)
cast(array() as array<string>)
cast(t as bigint)
cast(t as double)
cast(n as string)
cast(i as bigint)
cast(n as double)
cast(b as string)
cast(b as int)
cast(s as array<bigint>)
cast(t as int)
cast(i as string)
cast(i as double)
floor(d)
timestamp_micros(if(n between -62135596800000000 and 253402300799999999, n, null))
transform(l, e -> e + 1)
filter(l, e -> e > 1)
exists(l, e -> e > 1)
forall(l, e -> e > 0)
exists(f, e -> e)
forall(f, e -> e)
aggregate(l, 0L, (a, e) -> a + e)
aggregate(l, 0L, (a, e) -> a + coalesce(e, 1L), a -> a * 2)
zip_with(l, r, (p, q) -> coalesce(p, 0) + coalesce(q, 10))
zip_with(y, slice(y, 1, 1), (p, q) -> q.a)
zip_with(slice(y, 1, 1), y, (p, q) -> struct(p.a as a, q.b as b))
transform_values(m, (p, q) -> q + 1)
map_zip_with(m, m, (p, q, w) -> q + w)
map_entries(m)
map_values(m)
map_from_entries(filter(transform(y, e -> struct(coalesce(e.b, '-') as v, e.a as w)), e -> e is not null))
map('a', n, 'b', o)
map(coalesce(t, '-'), n)
str_to_map('a:1;b:2;a:3;c', ';', ':')
str_to_map(t, ';', ':')
m['a']
try_element_at(m, 'a')
element_at(l, -1)
try_element_at(l, 2)
l[0]
l[i]
size(l)
size(m)
flatten(z)
array_contains(l, 1)
array_contains(l, 9)
array_contains(l, n)
array_distinct(l)
array_union(l, r)
array_except(l, r)
array_remove(l, 2)
arrays_overlap(l, r)
array_sort(l)
array_sort(y)
array_sort(s)
array_max(l)
array_min(l)
array_max(y)
array_min(y)
array_join(s, ',')
slice(l, 1, 2)
slice(l, 2, size(l))
slice(l, -1, 1)
sequence(1, i)
sequence(0L, 3L)
sequence(0L, 100L, 30L)
sequence(3, 1, -1)
reverse(l)
concat(l, r)
concat(t, u)
concat_ws('-', t, u)
split(t, ';')
split(u, '@')
split_part(t, ':', 2)
split_part(t, ':', -1)
substring_index(t, ':', 1)
substring_index(t, ':', -1)
t rlike '^[a-z]:'
u rlike 'x$'
t rlike 'a.b'
t like 'a%'
u like '%IS@%'
regexp_replace(u, '(-IS)?@.*$', '')
regexp_replace(t, '([a-z]):', '$1-')
regexp_extract(t, '([a-z]):([a-z])', 2)
regexp_extract_all(t, '([a-z]):', 1)
format_string('%s is %d', t, n)
lower(u)
length(t)
trim(t)
trim(';' from t)
replace(t, ':', '')
startswith(t, 'a')
nullif(t, '')
n between -10 and 50
get_json_object(t, '$.s')
from_json(t, 'a bigint, s string')
from_json(t, 'array<string>')
to_json(s)
bitmap_bucket_number(abs(i))
"""


def _lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line]


def _plain(value: Any) -> Any:
    """Return a value in a form that is the same from both engines."""
    if isinstance(value, dict):
        return sorted((str(name), _plain(of)) for name, of in value.items())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value


@pytest.fixture(scope="module")
def values(spark: SparkSession) -> DataFrame:
    """A table with unusual values of many types."""
    spark.createDataFrame(ROWS, SCHEMA).createOrReplaceTempView(f"`{TABLE}`")
    return spark.table(f"`{TABLE}`")


@pytest.fixture(scope="module")
def connection(values: DataFrame) -> duckdb.DuckDBPyConnection:
    """The same table in DuckDB."""
    made = duckdb.connect()
    made.execute(FUNCTIONS.read_text("utf-8"))
    made.register("given", values.toArrow())
    made.execute(f'CREATE TABLE "{TABLE}" AS SELECT * FROM given')
    return made


def _both(frame: DataFrame, connection: duckdb.DuckDBPyConnection) -> tuple[list[Any], list[Any]]:
    found = connection.execute(translated("test", frame).sql)
    columns = [each[0] for each in found.description or ()]
    ours = [_plain(row_of(dict(zip(columns, row, strict=True)))) for row in found.fetchall()]
    theirs = [_plain(row_of(row.asDict(recursive=True))) for row in frame.collect()]
    return sorted(ours, key=repr), sorted(theirs, key=repr)


@pytest.mark.parametrize("expression", _lines(EXPRESSIONS))
def test_an_expression_means_the_same_to_both_engines(
    values: DataFrame, connection: duckdb.DuckDBPyConnection, expression: str
) -> None:
    """An expression has the same value in both engines: of nulls, empty lists, repeated keys, negative and large numbers."""
    ours, theirs = _both(values.selectExpr("k as row", f"{expression} as value"), connection)
    assert ours == theirs


CALLS = """
count(1)
count(n)
count(distinct b)
count_if(n > 0)
max(n)
min(t)
min(x)
max(x)
max_by(t, n)
min_by(n, x)
min_by(n, i)
sum(n)
sum(d)
sum(i)
sort_array(collect_list(n))
size(collect_set(b))
bool_or(b)
coalesce(max(n), 0) + 1
max(n) - min(n)
min(case when n > 0 then struct(n, t) end)
bitmap_count(bitmap_construct_agg(bitmap_bit_position(abs(i) + 1)))
"""


@pytest.mark.parametrize("grouped", ["b", "i % 2", "1"])
@pytest.mark.parametrize("aggregate", [each for each in _lines(CALLS) if "sort_array" not in each])
def test_an_aggregate_means_the_same_to_both_engines(
    values: DataFrame, connection: duckdb.DuckDBPyConnection, aggregate: str, grouped: str
) -> None:
    """An aggregate has the same value in both engines, of groups with and without nulls, and of no rows."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - only where pyspark is

    for rows in (values, values.where("k > 100"), values.where("k in (2, 5)")):
        frame = rows.groupBy(F.expr(grouped).alias("row")).agg(F.expr(aggregate).alias("value"))
        ours, theirs = _both(frame, connection)
        assert ours == theirs


WINDOWS = """
row_number() over (partition by b order by k)
count(1) over (partition by b)
lag(n) over (order by k)
lead(n, 2, -1L) over (partition by b order by n desc nulls last, k)
sum(i) over (partition by b order by k rows between 1 preceding and current row)
max(n) over (partition by b order by k rows between unbounded preceding and 1 preceding)
last(n, true) over (order by k rows between unbounded preceding and 1 preceding)
min(x) over (order by k)
"""


@pytest.mark.parametrize("window", _lines(WINDOWS))
def test_a_window_means_the_same_to_both_engines(
    values: DataFrame, connection: duckdb.DuckDBPyConnection, window: str
) -> None:
    """A function of a window has the same value in both engines."""
    ours, theirs = _both(values.selectExpr("k as row", f"{window} as value"), connection)
    assert ours == theirs


PLANS = {
    "inner join": "select a.k, b.n from {t} a join {t} b on a.b = b.b and a.k < b.k",
    "left join": "select a.k, b.n from {t} a left join {t} b on a.n = b.o",
    "full join": "select a.k, b.n from {t} a full join {t} b on a.n = b.o",
    "semi join": "select k from {t} a left semi join {t} b on a.n = b.o",
    "anti join": "select k from {t} a left anti join {t} b on a.n = b.o",
    "cross join": "select a.k, b.k as j from {t} a cross join {t} b",
    "union": "select k, t from {t} union all select i, u from {t}",
    "explode": "select k, explode(l) as e from {t}",
    "explode outer": "select k, explode_outer(l) as e from {t}",
    "explode a map": "select k, explode(m) as (p, q) from {t}",
    "explode with places": "select k, posexplode(s) as (p, q) from {t}",
    "filters": "select k from (select k, n from {t} where n > 0) where k > 1",
    "a hint": "select /*+ broadcast(b) */ a.k from {t} a join {t} b on a.n = b.o",
}


@pytest.mark.parametrize("name", PLANS)
def test_an_operator_means_the_same_to_both_engines(
    values: DataFrame, connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    """An operator of a plan has the same rows in both engines."""
    ours, theirs = _both(values.sparkSession.sql(PLANS[name].format(t=f"`{TABLE}`")), connection)
    assert ours == theirs


def test_distinct_rows_are_the_same_in_both_engines(values: DataFrame, connection: duckdb.DuckDBPyConnection) -> None:
    """Rows are distinct by all columns, or by some of them."""
    for frame in (values.select("b", "i").distinct(), values.select("b").dropDuplicates(["b"])):
        ours, theirs = _both(frame, connection)
        assert ours == theirs


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("sha2(t, 256)", "Sha2"),
        ("first(n)", "First"),
        ("last(n)", "without an order"),
        ("count(n, o)", "Count with another number of operands"),
        ("count(1) filter (where n > 0)", "FILTER"),
        ("sum(distinct n)", "distinct Sum"),
        ("t rlike '(?=a)'", r"\(\?= in a regular expression"),
        ("t rlike 'a++'", r"\+\+ in a regular expression"),
        ("t rlike '\\\\s'", r"s in a regular expression"),
        ("regexp_replace(t, 'a', '-', 3)", "position of regexp_replace '3'"),
        ("split(t, '[0-9]')", "splitting at the regular expression"),
        ("split(t, ';', 2)", "limit of split '2'"),
        ("substring_index(t, ':', 2)", "count of substring_index '2'"),
        ("substring_index(t, '', 1)", "delimiter ''"),
        ("format_string('%5d', n)", "format '%5d'"),
        ("get_json_object(t, '$[0]')", "path in JSON"),
        ("t like 'a!%' escape '!'", "Like with another escapeChar"),
        ("lag(n) ignore nulls over (order by k)", "Lag with another ignoreNulls"),
        ("cast(t as date)", "the type date"),
        ("cast(n as int)", "the cast from long to integer"),
        ("floor(n)", "Floor of the type bigint"),
        ("reverse(t)", "Reverse of the type string"),
        ("to_json(y)", "StructsToJson of the type array<struct"),
        ("concat_ws('-', s, t)", "ConcatWs with lists"),
        ("map(t, 1, u, 2)", "AttributeReference where only a literal is possible"),
        ("map('a', 1, 'a', 2)", "CreateMap with equal keys"),
        ("transform(l, (e, j) -> j)", "ArrayTransform with another number of arguments"),
        ("array_sort(l, (p, q) -> case when p > q then 1 else 0 end)", "ArraySort with a comparison"),
        ("row_number() over (order by x)", "the order of rows by struct"),
    ],
)
def test_what_the_translator_does_not_know_is_refused_by_name(values: DataFrame, expression: str, named: str) -> None:
    """An expression, or a use of one, that might mean something else in DuckDB is not translated."""
    with pytest.raises(Untranslatable, match=named):
        translated("test", values.selectExpr(f"{expression} as value"))


@pytest.mark.parametrize("plan", ["select k from {t} order by k", "select b from {t} intersect select b from {t}"])
def test_an_operator_that_the_translator_does_not_know_is_refused_by_name(values: DataFrame, plan: str) -> None:
    """A statement never leaves an operator of its plan out."""
    with pytest.raises(Untranslatable, match=r"the operator (Sort|Intersect)"):
        translated("test", values.sparkSession.sql(plan.format(t=f"`{TABLE}`")))


def test_everything_that_is_translated_is_tried(values: DataFrame) -> None:
    """The cases of this file contain each expression, aggregate and operator that the translator knows."""
    spark = values.sparkSession
    frames = [values.selectExpr(each) for each in (*_lines(EXPRESSIONS), *_lines(CALLS), *_lines(WINDOWS))]
    frames.append(values.dropDuplicates(["b"]))
    frames += [spark.sql(each.format(t=f"`{TABLE}`")) for each in PLANS.values()]
    tried: set[str] = set()
    for frame in frames:
        plan = json.loads(frame._jdf.queryExecution().analyzed().toJSON())
        tried |= set(_classes(plan))
    names = {"t": "string", "u": "string", "n": "long", "i": "integer", "d": "double", "b": "boolean"}
    types = {"bigint": "long", "int": "integer"}
    casts = re.findall(r"^cast\((\w) as (\w+)\)$", EXPRESSIONS, re.MULTILINE)
    assert set(CASTS) == {(names[of], types.get(target, target)) for of, target in casts}
    aggregates = {name.removeprefix("distinct ") for name in AGGREGATES}
    known = {*TEMPLATES, *METHODS, *aggregates, *OPERATORS}
    assert known - tried == set()


def _classes(found: Any) -> list[str]:
    if isinstance(found, dict):
        own = [found["class"].rpartition(".")[2].removesuffix("$")] if "num-children" in found else []
        return own + [name for each in found.values() for name in _classes(each)]
    return [name for each in found for name in _classes(each)] if isinstance(found, list) else []
