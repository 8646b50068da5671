"""The state of a lab at an instant: what another lab needs in order to continue it.

Every driver uses this one type, to save a lab, to reset it, to resume a run, and to restart a coordinator. The large parts are
files beside it, in a run folder or in the folder of a saved lab:

| path | content |
|---|---|
| `lab.json` | the `LabState`; a coordinator keeps it with the newest events instead (`pflab.containers.durable_record`) |
| `topology.yaml`, `seed` | what the lab began with |
| `databases/NAME.sqlite` | the database of each store that has ever started, also if its server was removed |
| `backups/ID.sqlite` | the backups (`pflab.runs.backups`) |
| `traces/` | the events up to this instant |
| `.saved/NAME/` | the saved labs, each a folder like this one |
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from node.host.whole_files import write_whole
from node.state.directory import Stamp, StoreObject
from pflab.errors import LabError
from topology.changes import ChangeError, successor
from topology.recipient_policy import RecipientPolicy
from traces.labtime import LabTime

if TYPE_CHECKING:
    from pathlib import Path

    from topology.model import Topology

STATE: Final = "lab.json"

FORMAT: Final = 3
"""The version of the format. It is raised by each change of a type in this module that cannot read an earlier state."""

Driver = Literal["live", "processes", "managed", "simulator"]
"""How the servers of a lab run: in its process, as its processes, as processes that another program keeps alive, simulated."""


class ServerStatus(StrEnum):
    """The state of a server between two stimuli."""

    ABSENT = "absent"
    RUNNING = "running"
    STOPPED = "stopped"
    KILLED = "killed"

    @property
    def words(self) -> str:
        """The end of a sentence that begins with "server A"."""
        return _WORDS[self]


_WORDS: Final = {
    ServerStatus.ABSENT: "has not joined yet",
    ServerStatus.RUNNING: "is running",
    ServerStatus.STOPPED: "is stopped",
    ServerStatus.KILLED: "was killed",
}


class RunSettings(msgspec.Struct, frozen=True):
    """How a lab runs; a run that continues it has the same settings.

    driver: how the servers run, in the word of run.started.
    tls: whether they offer STARTTLS.
    imap_port: the port of the first server's IMAP listener, 0 for free ports; None without IMAP.
    keeps_mails: whether the run folder has each mail.
    """

    driver: Driver = "live"
    durability: Literal["full", "normal"] = "normal"
    tls: bool = False
    imap_port: int | None = None
    keeps_mails: bool = False


class ServerState(msgspec.Struct, frozen=True):
    """One server, and what happens at its next start.

    known: the directory objects that it has, by store.
    known_deleted: the deleted stores that are no longer in its directory.
    backup: the id of the backup with which it starts next; None means that it starts with its own database.
    kill_fault: the id of the fault that represents its kill. The next start heals this fault.
    restarts_at: when it starts by itself after a crash.
    is_empty: whether its store was created again and has not started.
    copy_of: the server whose store it shows, because that store's backup was restored here.
    revision: the revision of the organization that it knows.
    """

    status: ServerStatus = ServerStatus.ABSENT
    known: dict[str, StoreObject] = {}
    known_deleted: tuple[str, ...] = ()
    backup: str | None = None
    kill_fault: str | None = None
    restarts_at: LabTime | None = None
    is_empty: bool = False
    copy_of: str | None = None
    revision: int = 0


class DirectoryDamage(msgspec.Struct, frozen=True):
    """The stores whose objects in the directory are damaged by faults, in order.

    unstamped: the recipient update service fails for them (spec: ML-1).
    unlinked: they name no public folder tree (spec: ML-8).
    doubled: there is a second object (spec: ML-8).
    """

    unstamped: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()


class DirectoryState(msgspec.Struct, frozen=True):
    """The directory of the organization (`pflab.lab.directory`).

    interval_us: how often the recipient update service runs; 0: always, None: never.
    domain: the domain of the Default Policy.
    stamps: the stamps of each entry.
    damage: the objects that are damaged.
    changed: the stores whose entry differs from what they compute themselves.
    policies: the other recipient policies, in the order of their priority.
    """

    interval_us: int | None
    domain: str
    stamps: dict[str, tuple[Stamp, ...]]
    damage: DirectoryDamage
    changed: tuple[str, ...]
    policies: tuple[RecipientPolicy, ...] = ()


class BackupsState(msgspec.Struct, frozen=True):
    """Which backups there are.

    number: how many backups were ever made; no id is used twice.
    stores: the store of each backup, by id.
    """

    number: int = 0
    stores: dict[str, str] = {}


class LabState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a lab.

    run: the run id of its events.
    at: the lab time.
    rate: lab seconds for each real second. A saved lab is paused.
    joined: the stores that joined later, in order.
    deleted: the stores that were deleted from the directory, in order.
    created: the stores that were created again after a deletion, in order; each is in it once for each time.
    faults: the faults in force and the number of the last one (`FaultPlan.as_document`).
    verdict: the latest verdict on this run.
    organization: the topology as JSON, if the organization was changed since the lab began.
    """

    format: int = FORMAT
    run: str
    at: LabTime
    rate: float = 0.0
    settings: RunSettings
    servers: dict[str, ServerState]
    joined: tuple[str, ...]
    deleted: tuple[str, ...]
    created: tuple[str, ...] = ()
    directory: DirectoryState
    backups: BackupsState
    faults: dict[str, Any]
    verdict: dict[str, Any] | None = None
    organization: str | None = None

    @property
    def stores(self) -> tuple[str, ...]:
        """The servers whose store has ever started, also those that were removed. Each has a database, from which a store that
        is created again under its name continues the trace."""
        begun = [name for name, of in self.servers.items() if of.status is not ServerStatus.ABSENT or of.is_empty]
        return tuple(dict.fromkeys([*begun, *self.deleted]))

    def organization_of(self, began: Topology) -> Topology:
        """Return the organization of the lab, which began with this topology. Raises LabError if the state has one of another
        lab."""
        try:
            return began if self.organization is None else successor(began, self.organization)
        except ChangeError as error:
            raise LabError(f"the state of the lab: {error}") from None

    def encoded(self) -> bytes:
        """Return the state as JSON."""
        return msgspec.json.encode(self)


MOST_NESTED: Final = 100
"""The most levels of lists and objects in a state. A lab writes under ten."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[][{}]', re.DOTALL)
"""A text of JSON, or the beginning or the end of a level."""

_LEVELS: Final = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


class _Version(msgspec.Struct):
    format: int = 1
    """Before format 2 a state did not say its format."""


def decoded_state(content: bytes, place: Path) -> LabState:
    """Return the state that `LabState.encoded` returned. Raises LabError for another format, and for a text that is not a
    state.

    place: where it was read, for the error.
    """
    if _is_nested_deeply(content):  # in a browser this would break Python, not raise RecursionError
        raise LabError(f"{place} cannot be read: it is nested more than {MOST_NESTED} levels deep")
    try:
        version = msgspec.json.decode(content, type=_Version).format
        if version != FORMAT:
            raise LabError(
                f"{place} has the state of a lab in format {version}, and this version of pflab reads only format {FORMAT};"
                " begin a new lab"
            )
        return msgspec.json.decode(content, type=LabState)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LabError(f"{place} cannot be read: {error}") from error


def _is_nested_deeply(content: bytes) -> bool:
    """Return whether JSON has more levels than MOST_NESTED."""
    depth = 0
    for token in _TOKEN.finditer(content):
        depth += _LEVELS.get(token.group(), 0)
        if depth > MOST_NESTED:
            return True
    return False


def write_state(folder: Path, state: LabState) -> None:
    """Write the state of a lab into a run folder. Raises OSError if this fails; the previous state is then still there."""
    write_whole(folder / STATE, msgspec.json.format(state.encoded()) + b"\n")


def read_state(folder: Path) -> LabState:
    """Return the state of the lab of a run folder. Raises LabError if the run cannot be continued."""
    place = folder / STATE
    try:
        return decoded_state(place.read_bytes(), place)
    except FileNotFoundError:
        raise LabError(f"{folder} cannot be continued: it has no {STATE}, so it is not a run of pflab up") from None
    except OSError as error:
        raise LabError(f"{place} cannot be read: {error}") from error
