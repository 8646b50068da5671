"""The fixed choices of a topology file: kinds of connectors, priorities, resolve methods, server versions.

The value of each member is its text in the file.
"""

from __future__ import annotations

from enum import StrEnum


class ConnectorKind(StrEnum):
    """The transport of mail between two sites (spec: RT-1, ML-6)."""

    ROUTING_GROUP = "routing-group"
    X400 = "x400"
    DIRECT = "direct"
    SMTP_RELAY = "smtp-relay"


class Joins(StrEnum):
    """Whether a store exists from the start or joins later as a new store (spec: RP-3)."""

    START = "start"
    LATER = "later"


class FolderPriority(StrEnum):
    """The replication priority of a folder (spec: OUT-8)."""

    NOT_URGENT = "not urgent"
    NORMAL = "normal"
    URGENT = "urgent"

    @property
    def number(self) -> int:
        """The priority as MAPI numbers it: -1, 0 or 1."""
        return {FolderPriority.NOT_URGENT: -1, FolderPriority.NORMAL: 0, FolderPriority.URGENT: 1}[self]


class ResolveMethod(StrEnum):
    """How a folder shows and reports conflicts (spec: CF-4)."""

    DEFAULT = "default"
    LAST_WRITER_WINS = "last writer wins"
    NO_NOTIFICATION = "no notification"

    @property
    def number(self) -> int:
        """The method as the MAPI property PidTagResolveMethod numbers it."""
        return list(ResolveMethod).index(self)


class ServerVersion(StrEnum):
    """A version of Exchange. Compare versions by `rank`; if they were compared as texts, 5.5 would come last."""

    V5_5 = "5.5"
    V2000 = "2000"
    V2003 = "2003"
    V2007 = "2007"

    @property
    def rank(self) -> int:
        """0 for the oldest version; a newer version has a higher rank."""
        return _RANKS[self]


_RANKS = {version: rank for rank, version in enumerate(ServerVersion)}

ALL_VERSIONS: tuple[ServerVersion, ...] = tuple(ServerVersion)
