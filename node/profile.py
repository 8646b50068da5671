"""A server version as a table of behaviours; nothing else in the agent asks for the version (spec: section 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from transport.linkstate import LinkRule


class SourceChoice(Enum):
    """How backfill sources are chosen (spec: BF-3)."""

    SORTED_LIST = "sorted list, many at once"


class Responders(Enum):
    """Who must answer a status request for a changed replica list (spec: ST-3)."""

    ALL_HOLDERS = "all holders"


@dataclass(frozen=True, slots=True)
class Profile:
    version: str
    rank: int  # newest first where sources are sorted (spec: BF-3)
    source_choice: SourceChoice
    responders: Responders
    limits_folders: bool  # spec: OUT-2
    link_rule: LinkRule  # spec: RT-2


_SORTED = SourceChoice.SORTED_LIST
_ALL = Responders.ALL_HOLDERS

PROFILES: Mapping[str, Profile] = {
    "2003": Profile("2003", 2003, _SORTED, _ALL, limits_folders=False, link_rule=LinkRule.TOLD_IF_ANOTHER_WAY),
}
"""The versions whose behaviour is built; a topology that asks for another is refused at start, in words."""

VERSION_RANK: Mapping[str, int] = {"5.5": 1997, "2000": 2000, "2003": 2003, "2007": 2007}
