"""Every setting of a store (spec: SE-1).

The documented settings are those of X, section 2. "X" and "S0" to "S4" are the sources that docs/reference/rules/ names. If X
gives no range, a setting has the range of the registry's 32-bit numbers, without values with which the lab cannot work.
The settings with `Place.LAB` exist only in pflab.
"""

from collections.abc import Mapping
from typing import Final

from topology.enums import ALL_VERSIONS, ServerVersion
from topology.problems import ValueTextError, did_you_mean, quoted
from topology.quantities import KILOBYTE, MEGABYTE
from topology.schedule import ALWAYS, parse_schedule
from topology.settings.spec import DWORD_MAX, Kind, Place, SettingSpec
from traces.labtime import DAY_US, HOUR_US, MILLISECOND_US, MINUTE_US, SECOND_US

# A century: 32 bits of days would be longer than lab time can count.
_MAX_DAYS: Final = 36_500

_V5_5, _V2000, _V2003, _V2007 = ALL_VERSIONS


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _seconds(
    name: str,
    default_us: int | None,
    does: str,
    *,
    low_us: int = 0,
    high_us: int = DWORD_MAX * SECOND_US,
    place: Place = Place.REGISTRY,
    versions: tuple[ServerVersion, ...] = ALL_VERSIONS,
) -> SettingSpec:
    return SettingSpec(name, Kind.DURATION, default_us, does, "s", low_us, high_us, place=place, versions=versions)


def _switch(
    name: str,
    default: bool,
    does: str,
    *,
    place: Place = Place.REGISTRY,
    versions: tuple[ServerVersion, ...] = ALL_VERSIONS,
    aliases: tuple[str, ...] = (),
) -> SettingSpec:
    return SettingSpec(name, Kind.SWITCH, default, does, "", 0, 1, place, versions, aliases)


_SENDING: Final = (
    SettingSpec(
        "Replication Always Interval",
        Kind.DURATION,
        # STYLE_ALWAYS_INTERVAL_DEFAULT in EdkMdb.h
        15 * MINUTE_US,
        'how often a schedule "always" replicates, counted from 00:00 UTC; 0 replicates at once',
        "min",
        0,
        DAY_US,
        Place.DIRECTORY,
    ),
    SettingSpec(
        "Replication Message Size Limit",
        Kind.SIZE,
        300 * KILOBYTE,
        "target size of a mail: small items are packed together up to it, a larger item is sent alone",
        "KB",
        KILOBYTE,
        # 2,147,482,624 bytes, the largest that the directory takes
        2_097_151 * KILOBYTE,
        Place.DIRECTORY,
    ),
    SettingSpec(
        "Replication Schedule",
        Kind.SCHEDULE,
        ALWAYS,
        "when content of folders without their own schedule is sent",
        place=Place.DIRECTORY,
    ),
    SettingSpec(
        "Replication Folder Count Limit",
        Kind.COUNT,
        20,
        "maximum number of folders in one hierarchy mail",
        low=1,
        high=1000,
        versions=(_V5_5, _V2000),
    ),
    SettingSpec(
        "Replication Message Count Limit",
        Kind.COUNT,
        None,
        "maximum number of messages in one content mail; absent: as many as the size allows",
        low=1,
    ),
    _switch(
        "Content Replication Suspended",
        False,
        "1: no content is sent, requested or sent in answer to requests; statuses and hierarchy "
        "continue. Set it on all servers",
        place=Place.DIRECTORY,
        versions=(_V2003, _V2007),
    ),
    _switch(
        "Replication", True, "0: the replication agent does not run, the store logs event 3002 at start, and mail waits"
    ),
)

_STATUS: Final = (
    _seconds(
        "Replication Send Status Timeout",
        DAY_US,
        "how long a folder must be quiet before a status is sent for it",
    ),
    _seconds(
        "Replication Send Status Alignment",
        12 * HOUR_US,
        "how often the status check runs",
        low_us=MINUTE_US,
    ),
    _seconds(
        "Replication Send Status Alignment Skew",
        0,
        "shifts the status check; 0: 15 minutes, which gives 00:15 and 12:15 UTC",
    ),
    _switch(
        "Disable Replication Messages At Startup",
        False,
        "1: the store sends no broadcasts at start and logs events 3093 and 3094",
        place=Place.REGISTRY_5_5,
        versions=(_V5_5,),
    ),
    _switch(
        "Enable Replication Messages At Startup",
        False,
        "1: at each start the store requests status for the hierarchy and all content replicas",
        versions=(_V2000, _V2003),
        # S2 uses this name
        aliases=("Enable Replication Messages On Startup",),
    ),
    SettingSpec(
        "Replication Flags",
        Kind.COUNT,
        None,
        "not 0: at each start the store requests status for the hierarchy and for content that is behind",
        versions=(_V2000, _V2003),
    ),
    SettingSpec(
        "Service Pack",
        Kind.COUNT,
        4,
        "service pack of a 5.5 server; below 4: a daily hierarchy status to all stores, and folder statuses also "
        "after received updates",
        high=4,
        place=Place.LAB,
        versions=(_V5_5,),
    ),
    _switch(
        "Repeat Status",
        True,
        "1: unanswered status requests and statuses that had no effect are sent again; 0: they are not, "
        "as in the originals",
        place=Place.LAB,
    ),
)

# S1 and S3 have a table of six time-outs. The sources do not say which name belongs to which cell; pflab infers it from the
# series of names. No name is known for the later retries, so pflab defines one.
_BACKFILL: Final = (
    _seconds(
        "Replication Short Backfill Request Timeout",
        6 * HOUR_US,
        "wait before the first request for missing content, if a store of the local site has it",
    ),
    _seconds(
        "Replication Short Backfill Request Timeout Retry",
        12 * HOUR_US,
        "wait before the first retry, local site",
        low_us=SECOND_US,
    ),
    _seconds(
        "Replication Short Backfill Request Timeout Later Retry",
        24 * HOUR_US,
        "wait before each later retry, local site",
        low_us=SECOND_US,
        place=Place.LAB,
    ),
    _seconds(
        "Replication Long Backfill Request Timeout",
        12 * HOUR_US,
        "wait before the first request for missing content, if only remote sites have it",
    ),
    _seconds(
        "Replication Long Backfill Request Timeout Retry",
        24 * HOUR_US,
        "wait before the first retry, remote sites",
        low_us=SECOND_US,
    ),
    _seconds(
        "Replication Long Backfill Request Timeout Later Retry",
        48 * HOUR_US,
        "wait before each later retry, remote sites",
        low_us=SECOND_US,
        place=Place.LAB,
    ),
    SettingSpec(
        "Replication Outstanding Backfill Limit",
        Kind.COUNT,
        50,
        "maximum number of backfill requests that wait for an answer; at the limit no more are sent",
        low=1,
    ),
    SettingSpec(
        "Preferred Backfill Source",
        Kind.SERVER,
        None,
        "the server to ask before all others that are up, whatever its cost",
        versions=(_V2003, _V2007),
        # S1 finds this setting on the database object, S3 in the registry
        moved_to_directory=(_V2007,),
    ),
)

_KEEPING: Final = (
    _seconds(
        "Replication Folder Tree RMQ Timeout",
        7 * DAY_US,
        "how long a hierarchy change that cannot be applied yet is held",
        low_us=HOUR_US,
        high_us=30 * DAY_US,
    ),
    _seconds(
        "Replication Folder Content RMQ Timeout",
        4 * HOUR_US,
        "how long content of a folder or replica that is not known yet is held",
        low_us=MINUTE_US,
        high_us=30 * DAY_US,
        place=Place.LAB,
    ),
    SettingSpec(
        "Replication Folder Tombstone Age Limit",
        Kind.DURATION,
        180 * DAY_US,
        "how long deleted folders and messages are remembered",
        "d",
        DAY_US,
        _MAX_DAYS * DAY_US,
    ),
    _switch(
        "Drop Tombstones By Age Alone",
        False,
        "1: a tombstone is dropped by its age even if a holder may not have the deletion, as in the originals",
        place=Place.LAB,
    ),
    SettingSpec(
        "Replication Folder Conflict Age Limit",
        Kind.DURATION,
        None,
        "age at which the home store resolves a conflict by itself; absent: never",
        "d",
        0,
        _MAX_DAYS * DAY_US,
    ),
    _switch(
        "New Replica GUID On Restore",
        True,
        "1: a restored store takes a new replica GUID; 0: it gives out change numbers again that other "
        "stores have seen",
        place=Place.LAB,
    ),
    SettingSpec(
        "Age Limit",
        Kind.DURATION,
        None,
        "age at which messages expire on this store, unless the replica here has its own limit; absent: "
        "the limit of the folder",
        "d",
        MINUTE_US,
        _MAX_DAYS * DAY_US,
        Place.DIRECTORY,
    ),
    SettingSpec(
        # "Keep deleted items for (days)" of a store in 2000 and 2003; the attribute garbageCollPeriod in the directory
        "Deleted Item Retention",
        Kind.DURATION,
        0,
        "how long deleted messages and folders can be recovered on this store; 0: not at all",
        "d",
        0,
        # the largest number of days that the page of a store takes
        24_855 * DAY_US,
        Place.DIRECTORY,
        aliases=("ItemRetentionPeriod",),
    ),
    SettingSpec(
        "Replication Expiry",
        Kind.DURATION,
        DAY_US,
        "shortest time between two runs of the task that applies age limits",
        "ms",
        MINUTE_US,
        DWORD_MAX * MILLISECOND_US,
    ),
    SettingSpec(
        "Background Cleanup",
        Kind.DURATION,
        60 * SECOND_US,
        "how often the space of deleted messages and folders is freed",
        "ms",
        SECOND_US,
        DWORD_MAX * MILLISECOND_US,
    ),
    SettingSpec(
        "Store Size Limit",
        Kind.SIZE,
        # the limit of the Standard Edition's stores up to 2003 SP1, which dismounted a larger store
        16 * 1024 * MEGABYTE,
        "size of the store at which mail from outside is refused with 452; mail between stores is still accepted",
        "MB",
        MEGABYTE,
        DWORD_MAX * MEGABYTE,
        Place.LAB,
    ),
    SettingSpec(
        "Maintenance Schedule",
        Kind.SCHEDULE,
        parse_schedule("00:00-06:00"),
        "when the store's maintenance runs",
        place=Place.DIRECTORY,
    ),
    _seconds(
        "Automatic Folder Move Age Limit",
        None,
        "age at which a folder whose site no longer exists gets another home",
        place=Place.REGISTRY_5_5,
        versions=(_V5_5,),
    ),
    _seconds(
        "Secure Folder Aging Latency",
        None,
        "wait before the other home becomes permanent",
        place=Place.REGISTRY_5_5,
        versions=(_V5_5,),
    ),
)

PRIORITY_NAMES: Final = {-1: "Not Urgent", 0: "Normal", 1: "Urgent"}
"""Maps the priority number of MAPI to the word in the names of the settings below."""

_MTA: Final = (
    *(
        _seconds(
            f"MTA Retry Interval {priority}",
            # "Open interval" of the X.400 MTA: 600 s
            10 * MINUTE_US,
            f"wait before {_a(priority.lower())} mail is tried again",
            low_us=SECOND_US,
            place=Place.MTA,
        )
        for priority in PRIORITY_NAMES.values()
    ),
    *(
        SettingSpec(
            f"MTA Expiry {priority}",
            Kind.DURATION,
            # the SMTP virtual server's expiration time-out
            2 * DAY_US,
            f"how long {_a(priority.lower())} mail may wait before it is returned to its sender",
            "min",
            MINUTE_US,
            DWORD_MAX * SECOND_US,
            Place.MTA,
        )
        for priority in PRIORITY_NAMES.values()
    ),
    SettingSpec(
        "MTA Maximum Retries",
        Kind.COUNT,
        None,
        "how often a mail is tried again before it is returned; absent: until it expires",
        place=Place.MTA,
    ),
    SettingSpec(
        "MTA Link Retries",
        Kind.COUNT,
        3,
        "after this number of failed attempts in a row to reach the next server, a connector counts as "
        "down and mail goes another way",
        low=1,
        place=Place.MTA,
    ),
    SettingSpec(
        # the sending and receiving message size of the organization (Global Settings, Message Delivery in 2000 and 2003)
        "Message Size Limit",
        Kind.SIZE,
        None,
        "size of the largest mail of a user that this server sends or accepts; absent: no limit. Replication mail is "
        "not limited",
        "KB",
        KILOBYTE,
        2_097_151 * KILOBYTE,
        Place.MTA,
    ),
    SettingSpec(
        "Smart Host",
        Kind.HOST,
        None,
        "the mail server (host:port) for addresses outside the organization; absent: such mail stays in "
        "the lab's mailboxes",
        place=Place.MTA,
    ),
    SettingSpec(
        "MTA Hop Limit",
        Kind.COUNT,
        30,
        "maximum number of servers that a mail may pass; a mail that passes more is in a loop",
        low=1,
        high=255,
        place=Place.MTA,
    ),
    _switch(
        "SMTP Integrated Authentication",
        True,
        "1: other stores can authenticate here; 0: the store refuses XEXCH50 with 504, replication mail from "
        "other stores arrives as ordinary mail, and replication stalls",
        place=Place.MTA,
    ),
    _switch(
        "SMTP Chunking",
        True,
        "1: the server offers CHUNKING and BINARYMIME; 0: mail comes by DATA with its body in base64",
        place=Place.MTA,
    ),
)

LOGGED_CATEGORIES: Final = (
    "Replication Incoming Messages",
    "Replication Outgoing Messages",
    "Replication Backfill",
    "Replication Conflicts",
    "Replication AD Updates",
    "Replication General",
    "Replication Errors",
    "Non-Delivery Reports",
)
"""The categories of a public folder store whose events the lab has, as 2003 names them."""

_OTHER_CATEGORY_NAMES: Final[Mapping[ServerVersion, Mapping[str, str]]] = {
    ServerVersion.V5_5: {
        "Replication Incoming Messages": "Replication Incoming",
        "Replication Outgoing Messages": "Replication Outgoing",
        "Replication AD Updates": "Replication DS Updates",
    },
    ServerVersion.V2007: {
        "Replication AD Updates": "Replication DS Updates",
        "Non-Delivery Reports": "Replication NDRs",
    },
}

LOGGING_OF: Final = "Diagnostics Logging "
"""Begins the name of a category's setting; the registry value has the name of the category alone."""


def category_on(version: ServerVersion, category: str) -> str:
    """Return what a version calls a category of the application log (spec: EV-1)."""
    return _OTHER_CATEGORY_NAMES.get(version, {}).get(category, category)


def _category_names(category: str) -> tuple[tuple[ServerVersion, str], ...]:
    return tuple((version, category_on(version, category)) for version in ALL_VERSIONS)


_LOGGING: Final = tuple(
    SettingSpec(
        LOGGING_OF + category,
        Kind.LEVEL,
        # a lab is there to be looked at; the default of Exchange is None
        "Maximum",
        "which events of this category the application log has: the higher the level, the more; None: only those "
        "that no level leaves out",
        place=Place.DIAGNOSTICS,
        aliases=tuple(LOGGING_OF + name for name in sorted({*dict(_category_names(category)).values()} - {category})),
        value_names=_category_names(category),
    )
    for category in LOGGED_CATEGORIES
)

SPECS: Final = (*_SENDING, *_STATUS, *_BACKFILL, *_KEEPING, *_LOGGING, *_MTA)
"""All settings, in the order in which they are shown."""

_BY_NAME: Final = {name.casefold(): spec for spec in SPECS for name in (spec.name, *spec.aliases)}


def find_spec(name: str) -> SettingSpec:
    """Return the setting with this name or alias; upper and lower case make no difference.

    Raises ValueTextError for another name.
    """
    spec = _BY_NAME.get(" ".join(name.split()).casefold())
    if spec is None:
        names = [alias for spec in SPECS for alias in (spec.name, *spec.aliases)]
        raise ValueTextError(f"{quoted(name)} is not a setting", did_you_mean(name, names))
    return spec
