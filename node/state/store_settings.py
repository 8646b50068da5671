"""The settings of one store in the units of the agent. They are read when the store starts (spec: SE-1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from node.errors import Misuse
from node.state.version_profiles import PROFILES, Profile
from node.tracking.change_number import Guid
from node.views import SettingView
from topology.enums import ServerVersion
from topology.model import Topology
from topology.problems import ValueTextError
from topology.schedule import Schedule
from topology.settings.catalogue import SPECS, find_spec
from topology.settings.spec import Place, SettingSpec
from topology.settings.values import RawSetting, Settings, read_value
from traces.labtime import MINUTE_US
from transport.mta.retry_policy import MtaPolicy
from transport.sql import Connection, Statement

ALL_SETTINGS = Statement("SELECT name, value FROM setting ORDER BY name")
PUT_SETTING = Statement("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)")

STATUS_OFFSET_US: Final = 15 * MINUTE_US
"""How long after midnight and after noon a status check is, unless a skew is set (spec: ST-1) [S2]."""


SP4: Final = 4
"""From this service pack on, 5.5 sends statuses as the later versions do (spec: ST-6) [X Q260701]."""

_REGISTRIES: Final = (Place.REGISTRY, Place.REGISTRY_5_5)
"""Settings in these places are read only when the store starts."""

MAX_PACKED_BYTES: Final = 32 * 1024 * 1024
"""The largest size target of a mail. With base64 a mail must stay under the 64 MiB of the SMTP listener."""


@dataclass(frozen=True, slots=True)
class BackfillTimeouts:
    """The time-outs of a backfill entry in microseconds (spec: BF-2)."""

    first_us: int
    first_retry_us: int
    later_retry_us: int

    def after(self, attempts: int) -> int:
        """Return the time-out after `attempts` rounds of requests."""
        return (self.first_us, self.first_retry_us, self.later_retry_us)[min(attempts, 2)]


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a store that the agent reads."""

    store: str
    profile: Profile
    settings: Settings
    schedule: Schedule
    always_us: int
    message_size: int
    message_limit: int | None
    status_timeout_us: int
    status_alignment_us: int
    silence_us: int
    status_offset_us: int
    local: BackfillTimeouts
    remote: BackfillTimeouts
    request_limit: int
    folder_limit: int | None
    tree_wait_us: int
    content_wait_us: int
    repeat_status: bool
    tells_hierarchy_daily: bool
    reports_received: bool
    content_suspended: bool
    replicates: bool
    preferred_source: str | None
    mail_policy: MtaPolicy

    def timeouts(self, local: bool) -> BackfillTimeouts:
        return self.local if local else self.remote


def stored_settings(conn: Connection) -> dict[str, RawSetting]:
    """Return the settings that an administrator changed after the topology was written."""
    rows = conn.exec_driver_sql(ALL_SETTINGS)
    return {name: json.loads(value) for name, value in rows}


def store_settings(conn: Connection, changes: Mapping[str, RawSetting]) -> None:
    """Store settings for the next start. Raise Misuse for an unknown name or an invalid value."""
    for name, raw in changes.items():
        spec = _checked(name, raw)
        conn.exec_driver_sql(PUT_SETTING, (spec.name, json.dumps(raw)))


def setting_views(conn: Connection, present: Settings, server: str, guid: Guid) -> list[SettingView]:
    """Return every setting of a store for people.

    `present`: the values that are used now (spec: SE-1).
    """
    later = present.changed(stored_settings(conn))
    digits = guid.hex()
    registry_guid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    views = []
    for spec in SPECS:
        value, next_value = present.text(spec.name), later.text(spec.name)
        place = spec.place_text(present.version, server).replace("<GUID>", registry_guid)
        views.append(
            SettingView(
                name=spec.name,
                value=value,
                default=present.default_text(spec.name),
                next_value=next_value if next_value != value else None,
                effective=present.version in spec.versions,
                place=place,
                does=spec.does,
            )
        )
    return views


def read_at_once(changes: Mapping[str, RawSetting], version: ServerVersion) -> dict[str, RawSetting]:
    """Return the settings that take effect while the store runs. Registry values take effect at the next start (spec: SE-1)."""
    return {name: raw for name, raw in changes.items() if _checked(name, raw).place_on(version) not in _REGISTRIES}


def clamped(changes: Mapping[str, RawSetting]) -> list[str]:
    """Return one line for each value that is out of range, with the value that is used instead (spec: SE-1)."""
    notes = (read_value(_checked(name, raw), raw)[1] for name, raw in changes.items())
    return [notice for notice in notes if notice is not None]


def _checked(name: str, raw: RawSetting) -> SettingSpec:
    try:
        spec = find_spec(name)
        read_value(spec, raw)
    except ValueTextError as error:
        raise Misuse(str(error)) from None
    return spec


def config_of(topology: Topology, store: str, changes: Mapping[str, RawSetting] = MappingProxyType({})) -> Config:
    """Return a store's settings: those of the topology, with the later `changes`."""
    server = topology.servers[store]
    settings = server.settings.changed(changes) if changes else server.settings
    return config_from(store, PROFILES[str(server.version)], settings)


def config_from(store: str, profile: Profile, settings: Settings) -> Config:
    """Return the settings in the form that the agent reads."""
    return Config(
        store=store,
        profile=profile,
        settings=settings,
        schedule=settings.schedule,
        always_us=settings.always_interval_us,
        message_size=min(settings.message_size_bytes, MAX_PACKED_BYTES),
        message_limit=settings.message_count_limit,
        status_timeout_us=settings.status_timeout_us,
        status_alignment_us=settings.status_alignment_us,
        silence_us=settings.status_timeout_us + 2 * settings.status_alignment_us,
        status_offset_us=settings.status_skew_us or STATUS_OFFSET_US,
        local=_timeouts(settings, local=True),
        remote=_timeouts(settings, local=False),
        content_suspended=settings.content_suspended,
        replicates=settings.replication_enabled,
        request_limit=settings.outstanding_backfill_limit,
        folder_limit=settings.folder_count_limit if profile.limits_folders else None,
        tree_wait_us=settings.tree_rmq_timeout_us,
        content_wait_us=settings.content_rmq_timeout_us,
        repeat_status=settings.repeat_status,
        tells_hierarchy_daily=profile.asks_nightly and settings.service_pack < SP4,
        reports_received=profile.reports_received or settings.service_pack < SP4,
        preferred_source=settings.preferred_backfill_source,
        mail_policy=MtaPolicy.of_settings(settings, profile.link_rule, takes_chunks=profile.takes_chunks),
    )


def _timeouts(settings: Settings, *, local: bool) -> BackfillTimeouts:
    first, retry, later = (settings.backfill_wait_us(local=local, requests_sent=count) for count in range(3))
    return BackfillTimeouts(first, retry, later)
