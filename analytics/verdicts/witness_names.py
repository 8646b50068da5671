"""Names in the witnesses of rule checks: `A-3` for a change number, the path of a folder, the subject of a message.

Spark writes a witness with the ids of the trace. `marked` says in the text which ids are folders and objects, because these and
change numbers have the same form. `named` looks up the names of a few witnesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pyspark.sql import functions as F  # noqa: N812

from analytics.evidence.organization import SETUP
from analytics.verdicts.verdict import Gold

_COLUMN: Final = re.compile(r"'[^']*'|(?<![.\w])(folder|object)(?![\w(])")
"""A text, or one of the two columns, in the SQL of a witness."""

_ID: Final = re.compile(
    r"(?:(?P<kind>folder|object)=)?(?P<id>\{?(?P<guid>[0-9a-f]{32})\}?:(?P<low>\d+)(?:-(?P<high>\d+))?)|(?:folder|object)="
)


def marked(words: str) -> str:
    """Return the SQL of a witness with `folder=` and `object=` before these columns."""
    return _COLUMN.sub(lambda found: f"concat('{found[1]}=', {found[1]})" if found[1] else found[0], words)


def named(gold: Gold, witnesses: Sequence[tuple[str, str]]) -> list[str]:
    """Return the texts of witnesses, given as (trace, text), with names. An id without a name stays as it is."""
    found = [(trace, match) for trace, text in witnesses for match in _ID.finditer(text) if match["guid"]]
    if not found:
        return [_ID.sub("", text) for _, text in witnesses]
    here = F.col("trace").isin(*{trace for trace, _ in found})
    objects = {match["id"] for _, match in found if match["kind"] == "object"}
    guids = {(row.trace, row.guid): row.name for row in gold.org.guids.where(here).collect()}
    guids |= {(row.trace, row.guid): SETUP for row in gold.org.setup.where(here).collect()}
    names = {("folder", row.trace, row.folder): row.path for row in gold.verdicts.where(here).collect()}
    if objects:
        rows = gold.objects.where(here & F.col("object").isin(*objects)).select("trace", "object", "subject")
        names |= {("object", row.trace, row.object): repr(row.subject) for row in rows.collect() if row.subject}

    def name(trace: str, match: re.Match[str]) -> str:
        if not match["guid"]:
            return ""
        known = names.get((match["kind"], trace, match["id"]))
        store = guids.get((trace, match["guid"]))
        if known or store is None:
            return known or match["id"]
        what = f"the {match['kind']} " if match["kind"] else ""
        return f"{what}{store}-{match['low']}" + (f"..{match['high']}" if match["high"] else "")

    return [_ID.sub(lambda match, trace=trace: name(trace, match), text) for trace, text in witnesses]  # type: ignore[misc]
