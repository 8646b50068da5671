"""The server versions that the lab plays (SPEC.md section 14)."""

from enum import StrEnum


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
