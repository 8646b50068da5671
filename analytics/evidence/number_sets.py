"""Sets of change numbers in SQL: the text of a trace (`GUID:1-5,7;...`) as an array of ranges, and unions of such arrays.

A folder has a set of messages and a set of associated messages (FAI: folder-associated items, such as views and rules). Each
set may also contain numbers of the other kind, to close the gaps in its own ranges. So the two sets must stay separate:
in an array of both sets, the GUIDs of associated messages have a suffix. # spec: CN-6, CN-9
"""

from __future__ import annotations

from typing import Final

RANGES: Final = "array<struct<guid: string, low: bigint, high: bigint>>"

_FAI: Final = " fai"


def ranges_of(text: str, kind: str = "'message'") -> str:
    """Return SQL for the ranges (guid, low, high) of a set in a trace. `text` is SQL for the set. `kind` is SQL for the kind of
    its items: see `guid_of_kind`."""
    low, high = (f"cast(split_part(i, '-', {part}) as bigint) as {name}" for part, name in ((1, "low"), (-1, "high")))
    guid = guid_of_kind("split_part(p, ':', 1)", kind)
    to_range = f"i -> struct({guid} as guid, {low}, {high})"
    parts = f"filter(split({text}, ';'), p -> p != '')"
    return f"flatten(transform({parts}, p -> transform(split(split_part(p, ':', 2), ','), {to_range})))"


def ranges_by_kind(messages: str, associated: str) -> str:
    """Return SQL for the ranges of a folder's two sets in one array."""
    fai = ranges_of(associated, "'fai'")
    return f"concat({ranges_of(messages)}, {fai})"


def guid_of_kind(guid: str, kind: str) -> str:
    """Return SQL for the GUID under which `ranges_by_kind` has the numbers of items of this kind."""
    return f"if({kind} = 'fai', concat({guid}, '{_FAI}'), {guid})"


def without_kind(ranges_: str) -> str:
    """Return SQL for the ranges of `ranges_by_kind` with plain GUIDs, for comparison with a trace that has both kinds
    in one set.
    """
    return f"transform({ranges_}, r -> struct(replace(r.guid, '{_FAI}', '') as guid, r.low as low, r.high as high))"


def merged(ranges_: str) -> str:
    """Return SQL for the union of several sets, whose ranges may be in any order."""
    empty = f"cast(array() as {RANGES})"
    touches = "size(n) > 0 and n[size(n) - 1].guid = r.guid and n[size(n) - 1].high >= r.low - 1"
    longer = "struct(r.guid as guid, n[size(n) - 1].low as low, greatest(n[size(n) - 1].high, r.high) as high)"
    return (
        f"aggregate(array_sort(transform({ranges_}, r -> struct(r.guid, r.low, r.high))), {empty}, (n, r) ->"
        f" case when {touches} then concat(slice(n, 1, size(n) - 1), array({longer})) else concat(n, array(r)) end)"
    )
