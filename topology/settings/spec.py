"""The specification of a setting: real name, place, default, unit, range, versions, and what it does."""

from collections.abc import Mapping
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


_LEVELS_TO_2003: Final = {0: "None", 1: "Minimum", 3: "Medium", 5: "Maximum"}

LEVEL_NAMES: Final[Mapping[ServerVersion, Mapping[int, str]]] = {
    ServerVersion.V5_5: _LEVELS_TO_2003,
    ServerVersion.V2000: _LEVELS_TO_2003,
    ServerVersion.V2003: _LEVELS_TO_2003,
    ServerVersion.V2007: {0: "Lowest", 1: "Low", 3: "Medium", 5: "High", 7: "Expert"},
}
"""The diagnostics logging levels of each version by the numbers that the registry keeps, in ascending order (spec: EV-1)."""

LEVELS: Final = {name: number for names in LEVEL_NAMES.values() for number, name in names.items()} | {"Maximum": 7}
"""The number of each level by its name. Every server accepts the names of every version; Maximum and Expert log everything."""


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
    value_names  what the kept value is called, on the versions that do not call it `name`
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
    value_names: tuple[tuple[ServerVersion, str], ...] = ()

    @property
    def unit_size(self) -> int:
        """The size of one unit in us or bytes."""
        return _UNIT_SIZES[self.unit]

    def default_on(self, version: ServerVersion) -> SettingValue:
        """Return the default on a server of this version."""
        return max(LEVEL_NAMES[version].items())[1] if self.kind is Kind.LEVEL else self.default

    def place_on(self, version: ServerVersion) -> Place:
        """Return where a server of this version keeps the value."""
        if version in self.moved_to_directory:
            return Place.DIRECTORY
        if self.place is Place.REGISTRY and version is ServerVersion.V5_5:
            return Place.REGISTRY_5_5
        return self.place

    def place_text(self, version: ServerVersion, server: str) -> str:
        """Return the place for people. The GUID of a store remains to be filled in."""
        name = dict(self.value_names).get(version, self.name)
        return str(self.place_on(version)).replace("<name>", name).replace("<server>", server)
