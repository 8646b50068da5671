"""The settings of one store: values read, clamped and typed (spec: SE-1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from topology.enums import ServerVersion
from topology.problems import ValueTextError, quoted
from topology.quantities import format_size, parse_size
from topology.schedule import Schedule, parse_schedule
from topology.settings.catalogue import LOGGING_OF, PRIORITY_NAMES, SPECS, find_spec
from topology.settings.spec import LEVEL_NAMES, LEVELS, Kind, SettingSpec, SettingValue
from traces.errors import TimeTextError
from traces.labtime import format_duration, parse_duration

RawSetting = int | float | bool | str | list[Any] | None
"""A value as in a YAML file: a number in the setting's own unit, a text such as `6 h`, or null for absent."""

V = TypeVar("V")

_ON: Final = {
    "1": True,
    "on": True,
    "true": True,
    "yes": True,
    "0": False,
    "off": False,
    "false": False,
    "no": False,
}

MOST_DIGITS: Final = 40
"""A number with more digits than this is an error; one with fewer is clamped to the range."""

MOST_NAME: Final = 64
"""The longest name of a server that the directory allows."""

_HOST: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]):([0-9]{1,5})")
"""A name, an IPv4 address or an IPv6 address in brackets, and a port."""


@dataclass(frozen=True, slots=True)
class NotDefault:
    """A value that differs from the default, for the settings report."""

    spec: SettingSpec
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class _Value(Generic[V]):
    """An attribute of `Settings`: the value of a setting."""

    name: str
    kind: type[V]

    def __get__(self, settings: "Settings", _: object = None) -> V:
        return settings.value(self.name, self.kind)


@dataclass(frozen=True, slots=True)
class _OptionalValue(Generic[V]):
    """An attribute of `Settings`: the value of a setting, or None if it is absent."""

    name: str
    kind: type[V]

    def __get__(self, settings: "Settings", _: object = None) -> V | None:
        return None if settings.values[self.name] is None else settings.value(self.name, self.kind)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a store of one server version.

    values   by real name, in the order of the catalogue; unset values have their default
    notices  one line for each value that was clamped, or that has no effect on this version
    """

    version: ServerVersion
    values: Mapping[str, SettingValue]
    notices: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def read(
        cls,
        version: ServerVersion,
        own: Mapping[str, RawSetting] | None = None,
        organization: Mapping[str, RawSetting] | None = None,
    ) -> "Settings":
        """Return the settings of a store. Each value is the store's own, else the organization's, else the default.

        Raises ValueTextError at the first wrong name or value.
        """
        values: dict[str, SettingValue] = {spec.name: spec.default_on(version) for spec in SPECS}
        notices: list[str] = []
        for raw_settings, is_own in ((organization or {}, False), (own or {}, True)):
            for name, raw in raw_settings.items():
                spec = find_spec(name)
                value, notice = read_value(spec, raw, version)
                if version in spec.versions:
                    values[spec.name] = value
                elif is_own:
                    notice = f"{spec.name} has no effect on {version}, only on {', '.join(spec.versions)}"
                else:
                    notice = None
                if notice is not None:
                    notices.append(notice)
        return cls(version, values, tuple(notices))

    def changed(self, changes: Mapping[str, RawSetting]) -> "Settings":
        """Return these settings with some values replaced; null makes a value absent. Raises ValueTextError for a wrong one."""
        fresh = Settings.read(self.version, changes)
        names = [find_spec(name).name for name in changes]
        return Settings(self.version, {**self.values, **{name: fresh.values[name] for name in names}}, fresh.notices)

    def text(self, name: str) -> str:
        """Return a value as text, such as `6 h`, `300 KB`, `1` or `absent`."""
        spec = find_spec(name)
        return value_text(spec, self.values[spec.name])

    def default_text(self, name: str) -> str:
        """Return the default on this version as text."""
        spec = find_spec(name)
        return value_text(spec, spec.default_on(self.version))

    def as_texts(self) -> dict[str, str]:
        """Return all values as text, including those without effect on this version."""
        return {spec.name: value_text(spec, self.values[spec.name]) for spec in SPECS}

    def not_default(self) -> list[NotDefault]:
        """Return the values that differ from the default, in the order of the catalogue."""
        return [
            NotDefault(spec, self.text(spec.name), self.default_text(spec.name))
            for spec in SPECS
            if self.values[spec.name] != spec.default_on(self.version)
        ]

    # --- sending

    always_interval_us = _Value("Replication Always Interval", int)  # spec: OUT-1
    message_size_bytes = _Value("Replication Message Size Limit", int)  # spec: OUT-3
    schedule = _Value("Replication Schedule", Schedule)  # spec: OUT-1
    """The store's schedule, for folders that have none of their own."""

    @property
    def folder_count_limit(self) -> int | None:
        """The largest number of folders in a hierarchy mail; None from 2003 on (spec: OUT-2)."""
        spec = find_spec("Replication Folder Count Limit")
        return self.value(spec.name, int) if self.version in spec.versions else None

    message_count_limit = _OptionalValue("Replication Message Count Limit", int)
    content_suspended = _Value("Content Replication Suspended", bool)  # spec: RP-5
    replication_enabled = _Value("Replication", bool)  # spec: SE-1

    # --- status

    status_timeout_us = _Value("Replication Send Status Timeout", int)  # spec: ST-1
    status_alignment_us = _Value("Replication Send Status Alignment", int)  # spec: ST-1
    status_skew_us = _Value("Replication Send Status Alignment Skew", int)  # spec: ST-1
    """How long after 00:00 the first status check of a day is. 0 means 15 minutes."""
    startup_messages_disabled = _Value("Disable Replication Messages At Startup", bool)
    startup_messages_enabled = _Value("Enable Replication Messages At Startup", bool)  # spec: ST-3
    replication_flags = _OptionalValue("Replication Flags", int)  # spec: ST-3; any non-zero counts
    service_pack = _Value("Service Pack", int)  # spec: ST-6
    """The service pack of a 5.5 server."""
    repeat_status = _Value("Repeat Status", bool)  # spec: ST-7

    # --- backfill

    def backfill_wait_us(self, *, local: bool, requests_sent: int) -> int:
        """Return how long an entry waits for its next request (spec: BF-2).

        requests_sent: 0 gives the first time-out, 1 the first retry, 2 and more the later retries.
        """
        series = "Short" if local else "Long"
        tier = ("", " Retry", " Later Retry")[min(requests_sent, 2)]
        return self.value(f"Replication {series} Backfill Request Timeout{tier}", int)

    outstanding_backfill_limit = _Value("Replication Outstanding Backfill Limit", int)  # spec: BF-6
    preferred_backfill_source = _OptionalValue("Preferred Backfill Source", str)  # spec: BF-7
    """A server name, which may be wrong."""

    # --- what is kept, and how long

    tree_rmq_timeout_us = _Value("Replication Folder Tree RMQ Timeout", int)  # spec: HI-4
    content_rmq_timeout_us = _Value("Replication Folder Content RMQ Timeout", int)  # spec: HI-4
    store_size_bytes = _Value("Store Size Limit", int)  # spec: ML-7
    tombstone_age_us = _Value("Replication Folder Tombstone Age Limit", int)  # spec: DL-1, DL-4
    tombstones_by_age_alone = _Value("Drop Tombstones By Age Alone", bool)  # spec: DL-4
    conflict_age_us = _OptionalValue("Replication Folder Conflict Age Limit", int)  # spec: CF-5
    new_guid_on_restore = _Value("New Replica GUID On Restore", bool)  # spec: RP-4
    age_limit_us = _OptionalValue("Age Limit", int)  # spec: DL-3
    """The age limit of folders whose replica on this store has no limit of its own."""
    item_retention_us = _Value("Deleted Item Retention", int)  # spec: DL-5
    expiry_interval_us = _Value("Replication Expiry", int)  # spec: DL-3
    maintenance = _Value("Maintenance Schedule", Schedule)

    def logging_level(self, category: str) -> int:
        """Return the diagnostics logging level of a category as a number; 0 for a category without a setting (spec: EV-1)."""
        level = self.values.get(LOGGING_OF + category)
        return next((number for number, name in LEVEL_NAMES[self.version].items() if name == level), 0)

    # --- mail; priority is -1, 0 or 1 (spec: RT-2)

    def mta_retry_us(self, priority: int) -> int:
        return self.value(f"MTA Retry Interval {PRIORITY_NAMES[priority]}", int)

    def mta_expiry_us(self, priority: int) -> int:
        return self.value(f"MTA Expiry {PRIORITY_NAMES[priority]}", int)

    mta_maximum_retries = _OptionalValue("MTA Maximum Retries", int)
    mta_link_retries = _Value("MTA Link Retries", int)
    user_message_size_bytes = _OptionalValue("Message Size Limit", int)  # spec: OUT-7
    smart_host = _OptionalValue("Smart Host", str)  # spec: ML-5
    """`host:port`."""
    mta_hop_limit = _Value("MTA Hop Limit", int)  # spec: ML-7
    smtp_authentication = _Value("SMTP Integrated Authentication", bool)  # spec: ML-3
    """Whether stores can authenticate at the listener."""
    smtp_chunking = _Value("SMTP Chunking", bool)  # spec: ML-4
    """Whether the listener accepts BDAT and binary mail."""

    def value(self, name: str, kind: type[V]) -> V:
        """Return a value that is not absent, by its real name."""
        value = self.values[name]
        assert isinstance(value, kind), name
        return value


def read_value(
    spec: SettingSpec, raw: RawSetting, version: ServerVersion = ServerVersion.V2003
) -> tuple[SettingValue, str | None]:
    """Return the value that `raw` means for the setting on a version, and a notice if it was clamped.

    None (absent) means the default. Raises ValueTextError for a value of another kind.
    """
    if raw is None:
        return spec.default_on(version), None
    match spec.kind:
        case Kind.SWITCH:
            return _switch_value(spec, raw), None
        case Kind.SERVER:
            if not isinstance(raw, str) or not 0 < len(raw) <= MOST_NAME or not raw.isprintable():
                raise ValueTextError(f"{_shown(raw)} is not a server name", "write a name, in quotes if it is a number")
            return raw, None
        case Kind.SCHEDULE:
            return _schedule_value(raw), None
        case Kind.HOST:
            return parse_host(raw), None
        case Kind.LEVEL:
            return _level_value(raw, version), None
        case Kind.DURATION | Kind.COUNT | Kind.SIZE:
            return _clamped(spec, _number_value(spec, raw))


def value_text(spec: SettingSpec, value: SettingValue) -> str:
    """Return a value as text. `read_value` reads every such text back, except `absent`."""
    if value is None:
        return "absent"
    if spec.kind is Kind.SWITCH:
        return str(int(bool(value)))
    if isinstance(value, int) and spec.kind is Kind.DURATION:
        return format_duration(value)
    if isinstance(value, int) and spec.kind is Kind.SIZE:
        return format_size(value)
    return str(value)


def _switch_value(spec: SettingSpec, raw: RawSetting) -> bool:
    value = None if _is_huge(raw) else _ON.get(str(raw).lower())
    if value is None:
        raise ValueTextError(f"{_shown(raw)} is neither on nor off", "write 0 or 1")
    return value


def parse_host(raw: RawSetting) -> str:
    """Return the text `host:port`. Raises ValueTextError for any other value."""
    match = _HOST.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or not 0 < int(match[1]) < 65_536:
        raise ValueTextError(
            f"{_shown(raw)} is not a host with a port", "write a text such as 127.0.0.1:25 or relay.test:587"
        )
    return str(raw)


def _level_value(raw: RawSetting, version: ServerVersion) -> str:
    """Return the name that this version has for a logging level, or for the next lower level that it knows."""
    names = LEVEL_NAMES[version]
    text = "" if isinstance(raw, bool | float) or _is_huge(raw) else str(raw).casefold()
    for name, number in LEVELS.items():
        if text in (name.casefold(), str(number)):
            return names[max(level for level in names if level <= number)]
    raise ValueTextError(f"{_shown(raw)} is not a diagnostics logging level", f"write {', '.join(names.values())}")


def _schedule_value(raw: RawSetting) -> Schedule:
    if isinstance(raw, str):
        return parse_schedule(raw)
    if isinstance(raw, list) and all(isinstance(entry, str) for entry in raw):
        return parse_schedule(raw)
    raise ValueTextError(f"{_shown(raw)} is not a schedule", "write a text such as always, or a list of texts")


def _number_value(spec: SettingSpec, raw: RawSetting) -> int:
    right = {
        Kind.DURATION: f"write a whole number of {spec.unit}, or a duration such as 6 h",
        Kind.SIZE: f"write a whole number of {spec.unit}, or a size such as 300 KB",
    }.get(spec.kind, f"write a whole number from {spec.low} to {spec.high}")
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) <= MOST_DIGITS:
        raw = int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < 10**MOST_DIGITS:
        return raw * spec.unit_size
    if isinstance(raw, str) and spec.kind is not Kind.COUNT:
        try:
            value = parse_duration(raw) if spec.kind is Kind.DURATION else parse_size(raw)
        except (TimeTextError, ValueTextError):
            value = -1
        if value >= 0:
            return value
    raise ValueTextError(f"{_shown(raw)} is not a {spec.kind.value}", right)


def _is_huge(raw: RawSetting) -> bool:
    return isinstance(raw, int) and abs(raw) >= 10**MOST_DIGITS


def _shown(raw: RawSetting) -> str:
    """Return a value as text for an error message. A huge number is only described, because Python refuses to print it."""
    if _is_huge(raw):
        return f"a number of more than {MOST_DIGITS} digits"
    return quoted(raw)


def _clamped(spec: SettingSpec, value: int) -> tuple[int, str | None]:
    bound = min(max(value, spec.low), spec.high)
    if bound == value:
        return value, None
    side = "below" if value < spec.low else "above"
    value_words, bound_words = value_text(spec, value), value_text(spec, bound)
    return bound, f"{spec.name}: {value_words} is {side} its range; {bound_words} is used"
