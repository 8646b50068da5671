"""Words that a topology file chooses from. As text each is what stands in the file.

The server versions that the lab plays (SPEC.md section 14).
"""

from __future__ import annotations

from enum import StrEnum


class ConnectorKind(StrEnum):
    """spec: RT-1, ML-6"""

    ROUTING_GROUP = "routing-group"
    X400 = "x400"
    DIRECT = "direct"
    SMTP_RELAY = "smtp-relay"


class Joins(StrEnum):
    """Whether a store is there from the start or comes as a new store (spec: RP-3)."""

    START = "start"
    LATER = "later"


class FolderPriority(StrEnum):
    """spec: OUT-8"""

    NOT_URGENT = "not urgent"
    NORMAL = "normal"
    URGENT = "urgent"

    @property
    def number(self) -> int:
        """As MAPI counts priorities: -1, 0, 1."""
        return {FolderPriority.NOT_URGENT: -1, FolderPriority.NORMAL: 0, FolderPriority.URGENT: 1}[self]


class ResolveMethod(StrEnum):
    """spec: CF-4"""

    DEFAULT = "default"
    LAST_WRITER_WINS = "last writer wins"
    NO_NOTIFICATION = "no notification"

    @property
    def number(self) -> int:
        """PidTagResolveMethod."""
        return list(ResolveMethod).index(self)


class ServerVersion(StrEnum):
    """As text it is what people call the version. Compare by `rank`, since text would put 5.5 last."""

    V5_5 = "5.5"
    V2000 = "2000"
    V2003 = "2003"
    V2007 = "2007"

    @property
    def rank(self) -> int:
        """0 for the oldest; a newer version has the higher rank."""
        return _RANKS[self]


_RANKS = {version: rank for rank, version in enumerate(ServerVersion)}

ALL_VERSIONS: tuple[ServerVersion, ...] = tuple(ServerVersion)
