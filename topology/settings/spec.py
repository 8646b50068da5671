"""The specification of a setting: real name, place, default, unit, range, versions, and what it does."""

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from topology.enums import ALL_VERSIONS, ServerVersion
from topology.quantities import KILOBYTE, MEGABYTE
from topology.schedule import Schedule
from traces.labtime import DAY_US, MILLISECOND_US, MINUTE_US, SECOND_US

SettingValue = int | bool | str | Schedule | None
"""Durations are in microseconds, sizes in bytes. None means that the value is absent."""

# The registry's numbers have 32 bits.
DWORD_MAX: Final = (1 << 32) - 1


class Place(StrEnum):
    """Where a value is kept; this also decides when it is read (spec: SE-1)."""

    REGISTRY = r"HKLM\System\CurrentControlSet\Services\MSExchangeIS\<server>\Public-<GUID>\<name>"
    REGISTRY_5_5 = r"HKLM\System\CurrentControlSet\Services\MSExchangeIS\ParametersPublic\<name>"
    DIAGNOSTICS = r"HKLM\System\CurrentControlSet\Services\MSExchangeIS\Diagnostics\9001 Public\<name>"
    DIRECTORY = "property of the public folder store in the directory"
    MTA = "property of the server's message transfer in the directory"
    LAB = "a setting that only the lab has"


class Kind(Enum):
    """The kind of a value, which decides how it is written."""

    DURATION = "duration"
    COUNT = "count"
    SIZE = "size"
    SWITCH = "switch"
    SERVER = "server"
    SCHEDULE = "schedule"
    HOST = "host and port"
    LEVEL = "diagnostics logging level"


LEVELS: Final = {"None": 0, "Minimum": 1, "Medium": 3, "Maximum": 5}
"""The diagnostics logging levels of 2000 and 2003, with the numbers that the registry keeps."""


_UNIT_SIZES: Final = {
    "ms": MILLISECOND_US,
    "s": SECOND_US,
    "min": MINUTE_US,
    "d": DAY_US,
    "KB": KILOBYTE,
    "MB": MEGABYTE,
    "": 1,
}


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting.

    unit      of the number as it is kept: ms, s, min, d, KB, MB, or '' for counts and texts
    default   in us, in bytes, or a count; None if the value is absent
    low, high bounds in the same measure; a value outside is clamped to the nearer one
    does      what it does, for the analyzer and the documentation
    aliases   other names that the sources use for it
    moved_to_directory  the versions that keep the value in the directory, while other versions keep it in the registry
    """

    name: str
    kind: Kind
    default: SettingValue
    does: str
    unit: str = ""
    low: int = 0
    high: int = DWORD_MAX
    place: Place = Place.REGISTRY
    versions: tuple[ServerVersion, ...] = ALL_VERSIONS
    aliases: tuple[str, ...] = ()
    moved_to_directory: tuple[ServerVersion, ...] = ()

    @property
    def unit_size(self) -> int:
        """The size of one unit in us or bytes."""
        return _UNIT_SIZES[self.unit]

    def place_on(self, version: ServerVersion) -> Place:
        """Return where a server of this version keeps the value."""
        if version in self.moved_to_directory:
            return Place.DIRECTORY
        if self.place is Place.REGISTRY and version is ServerVersion.V5_5:
            return Place.REGISTRY_5_5
        return self.place
