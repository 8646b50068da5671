"""Events of the run as a whole: its start and end, nodes, settings, clock, faults."""

from typing import Literal

import msgspec

from traces.events.header import Event
from traces.labtime import LabTime


class RunStarted(Event, frozen=True, kw_only=True, tag="run.started"):
    """A run begins.

    topology: as JSON.
    settings: the options of the run.
    version: the version of pflab.
    """

    topology: str
    seed: str
    settings: dict[str, str]
    version: str


class RunEnded(Event, frozen=True, kw_only=True, tag="run.ended"):
    """The last event of a run that ended normally."""

    verdict: str


class NodeStarted(Event, frozen=True, kw_only=True, tag="node.started"):
    """A node was started.

    version: the node's server version, such as 2003.
    replica_guid: 32 hex digits.
    """

    version: str
    replica_guid: str
    reason: Literal["first", "restart", "restored"]


class NodeStopped(Event, frozen=True, kw_only=True, tag="node.stopped"):
    """A node was stopped. A killed node cannot record this; a kill is a fault (fault.injected)."""

    how: Literal["stop", "kill"]


class BackupMade(Event, frozen=True, kw_only=True, tag="backup.made"):
    """A copy of the store's database was made.

    backup: its id in this run.
    through: the seq of the store's last event in the copy; 0 in traces before 1.2, which do not have it.
    """

    store: str
    backup: str
    through: int = 0


class BackupRestored(Event, frozen=True, kw_only=True, tag="backup.restored"):
    """The store's next start uses that backup, or an empty database if the backup is too old (spec: RP-4, DL-4)."""

    store: str
    backup: str


class BackupElsewhere(Event, frozen=True, kw_only=True, tag="backup.elsewhere"):
    """The backup of another server's store replaces the store of this server, which is only shown from its next start on. Since
    1.10.

    store: the server.
    of: the server whose backup it is.
    directory_object: which object of its name the server's store has (spec: RP-8).
    """

    store: str
    backup: str
    of: str
    directory_object: int = 0


class StoreCreated(Event, frozen=True, kw_only=True, tag="store.created"):
    """A new store was created under the name of a deleted one. It begins with an empty database at the server's next start.
    Since 1.10.

    directory_object: which object of this name it is; that of the first store is 0 (spec: RP-7).
    """

    store: str
    directory_object: int


class OrganizationChanged(Event, frozen=True, kw_only=True, tag="organization.changed"):
    """An administrator changed the organization. Since 1.11.

    revision: which change of the organization it is, from 1.
    subject: what was changed, such as `connector SEA-NYC`.
    change: how it was changed.
    topology: the organization from now on, as JSON.
    """

    revision: int
    subject: str
    change: Literal["added", "changed", "removed"]
    topology: str

    @property
    def added_server(self) -> str | None:
        """The server that was added; None if something else was changed."""
        return self._server_if("added")

    @property
    def removed_server(self) -> str | None:
        """The server that was removed; None if something else was changed."""
        return self._server_if("removed")

    def _server_if(self, change: str) -> str | None:
        kind, _, name = self.subject.partition(" ")
        return name if (kind, self.change) == ("server", change) else None


class OrganizationRead(Event, frozen=True, kw_only=True, tag="organization.read"):
    """This node knows the organization as it is after a change, and from now on its mail takes the routes of it (spec: RT-6).
    Since 1.11.
    """

    revision: int


class SettingIgnored(Event, frozen=True, kw_only=True, tag="setting.ignored"):
    """This node ignores the setting, because the value is not usable. `reason` says why (spec: BF-7)."""

    name: str
    value: str
    reason: str


class SettingValue(Event, frozen=True, kw_only=True, tag="setting.value"):
    """The value of a setting at the node's start, or after a change. Durations are text, as `6 h`."""

    name: str
    value: str
    default: str


class PolicyOfStores(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A recipient policy, the domain of its addresses, and its filter: the sites, servers and versions of the stores to which
    it applies; an empty list means all."""

    name: str
    domain: str
    sites: tuple[str, ...]
    servers: tuple[str, ...]
    versions: tuple[str, ...]


class RecipientPolicy(Event, frozen=True, kw_only=True, tag="recipient.policy"):
    """An administrator changed the recipient policies or their service (spec: ML-1). Since 1.9.

    recipient_update: how often the recipient update service runs: always, never, or a duration.
    domain: the domain of the addresses that the Default Policy gives.
    at_once: it stamps all entries that wait now.
    policy, change: the policy that was added, changed or removed; '' if only the other fields changed. Since 1.12.
    policies: the policies besides the Default Policy, after the change, in the order of their priority. Since 1.12.
    """

    recipient_update: str
    domain: str
    at_once: bool
    policy: str = ""
    change: Literal["", "added", "changed", "removed"] = ""
    policies: tuple[PolicyOfStores, ...] = ()


class ClockChanged(Event, frozen=True, kw_only=True, tag="clock.changed"):
    """The clock was changed.

    how: the kind of change (rate, pause, advance, skew, ...).
    rate: lab seconds per real second, 0 if paused.
    to: the time to which it was set.
    """

    how: str
    rate: float
    to: LabTime


class FaultInjected(Event, frozen=True, kw_only=True, tag="fault.injected"):
    """A fault begins.

    fault: its id, which is also in the events that it causes.
    details: depends on the kind.
    """

    fault: str
    kind: str
    details: dict[str, str | int | float | bool | None]


class FaultAltered(Event, frozen=True, kw_only=True, tag="fault.altered"):
    """The fault altered the mail on its hop from `server` to `next_hop` (spec: ML-6).

    recipients: the recipients of that copy. Since 1.6.
    """

    fault: str
    server: str
    next_hop: str
    recipients: tuple[str, ...]


class FaultHealed(Event, frozen=True, kw_only=True, tag="fault.healed"):
    """The fault has ended."""

    fault: str


RunEvent = (
    RunStarted
    | RunEnded
    | NodeStarted
    | NodeStopped
    | BackupMade
    | BackupRestored
    | BackupElsewhere
    | OrganizationChanged
    | OrganizationRead
    | StoreCreated
    | SettingIgnored
    | SettingValue
    | RecipientPolicy
    | ClockChanged
    | FaultInjected
    | FaultAltered
    | FaultHealed
)
