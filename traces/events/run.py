"""Events of a run as a whole: its start and end, nodes, settings, clock, faults."""

from typing import Literal

from traces.events.header import Event
from traces.labtime import LabTime


class RunStarted(Event, frozen=True, kw_only=True, tag="run.started"):
    """A run begins with what is run (SPEC.md section 16).

    topology: the file as run (YAML or JSON); settings: what was asked of the run; version: the program's.
    """

    topology: str
    seed: str
    settings: dict[str, str]
    version: str


class RunEnded(Event, frozen=True, kw_only=True, tag="run.ended"):
    """The last event of a run that ended in good order."""

    verdict: str


class NodeStarted(Event, frozen=True, kw_only=True, tag="node.started"):
    """version: the server version it plays, such as 2003; replica_guid: 32 hex digits."""

    version: str
    replica_guid: str
    reason: Literal["first", "restart", "restored"]


class NodeStopped(Event, frozen=True, kw_only=True, tag="node.stopped"):
    """A kill is traced by whoever killed, or by the node when it comes back."""

    how: Literal["stop", "kill"]


class BackupMade(Event, frozen=True, kw_only=True, tag="backup.made"):
    """A copy of the store's database as it stood; backup: its id in this run.

    through: the store's last event that is in it, by its seq; 0 in traces older than 1.2, which do not say it.
    """

    store: str
    backup: str
    through: int = 0


class BackupRestored(Event, frozen=True, kw_only=True, tag="backup.restored"):
    """The store's next start is from that backup, or as new where it is too old (spec: RP-4, DL-4)."""

    store: str
    backup: str


class SettingIgnored(Event, frozen=True, kw_only=True, tag="setting.ignored"):
    """A setting whose value this node makes nothing of, and why (spec: BF-7)."""

    name: str
    value: str
    reason: str


class SettingValue(Event, frozen=True, kw_only=True, tag="setting.value"):
    """One setting as this node took it at start; all three are text, durations as `6 h`."""

    name: str
    value: str
    default: str


class ClockChanged(Event, frozen=True, kw_only=True, tag="clock.changed"):
    """how: what was asked (rate, pause, advance, skew, ...).

    rate: lab seconds per real second, 0 when paused; to: what the clock showed then.
    """

    how: str
    rate: float
    to: LabTime


class FaultInjected(Event, frozen=True, kw_only=True, tag="fault.injected"):
    """fault: its id, which the events that it causes name; details: by kind."""

    fault: str
    kind: str
    details: dict[str, str | int | float | bool | None]


class FaultAltered(Event, frozen=True, kw_only=True, tag="fault.altered"):
    """The fault altered the mail on its hop from `server` to `next_hop` (spec: ML-6); recipients: of that copy. Since 1.6."""

    fault: str
    server: str
    next_hop: str
    recipients: tuple[str, ...]


class FaultHealed(Event, frozen=True, kw_only=True, tag="fault.healed"):
    """The fault of that id works no longer."""

    fault: str


RunEvent = (
    RunStarted
    | RunEnded
    | NodeStarted
    | NodeStopped
    | BackupMade
    | BackupRestored
    | SettingIgnored
    | SettingValue
    | ClockChanged
    | FaultInjected
    | FaultAltered
    | FaultHealed
)
