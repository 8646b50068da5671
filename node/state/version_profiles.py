"""Each server version as a table of behaviours and texts. No other code looks at the version (spec: section 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from transport.mime.message import BodyForm
from transport.protocol.link_state import LinkRule


class SourceChoice(Enum):
    """How backfill sources are chosen (spec: BF-3). The values are the words of traces."""

    TWO_HOLDERS = "two holders"
    SIX_GROUPS = "six groups"
    SORTED_LIST = "sorted list"


class Responders(Enum):
    """Who must answer a status request (spec: ST-3, ST-4). The values are the words of traces."""

    ALL_HOLDERS = "all holders"
    SIX_STEPS = "six steps"


class MailId(Enum):
    """What the line "Message ID" of a replication mail shows."""

    OF_STORE = "an id that the store that writes the entry gives the mail, such as 1-14CE"
    OF_MAIL = "the Message-ID of the mail, which all stores show"


@dataclass(frozen=True, slots=True)
class LogForm:
    """The application log of one version. The fields after `mail_id` are texts with places to fill in.

    source         of the entries of the public folder store
    capitals       names of the directory are in capitals
    mail_id        what the line "Message ID" shows
    database       the name of the database in the administrator's tool; None: no entry has one
    database_line  the line with it in entries about mails with changes
    ends           the lowest and the highest change number of a mail
    associated     the numbers of associated messages
    folder         the first line about a folder in a mail
    message        the first line about a message in a mail
    removed        3005
    disabled       3002
    bad_mail       3089
    failed         3079
    """

    source: str
    capitals: bool
    mail_id: MailId
    database: str | None
    database_line: str
    ends: str
    associated: str
    folder: str
    message: str
    removed: str
    disabled: str
    bad_mail: str
    failed: str


@dataclass(frozen=True, slots=True)
class Profile:
    """The behaviour of one version.

    rank                larger for a newer version; sources are sorted by rank (spec: BF-3)
    asks_twice          several sources are asked for the same numbers (spec: BF-3)
    new_asks_at_once    a new store or replica requests what it lacks without the first time-out (spec: BF-2)
    every_holder_asks   when a replica list changes, each holder requests status, not only the added store (spec: ST-3)
    list_responders     who must answer such a request
    restore_responders  who must answer a restored store, or a store whose registry makes it request statuses at its start
    responder_limit     the most responders: three, and in 2000 also the holder of the oldest replica (spec: ST-4)
    asks_nightly        it requests the status of every replica each night and at each start (spec: section 14)
    reports_received    a received update makes a status due, as one made here does (spec: ST-1, ST-6)
    drops_after_midnight  a replica that may be dropped is dropped at the next midnight (spec: section 14)
    body                the form of the mails that it writes (spec: ML-2)
    takes_chunks        it offers CHUNKING and so accepts binary mail (spec: ML-4)
    refers_onward       users are referred over several connectors, not only over one (spec: RT-4)
    limits_folders      its hierarchy mails hold few folders (spec: OUT-2)
    link_rule           how it treats links that are down (spec: RT-2)
    obeys_orders        it has Send and Synchronize, of the hierarchy and of content (spec: AD-1)
    limits_posts        its folders can prohibit posts and limit the size of an item (spec: AD-2)
    object_class        of the store's object in the directory (spec: ML-1)
    group               the administrative group of its objects in Active Directory, with a place for the site; None: the
                        directory is its own
    log                 the form of its application log (spec: EV-1)
    """

    version: str
    rank: int
    source_choice: SourceChoice
    asks_twice: bool
    new_asks_at_once: bool
    every_holder_asks: bool
    list_responders: Responders
    restore_responders: Responders
    responder_limit: int
    asks_nightly: bool
    reports_received: bool
    drops_after_midnight: bool
    body: BodyForm
    takes_chunks: bool
    refers_onward: bool
    limits_folders: bool
    link_rule: LinkRule
    obeys_orders: bool
    stamped_by_service: bool
    limits_posts: bool
    object_class: str
    group: str | None
    log: LogForm

    @property
    def has_tree_objects(self) -> bool:
        """Whether the directory has objects of public folder trees, which the objects of stores name (spec: ML-8)."""
        return self.group is not None


# Entries of 5.5 (Q177251, Q177673, Q188651, Q203170, Q221778), of 2000 (KB 821930), and of 2003 to 2007 (Microsoft's guide
# "Troubleshoot public folder replication") are public [X, section 1]. A text that is not public follows the most similar one.
_STORE_ON_ITS_SERVER: Final = "First Storage Group\\Public Folder Store ({server})"

_FORM_55: Final = LogForm(
    source="MSExchangeIS Public",
    capitals=True,
    mail_id=MailId.OF_STORE,
    database=None,
    database_line="",
    ends="CN min: {low}\nCN max: {high}",
    associated=", CNSET(FAI)",
    folder="{index}: {id},{parent},{offset}",
    message="{index}: {id},{number},{offset}",
    removed="A replica of public folder ({folder}) was removed.",
    disabled="The replication agent is disabled.",
    bad_mail="Error 0x8004010f occurred while processing an incoming replication message.",
    failed="Unexpected replication thread error {code}.",
)
_FORM_2000: Final = LogForm(
    source="MSExchangeIS Public Store",
    capitals=True,
    mail_id=MailId.OF_STORE,
    database=_STORE_ON_ITS_SERVER,
    database_line='Database "{database}".',
    ends="CN min: {low} CN max: {high}",
    associated="CNSET(FAI)",
    folder="{index}) FID: {id}, PFID: {parent}, Offset: {offset}",
    message="{index}) MID: {id}, CN: {number}, Offset: {offset}",
    removed="A replica of public folder ({folder}){path} was removed.",
    disabled='The replication agent is disabled for Public Folder Store "{database}".',
    bad_mail=(
        "Error 0x8004010f occurred while processing an incoming replication message on"
        ' Public Folder Store "{database}".'
    ),
    failed='Unexpected replication thread error {code} on database "{database}".',
)
_FORM_2003: Final = replace(
    _FORM_2000,
    capitals=False,
    mail_id=MailId.OF_MAIL,
    database_line='Database "{database}"',
    ends="CN min: {low}, CN max: {high}",
)
_FORM_2007: Final = replace(_FORM_2003, database="Second Storage Group\\Public Folder Database")

_EXCHANGE_55 = Profile(
    version="5.5",
    rank=1997,
    source_choice=SourceChoice.TWO_HOLDERS,
    asks_twice=True,
    new_asks_at_once=True,
    every_holder_asks=False,
    list_responders=Responders.ALL_HOLDERS,
    restore_responders=Responders.ALL_HOLDERS,
    responder_limit=3,
    asks_nightly=True,
    reports_received=False,
    drops_after_midnight=True,
    body=BodyForm.MDBEF,
    takes_chunks=False,
    refers_onward=False,
    limits_folders=True,
    link_rule=LinkRule.IGNORED,
    obeys_orders=False,
    stamped_by_service=False,
    limits_posts=False,
    object_class="MHS-Public-Store",
    group=None,
    log=_FORM_55,
)
_EXCHANGE_2000 = Profile(
    version="2000",
    rank=2000,
    source_choice=SourceChoice.SIX_GROUPS,
    asks_twice=False,
    new_asks_at_once=False,
    every_holder_asks=False,
    list_responders=Responders.SIX_STEPS,
    restore_responders=Responders.SIX_STEPS,
    responder_limit=4,
    asks_nightly=False,
    reports_received=True,
    drops_after_midnight=False,
    body=BodyForm.S_TNEF,
    takes_chunks=True,
    refers_onward=True,
    limits_folders=True,
    link_rule=LinkRule.TOLD,
    obeys_orders=False,
    stamped_by_service=True,
    limits_posts=True,
    object_class="msExchPublicMDB",
    group="{site}",
    log=_FORM_2000,
)
_EXCHANGE_2003 = replace(
    _EXCHANGE_2000,
    version="2003",
    rank=2003,
    source_choice=SourceChoice.SORTED_LIST,
    every_holder_asks=True,
    list_responders=Responders.ALL_HOLDERS,
    responder_limit=3,
    limits_folders=False,
    link_rule=LinkRule.TOLD_IF_ANOTHER_WAY,
    obeys_orders=True,
    log=_FORM_2003,
)
_EXCHANGE_2007 = replace(
    _EXCHANGE_2003,
    version="2007",
    rank=2007,
    link_rule=LinkRule.IGNORED,
    stamped_by_service=False,
    group="Exchange Administrative Group (FYDIBOHF23SPDLT)",
    log=_FORM_2007,
)

PROFILES: Mapping[str, Profile] = {
    profile.version: profile for profile in (_EXCHANGE_55, _EXCHANGE_2000, _EXCHANGE_2003, _EXCHANGE_2007)
}
"""The versions whose behaviour is implemented."""

FIRST_WITH_ROUTING_GROUPS = _EXCHANGE_2000.rank
"""2000 treats servers with a rank below this differently (spec: BF-3, ST-4)."""
