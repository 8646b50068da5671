"""A campaign's plan as data: an organization, what its users do and when, and what goes wrong and for how long.

A plan is complete before the lab begins: it names folders and messages by labels that their creation gives them, so a
step whose target was never made (because a fault came first, or because the shrinker took its creation out) is passed
over and all others still mean the same. Times are microseconds of lab time since the lab's start.

To add a kind of step: a class here, an act in `campaign_acts`, a weight in `campaign_draw_work`. To add a kind of
fault: a class here, a beginning and an end in `campaign_storms`, a drawing in `campaign_draw_faults`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from pflab.simulation.network import NetworkPolicy
from topology import FolderPriority, ResolveMethod, Topology, topology_from_text

MailType = Literal[
    "hierarchy",
    "content",
    "backfill request",
    "status",
    "status request",
    "hierarchy response",
    "content response",
]


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", omit_defaults=True, forbid_unknown_fields=True):
    """Something that a user or an administrator does. `at_us`: since the lab's start."""

    at_us: int = msgspec.field(name="at")


class Post(Step, frozen=True, kw_only=True, tag="post"):
    """New messages; several of one post are called `label.1`, `label.2`, ..."""

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
    """Ends a conflict, where there is one: the version shown, the one least in rank, or all are kept."""

    on: str
    message: str
    keep: Literal["shown", "last", "all"]


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
    """`under` None: to the top of the tree."""

    on: str
    folder: str
    under: str | None = None


class ChangeFolder(Step, frozen=True, kw_only=True, tag="change folder"):
    """Other properties of a folder; None: that one stays."""

    on: str
    folder: str
    schedule: str | None = None
    priority: FolderPriority | None = None
    resolve: ResolveMethod | None = None


class DeleteFolder(Step, frozen=True, kw_only=True, tag="delete folder"):
    on: str
    folder: str


class AddReplica(Step, frozen=True, kw_only=True, tag="add replica"):
    on: str
    folder: str
    store: str


class RemoveReplica(Step, frozen=True, kw_only=True, tag="remove replica"):
    """The last replica stays (spec: RP-2)."""

    on: str
    folder: str
    store: str


class Join(Step, frozen=True, kw_only=True, tag="join"):
    """A store that the topology says joins later does so (spec: RP-3)."""

    store: str


class SuspendContent(Step, frozen=True, kw_only=True, tag="suspend content"):
    """Content replication is suspended on every store that runs (spec: RP-5)."""


class ResumeContent(Step, frozen=True, kw_only=True, tag="resume content"):
    """And goes on; the heal does this too."""


class DeleteStore(Step, frozen=True, kw_only=True, tag="delete store"):
    """A store is stopped and deleted from the directory, whatever it holds (spec: RP-6). It never runs again. One that mail
    between sites passes through stays."""

    on: str
    store: str


AnyStep = (
    Post
    | Edit
    | Delete
    | Resolve
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
    | DeleteStore
)


class Fault(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="fault", omit_defaults=True, forbid_unknown_fields=True
):
    """Something that goes wrong from `at_us` on, for `lasts_us`."""

    at_us: int = msgspec.field(name="at")
    lasts_us: int = msgspec.field(name="lasts")


class MailFault(Fault, frozen=True, kw_only=True):
    """What happens to mails on their last hop; `count` None: to all of them while it lasts."""

    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None
    type: MailType | None = None
    count: int | None = None


class Loss(MailFault, frozen=True, kw_only=True, tag="loss"):
    pass


class Delay(MailFault, frozen=True, kw_only=True, tag="delay"):
    by_us: int = msgspec.field(name="by")


class Duplication(MailFault, frozen=True, kw_only=True, tag="duplication"):
    pass


class Reordering(MailFault, frozen=True, kw_only=True, tag="reordering"):
    by_us: int = msgspec.field(name="by")


class Corruption(MailFault, frozen=True, kw_only=True, tag="corruption"):
    how: Literal["flip", "cut", "noise", "item"] = "flip"


class Partition(Fault, frozen=True, kw_only=True, tag="partition"):
    """Between two servers or sites; `one_way`: only from the first to the second."""

    between: tuple[str, str]
    one_way: bool = False


class Clog(Fault, frozen=True, kw_only=True, tag="clog"):
    """Everything from the first server to the second waits until it is over."""

    link: tuple[str, str]


class Swizzle(Fault, frozen=True, kw_only=True, tag="swizzle"):
    """Some stores die one after the other and come back in another order (FoundationDB's)."""

    stop: tuple[str, ...]
    start: tuple[str, ...]
    gap_us: int = msgspec.field(name="gap")


class Crash(Fault, frozen=True, kw_only=True, tag="crash"):
    """The server dies in a stimulus, `after` so many others, at a named point."""

    server: str
    point: Literal["before commit", "after commit"]
    after: int = 0


class Slow(Fault, frozen=True, kw_only=True, tag="slow"):
    """The server's commits take so long that nobody waits for them; `commits`: they come about all the same."""

    server: str
    commits: bool = False


class Skew(Fault, frozen=True, kw_only=True, tag="skew"):
    """The server's clock is wrong by so much."""

    server: str
    by_us: int = msgspec.field(name="by")


class Gone(Fault, frozen=True, kw_only=True, tag="gone"):
    """The store does not run; `kill`: it had no time to stop in order."""

    server: str
    kill: bool = True


class Restore(Fault, frozen=True, kw_only=True, tag="restore"):
    """The store's disk is lost and it goes back to a backup made when this began; `dead_us`: for so long before that it
    did not run (spec: RP-4). Longer ago than a tombstone lives, and it begins as new (spec: DL-4)."""

    server: str
    dead_us: int = msgspec.field(name="dead", default=0)


AnyFault = (
    Loss
    | Delay
    | Duplication
    | Reordering
    | Corruption
    | Partition
    | Clog
    | Swizzle
    | Crash
    | Slow
    | Skew
    | Gone
    | Restore
)

FAULT_CLASSES: dict[str, type[Fault]] = {
    "loss": Loss,
    "delay": Delay,
    "duplication": Duplication,
    "reordering": Reordering,
    "corruption": Corruption,
    "partition": Partition,
    "clog": Clog,
    "swizzle": Swizzle,
    "crash": Crash,
    "slow": Slow,
    "skew": Skew,
    "gone": Gone,
    "restore": Restore,
}

FAULT_KINDS: tuple[str, ...] = tuple(FAULT_CLASSES)
"""Fault packages of a campaign; `--faults` names some of them, or all, or none."""


class Network(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The whims of the network, from beginning to end."""

    shuffle: bool = False
    jitter_us: int = msgspec.field(name="jitter", default=0)

    def policy(self) -> NetworkPolicy:
        return NetworkPolicy(shuffle=self.shuffle, jitter_us=self.jitter_us)


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """All that one lab of a campaign lives through, before it is healed.

    seed: fixes GUIDs, keys and the network's whims. length_us: when all faults end. topology: a topology file's
    document. Steps and faults are in order of time.
    """

    plan: Literal[1] = 1
    seed: int
    length_us: int = msgspec.field(name="length")
    network: Network = Network()
    topology: dict[str, Any]
    steps: tuple[AnyStep, ...] = ()
    faults: tuple[AnyFault, ...] = ()

    def organization(self) -> Topology:
        """Raises topology.ProblemsError, which names every mistake, if the document is not a topology."""
        return topology_from_text(msgspec.json.encode(self.topology).decode(), f"the topology of plan {self.seed}")

    @property
    def size(self) -> int:
        """How much there is in it, for a shrinker to compare: steps, faults, stores, folders, settings."""
        settings = [self.topology.get("settings") or {}]
        servers = self.topology.get("servers") or {}
        settings += [(entry or {}).get("settings") or {} for entry in servers.values()]
        parts = (self.steps, self.faults, servers, self.topology.get("folders") or {}, *settings)
        return sum(len(part) for part in parts)
