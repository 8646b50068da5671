"""Names in the witnesses of rule checks: `A-3` for a change number, the path of a folder, the subject of a message.

Spark writes a witness with the ids of the trace. `marked` says in the text which ids are folders and objects, because these and
change numbers have the same form. `named` puts the names of a few witnesses in their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from analytics.rows import Row

_COLUMN: Final = re.compile(r"'[^']*'|(?<![.\w])(folder|object)(?![\w(])")
"""A text, or one of the two columns, in the SQL of a witness."""

_ID: Final = re.compile(
    r"(?:(?P<kind>folder|object)=)?(?P<id>\{?(?P<guid>[0-9a-f]{32})\}?:(?P<low>\d+)(?:-(?P<high>\d+))?)|(?:folder|object)="
)
ID_PATTERN: Final = r"(?:(?:folder|object)=)?\{?[0-9a-f]{32}\}?:[0-9]+(?:-[0-9]+)?"
"""The ids that `_ID` finds, as a pattern that every engine knows."""


def marked(words: str) -> str:
    """Return the SQL of a witness with `folder=` and `object=` before these columns."""
    return _COLUMN.sub(lambda match: f"concat('{match[1]}=', {match[1]})" if match[1] else match[0], words)


def named(names: Iterable[Row], witnesses: Sequence[tuple[str, str]]) -> list[str]:
    """Return the texts of witnesses, given as (trace, text), with names. An id without a name stays as it is.

    names: the rows of the finding `names`.
    """
    name_of = {(row.trace, row.kind, row.id): row.name for row in names}

    def name(trace: str, match: re.Match[str]) -> str:
        if not match["guid"]:
            return ""
        own_name = name_of.get((trace, match["kind"], match["id"]))
        store = name_of.get((trace, "guid", match["guid"]))
        if own_name is not None:
            return repr(own_name) if match["kind"] == "object" else str(own_name)
        if store is None:
            return match["id"]
        what = f"the {match['kind']} " if match["kind"] else ""
        return f"{what}{store}-{match['low']}" + (f"..{match['high']}" if match["high"] else "")

    return [_ID.sub(lambda match, trace=trace: name(trace, match), text) for trace, text in witnesses]  # type: ignore[misc]
