"""The settings of one store, read once at its start (spec: SE-1), as the agent counts in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from node.errors import Misuse
from node.profile import PROFILES, Profile
from topology.model import Topology
from topology.schedule import Schedule
from topology.settings import Settings
from traces.labtime import MINUTE_US
from transport.policy import MtaPolicy

STATUS_OFFSET_US: Final = 15 * MINUTE_US
"""The quarter hour of 00:15 and 12:15, where no skew takes its place (spec: ST-1) [S2]."""


@dataclass(frozen=True, slots=True)
class BackfillTimeouts:
    """First wait, wait after the first request, wait after later ones; microseconds (spec: BF-2)."""

    first_us: int
    first_retry_us: int
    later_retry_us: int

    def after(self, attempts: int) -> int:
        """The wait once `attempts` rounds of requests have been sent."""
        return (self.first_us, self.first_retry_us, self.later_retry_us)[min(attempts, 2)]


@dataclass(frozen=True, slots=True)
class Config:
    """What the agent reads of its settings."""

    profile: Profile
    settings: Settings
    schedule: Schedule
    always_us: int
    message_size: int
    message_limit: int | None
    status_timeout_us: int
    status_alignment_us: int
    status_offset_us: int
    local: BackfillTimeouts
    remote: BackfillTimeouts
    request_limit: int
    folder_limit: int | None
    tree_wait_us: int
    content_wait_us: int
    repeat_status: bool
    preferred_source: str | None
    mail_policy: MtaPolicy

    def timeouts(self, local: bool) -> BackfillTimeouts:
        return self.local if local else self.remote


def config_of(topology: Topology, store: str) -> Config:
    """The settings of a store of the topology. Misuse if its version's behaviour is not built."""
    server = topology.servers[store]
    profile = PROFILES.get(str(server.version))
    if profile is None:
        built = ", ".join(PROFILES)
        raise Misuse(f"server {store} is of version {server.version}; this pflab runs {built}")
    settings = server.settings
    return Config(
        profile=profile,
        settings=settings,
        schedule=settings.schedule,
        always_us=settings.always_interval_us,
        message_size=settings.message_size_bytes,
        message_limit=settings.message_count_limit,
        status_timeout_us=settings.status_timeout_us,
        status_alignment_us=settings.status_alignment_us,
        status_offset_us=settings.status_skew_us or STATUS_OFFSET_US,
        local=_timeouts(settings, local=True),
        remote=_timeouts(settings, local=False),
        request_limit=settings.outstanding_backfill_limit,
        folder_limit=settings.folder_count_limit if profile.limits_folders else None,
        tree_wait_us=settings.tree_rmq_timeout_us,
        content_wait_us=settings.content_rmq_timeout_us,
        repeat_status=settings.repeat_status,
        preferred_source=settings.preferred_backfill_source,
        mail_policy=MtaPolicy.of_settings(settings),
    )


def _timeouts(settings: Settings, *, local: bool) -> BackfillTimeouts:
    first, retry, later = (settings.backfill_wait_us(local=local, requests_sent=sent) for sent in range(3))
    return BackfillTimeouts(first, retry, later)

