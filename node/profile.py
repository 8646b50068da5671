"""A server version as a table of behaviours; nothing else in the agent asks for the version (spec: section 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from transport.linkstate import LinkRule
from transport.mime import BodyForm


class SourceChoice(Enum):
    """How backfill sources are chosen (spec: BF-3). The values are what traces call it."""

    TWO_HOLDERS = "two holders"
    SIX_GROUPS = "six groups"
    SORTED_LIST = "sorted list"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a version does.

    rank                newer is larger; sources are sorted by it (spec: BF-3)
    asks_twice          several sources are asked for the same numbers (spec: BF-3)
    new_asks_at_once    a new store or replica of it asks for what it lacks without the first time-out (spec: BF-2)
    body                the form of the mails that it writes (spec: ML-2)
    takes_chunks        it offers CHUNKING, and so takes binary mail (spec: ML-4)
    refers_onward       a user is referred over several connectors, not only over one (spec: RT-4)
    limits_folders      its hierarchy mails hold few folders (spec: OUT-2)
    link_rule           what it makes of links that are down (spec: RT-2)
    """

    version: str
    rank: int
    source_choice: SourceChoice
    asks_twice: bool
    new_asks_at_once: bool
    body: BodyForm
    takes_chunks: bool
    refers_onward: bool
    limits_folders: bool
    link_rule: LinkRule


_EXCHANGE_55 = Profile(
    version="5.5",
    rank=1997,
    source_choice=SourceChoice.TWO_HOLDERS,
    asks_twice=True,
    new_asks_at_once=True,
    body=BodyForm.MDBEF,
    takes_chunks=False,
    refers_onward=False,
    limits_folders=True,
    link_rule=LinkRule.IGNORED,
)
_EXCHANGE_2000 = Profile(
    version="2000",
    rank=2000,
    source_choice=SourceChoice.SIX_GROUPS,
    asks_twice=False,
    new_asks_at_once=False,
    body=BodyForm.S_TNEF,
    takes_chunks=True,
    refers_onward=True,
    limits_folders=True,
    link_rule=LinkRule.TOLD,
)
_EXCHANGE_2003 = Profile(
    version="2003",
    rank=2003,
    source_choice=SourceChoice.SORTED_LIST,
    asks_twice=False,
    new_asks_at_once=False,
    body=BodyForm.S_TNEF,
    takes_chunks=True,
    refers_onward=True,
    limits_folders=False,
    link_rule=LinkRule.TOLD_IF_ANOTHER_WAY,
)
_EXCHANGE_2007 = Profile(
    version="2007",
    rank=2007,
    source_choice=SourceChoice.SORTED_LIST,
    asks_twice=False,
    new_asks_at_once=False,
    body=BodyForm.S_TNEF,
    takes_chunks=True,
    refers_onward=True,
    limits_folders=False,
    link_rule=LinkRule.IGNORED,
)

PROFILES: Mapping[str, Profile] = {
    each.version: each for each in (_EXCHANGE_55, _EXCHANGE_2000, _EXCHANGE_2003, _EXCHANGE_2007)
}
"""The versions whose behaviour is built."""

FIRST_WITH_ROUTING_GROUPS = _EXCHANGE_2000.rank
"""Versions from here on are the newer ones where 2000 tells older servers apart (spec: BF-3, ST-4)."""
