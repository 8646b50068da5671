"""A plan of a campaign as data: an organization, the steps of its users, and the faults.

A plan is complete before the lab starts. It refers to folders and messages by labels, which the steps that create them define.
A step is skipped if its target was never created: a fault can prevent the creation, and the shrinker can remove it. All other
steps keep their meaning. Times are microseconds of lab time since the lab's start.

A campaign plays a plan as the steps of a scenario (`as_scenario`). A new kind of step needs a class here, its form in a
scenario there, and a weight in `draw_work` or a share in `draw_administration`. A new kind of fault needs a class here, its
beginning and end there, and its generation in `draw_faults`.
"""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, get_args

import msgspec

from pflab.faults.fault import MailType
from pflab.simulation.network import NetworkPolicy
from topology.enums import FolderPriority, ResolveMethod
from topology.file.load import topology_from_text
from topology.model import Topology


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", omit_defaults=True, forbid_unknown_fields=True):
    """An action of a user or an administrator.

    `at_us`: the time since the lab's start.
    """

    at_us: int = msgspec.field(name="at")


class Post(Step, frozen=True, kw_only=True, tag="post"):
    """Create messages. The labels of several messages are `label.1`, `label.2`, ...

    `associated`: associated messages (FAI), which belong to the folder and are not shown among its messages.
    """

    on: str
    folder: str
    label: str = msgspec.field(name="as")
    count: int = 1
    size: int = 100
    associated: bool = False

    def labels(self) -> list[str]:
        return [self.label] if self.count == 1 else [f"{self.label}.{number}" for number in range(1, self.count + 1)]


class Edit(Step, frozen=True, kw_only=True, tag="edit"):
    on: str
    message: str


class Delete(Step, frozen=True, kw_only=True, tag="delete"):
    on: str
    message: str


class Resolve(Step, frozen=True, kw_only=True, tag="resolve"):
    """End a conflict, if there is one. `keep` says what stays: the version that is shown, the last in rank, or all."""

    on: str
    message: str
    keep: Literal["shown", "last", "all"]


class Recover(Step, frozen=True, kw_only=True, tag="recover"):
    """Recover a deleted message, if the store retains it (spec: DL-5)."""

    on: str
    message: str


class CreateFolder(Step, frozen=True, kw_only=True, tag="create folder"):
    on: str
    label: str = msgspec.field(name="as")
    title: str
    under: str | None = None
    replicas: tuple[str, ...] = ()
    schedule: str | None = None
    contacts: tuple[str, ...] = ()


class RenameFolder(Step, frozen=True, kw_only=True, tag="rename folder"):
    on: str
    folder: str
    title: str


class MoveFolder(Step, frozen=True, kw_only=True, tag="move folder"):
    """Move a folder below `under`, or to the top of the tree if `under` is None."""

    on: str
    folder: str
    under: str | None = None


class ChangeFolder(Step, frozen=True, kw_only=True, tag="change folder"):
    """Change properties of a folder. A property that is None here stays as it is."""

    on: str
    folder: str
    schedule: str | None = None
    priority: FolderPriority | None = None
    resolve: ResolveMethod | None = None
    contacts: tuple[str, ...] | None = None
    warning_limit: str | None = None
    post_limit: str | None = None
    item_limit: str | None = None


class DeleteFolder(Step, frozen=True, kw_only=True, tag="delete folder"):
    on: str
    folder: str


class AddReplica(Step, frozen=True, kw_only=True, tag="add replica"):
    on: str
    folder: str
    store: str


class RemoveReplica(Step, frozen=True, kw_only=True, tag="remove replica"):
    """Remove a replica, unless it is the last one (spec: RP-2)."""

    on: str
    folder: str
    store: str


class Join(Step, frozen=True, kw_only=True, tag="join"):
    """Start a store that the topology defines to join later (spec: RP-3)."""

    store: str


class SuspendContent(Step, frozen=True, kw_only=True, tag="suspend content"):
    """Suspend content replication on every running store (spec: RP-5)."""


class ResumeContent(Step, frozen=True, kw_only=True, tag="resume content"):
    """Resume content replication on every running store. The heal does this too."""


class AddReplicas(Step, frozen=True, kw_only=True, tag="add replicas"):
    """Add a store to the replica lists of a folder and its subfolders, or of all folders (spec: AD-1)."""

    on: str
    folder: str | None = None
    store: str


class RemoveReplicas(Step, frozen=True, kw_only=True, tag="remove replicas"):
    """Remove a store from the same lists, except where no store would be left (spec: AD-1, RP-2)."""

    on: str
    folder: str | None = None
    store: str


class ReplaceReplicas(Step, frozen=True, kw_only=True, tag="replace replicas"):
    """Put the store `to` in the place of `store` on the same lists, where `store` is listed (spec: AD-1, RP-2)."""

    on: str
    folder: str | None = None
    store: str
    to: str


class Propagate(Step, frozen=True, kw_only=True, tag="propagate"):
    """Give all subfolders of a folder its values of these properties (spec: AD-1)."""

    on: str
    folder: str
    properties: tuple[str, ...]


class Resend(Step, frozen=True, kw_only=True, tag="resend"):
    """Send Contents, or Send Hierarchy if no folder is given: send the changes of the last days again (spec: AD-1). They go to
    `store`, or to all other holders."""

    on: str
    folder: str | None = None
    store: str | None = None
    days: int = 1


class Synchronize(Step, frozen=True, kw_only=True, tag="synchronize"):
    """Synchronize Content, or Synchronize Hierarchy if no folder is given: request the status now (spec: AD-1)."""

    on: str
    folder: str | None = None


class SendMail(Step, frozen=True, kw_only=True, tag="send mail"):
    """Send a mail from a folder's address to the folder `recipient`, where it becomes a post (spec: ML-5)."""

    on: str
    folder: str
    recipient: str
    title: str


class DeleteStore(Step, frozen=True, kw_only=True, tag="delete store"):
    """Stop a store and delete it from the directory, even if it holds replicas (spec: RP-6). It never runs again. The store of
    a bridgehead is not deleted."""

    on: str
    store: str


AnyStep = (
    Post
    | Edit
    | Delete
    | Resolve
    | Recover
    | CreateFolder
    | RenameFolder
    | MoveFolder
    | ChangeFolder
    | DeleteFolder
    | AddReplica
    | RemoveReplica
    | Join
    | SuspendContent
    | ResumeContent
    | AddReplicas
    | RemoveReplicas
    | ReplaceReplicas
    | Propagate
    | Resend
    | Synchronize
    | SendMail
    | DeleteStore
)


class Fault(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="fault", omit_defaults=True, forbid_unknown_fields=True
):
    """A fault that begins at `at_us` and lasts `lasts_us`."""

    at_us: int = msgspec.field(name="at")
    lasts_us: int = msgspec.field(name="lasts")


class MailFault(Fault, frozen=True, kw_only=True):
    """A fault of mails on their last hop.

    `count`: how many mails it affects; None: all mails while the fault lasts.
    """

    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None
    type: MailType | None = None
    count: int | None = None


class Lose(MailFault, frozen=True, kw_only=True, tag="lose"):
    pass


class Delay(MailFault, frozen=True, kw_only=True, tag="delay"):
    by_us: int = msgspec.field(name="by")


class Duplicate(MailFault, frozen=True, kw_only=True, tag="duplicate"):
    pass


class Reorder(MailFault, frozen=True, kw_only=True, tag="reorder"):
    by_us: int = msgspec.field(name="by")


class Alter(MailFault, frozen=True, kw_only=True, tag="alter"):
    how: Literal["flip", "cut", "noise", "item"] = "flip"


class Cut(Fault, frozen=True, kw_only=True, tag="cut"):
    """No mail passes between two servers or sites.

    `one_way`: only mail from the first to the second is stopped.
    """

    between: tuple[str, str]
    one_way: bool = False


class Hold(Fault, frozen=True, kw_only=True, tag="hold"):
    """All mail from the first server to the second waits until the fault ends."""

    link: tuple[str, str]


class Swizzle(Fault, frozen=True, kw_only=True, tag="swizzle"):
    """Kill some stores one after the other, and start them in another order. FoundationDB has this fault."""

    stop: tuple[str, ...]
    start: tuple[str, ...]
    gap_us: int = msgspec.field(name="gap")


class Crash(Fault, frozen=True, kw_only=True, tag="crash"):
    """Crash the server in a stimulus, at a named point.

    `after`: how many stimuli pass first.
    """

    server: str
    point: Literal["before commit", "after commit"]
    after: int = 0


class Stall(Fault, frozen=True, kw_only=True, tag="stall"):
    """The server's commits take so long that clients give up.

    `commits`: whether the commits succeed nevertheless.
    """

    server: str
    commits: bool = False


class Skew(Fault, frozen=True, kw_only=True, tag="skew"):
    """The server's clock is wrong by `by_us`. It is slow if `by_us` is negative."""

    server: str
    by_us: int = msgspec.field(name="by")


class Kill(Fault, frozen=True, kw_only=True, tag="kill"):
    """The store does not run.

    `kill`: whether it is killed; otherwise it stops cleanly.
    """

    server: str
    kill: bool = True


class Restore(Fault, frozen=True, kw_only=True, tag="restore"):
    """The store loses its disk, and starts from a backup made when the fault began (spec: RP-4).

    If the backup is older than a tombstone age, the store begins as new (spec: DL-4).

    `dead_us`: how long the store is down before its restore.
    """

    server: str
    dead_us: int = msgspec.field(name="dead", default=0)


class Unstamp(Fault, frozen=True, kw_only=True, tag="unstamp"):
    """The store's entry in the directory has no addresses, and the recipient update service fails for it (spec: ML-1)."""

    server: str


AnyFault = (
    Lose | Delay | Duplicate | Reorder | Alter | Cut | Hold | Swizzle | Crash | Stall | Skew | Kill | Restore | Unstamp
)


def _by_tag(union: UnionType) -> dict[str, Any]:
    """Map the name that each class of a union has in a plan file to this class."""
    return {str(kind.__struct_config__.tag): kind for kind in get_args(union)}


STEP_CLASSES: dict[str, type[Step]] = _by_tag(AnyStep)

FAULT_CLASSES: dict[str, type[Fault]] = _by_tag(AnyFault)

FAULT_KINDS: tuple[str, ...] = tuple(FAULT_CLASSES)
"""The kinds of fault of a campaign, with the names that `--faults` accepts."""


class Network(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How the network reorders and delays mails at random during the whole run; see `NetworkPolicy`."""

    shuffle: bool = False
    jitter_us: int = msgspec.field(name="jitter", default=0)

    def policy(self) -> NetworkPolicy:
        return NetworkPolicy(shuffle=self.shuffle, jitter_us=self.jitter_us)


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything that happens to one lab of a campaign before it is healed.

    seed: determines GUIDs, keys and the random choices of the network.
    length_us: when all faults end.
    topology: the document of a topology file. Steps and faults are in order of time.
    """

    plan: Literal[1] = 1
    seed: int
    length_us: int = msgspec.field(name="length")
    network: Network = Network()
    topology: dict[str, Any]
    steps: tuple[AnyStep, ...] = ()
    faults: tuple[AnyFault, ...] = ()

    def organization(self) -> Topology:
        """Return the topology. Raises topology.ProblemsError, which names every mistake, if the document is not valid."""
        return topology_from_text(msgspec.json.encode(self.topology).decode(), f"the topology of plan {self.seed}")

    @property
    def size(self) -> int:
        """The number of steps, faults, stores, folders and settings. The shrinker compares plans by this number."""
        settings = [self.topology.get("settings") or {}]
        servers = self.topology.get("servers") or {}
        settings += [(entry or {}).get("settings") or {} for entry in servers.values()]
        parts = (self.steps, self.faults, servers, self.topology.get("folders") or {}, *settings)
        return sum(len(part) for part in parts)
