"""The scenario file as a model: what each verb takes (docs/scenarios.md tells it to people; `pflab schema scenario` to
editors).

A step is a mapping with one key, its verb. Each verb's model forbids unknown keys, so that a misspelt one is an error.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pflab.scenario_links import Hold, Smtp
from pflab.scenario_part import Part
from pflab.scenario_values import (
    MAX_POSTS,
    CountText,
    DurationUs,
    MailType,
    MomentText,
    Names,
    PointText,
    SizeBytes,
    shown,
    wrong,
)

RuleId = Annotated[str, Field(pattern=r"^[A-Z]{2,3}-\d+$")]


class Head(Part):
    """A scenario: an organization, and the steps that it lives through.

    topology: a file (relative to the scenario, or one of the examples) or the topology itself; settings: registry
    values for all servers that do not set them; rules: ids of the rules (docs/rules.md) that it tests; live: false if
    it needs the simulator.
    """

    title: str = Field(min_length=1)
    topology: str | dict[str, Any]
    settings: dict[str, Any] = Field(default_factory=dict)
    rules: tuple[RuleId, ...] = ()
    live: bool = True
    steps: tuple[Any, ...] = Field(min_length=1)


# --- users


class Post(Part):
    """A new message. `as` is the name by which later steps speak of it."""

    on: str
    folder: str
    subject: str
    body: str = ""
    attachment: SizeBytes | None = None
    sender: str = ""
    name: str | None = Field(None, alias="as")


class Posts(Part):
    """`count` new messages in one go; `{n}` in the subject is 1, 2, ...; `as: all` names them all-1, all-2, ... and
    together all."""

    on: str
    folder: str
    count: int = Field(ge=1, le=MAX_POSTS)
    subject: str = "Post {n}"
    body: str = ""
    attachment: SizeBytes | None = None
    sender: str = ""
    name: str | None = Field(None, alias="as")


class Mail(Part):
    """Ordinary mail from outside, handed to the server `on` by SMTP: to a folder's address, or to any (`to`).

    `id` is its Message-ID without brackets; without one each step makes its own. `refused: true`: the server must not
    take it.
    """

    exactly_one: ClassVar = ("folder", "address")

    on: str
    folder: str | None = None
    address: str | None = Field(None, alias="to")
    subject: str
    body: str = ""
    attachment: SizeBytes | None = None
    sender: str = Field("lee@outside.test", alias="from")
    id: str | None = None
    refused: bool = False


class Edit(Part):
    """A changed message. `as` names the new version, for `resolve` and for numbers."""

    at_least_one: ClassVar = ("subject", "body")

    on: str
    message: str
    subject: str | None = None
    body: str | None = None
    name: str | None = Field(None, alias="as")


class Delete(Part):
    on: str
    message: Names


class Resolve(Part):
    """A conflict ended: `keep` names an edit's `as`, a change number as shown (A-3), or all."""

    on: str
    message: str
    keep: str


class Folder(Part):
    """A change of the tree: create, change, rename, move or delete a folder."""

    exactly_one: ClassVar = ("create", "change", "rename", "move", "delete")

    on: str
    create: str | None = None
    change: str | None = None
    rename: str | None = None
    move: str | None = None
    delete: str | None = None
    to: str | None = Field(None, description="the new name, with rename")
    under: str | None = Field(None, description="the new parent's path, / for the top, with move")
    replicas: Names | None = None
    schedule: str | None = None
    contacts: Names | None = None
    priority: Literal["not urgent", "normal", "urgent"] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.rename is None) != (self.to is None):
            raise wrong("rename and to go together: {rename: Projects, to: Plans}")
        if (self.move is None) != (self.under is None):
            raise wrong("move and under go together: {move: Projects/Plans, under: Archive}")
        properties = (self.replicas, self.schedule, self.contacts, self.priority)
        given = any(each is not None for each in properties)
        if given and self.create is None and self.change is None:
            raise wrong("replicas, schedule, contacts and priority go with create or change only")
        if self.change is not None and not given:
            raise wrong("nothing is changed; give replicas, schedule, contacts or priority")
        return self


class Replica(Part):
    """Replicas added to or removed from a folder's list, on the store `on` (default: the first holder that runs)."""

    exactly_one: ClassVar = ("add", "remove")

    folder: str
    add: Names | None = None
    remove: Names | None = None
    on: str | None = None


class Settings(Part):
    """Registry values of a store, by their real names; read at the store's next start (SE-1)."""

    on: Names
    values: dict[str, int | str | bool | None] = Field(alias="set", min_length=1)


# --- faults


class Cut(Part):
    """Connections refused: between two servers or sites, one way (from, to), or over a connector."""

    exactly_one: ClassVar = ("between", "from_", "connector")

    between: Names | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    connector: str | None = None
    name: str | None = Field(None, alias="as")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.between is not None and len(self.between) != 2:
            raise wrong("between names two servers or sites: {between: [A, B]}")
        if (self.from_ is None) != (self.to is None):
            raise wrong("from and to go together: {from: A, to: B} cuts one way")
        return self


class MailFault(Part):
    """Mails on which a fault falls: those of a type from one store to another, the next `count` of them (default:
    all)."""

    from_: str | None = Field(None, alias="from")
    to: str | None = None
    type: MailType | None = None
    connector: str | None = Field(None, description="on this connector only, whoever is behind it")
    count: int | None = Field(None, ge=1)
    name: str | None = Field(None, alias="as")


class Lose(MailFault):
    """The receiving end answers 250 and throws the mail away."""


class Delay(MailFault):
    """The mail waits at its sender for `by`."""

    by: DurationUs


class Duplicate(MailFault):
    """The mail is sent twice."""


class Reorder(MailFault):
    """The next mail waits for `by` (default 20 min), so that later ones overtake it."""

    by: DurationUs | None = None


# --- waiting and expecting


class Mails(Part):
    """Replication mails sent. `to` is met when the store is among the recipients; `updates` is how many updates each
    packs."""

    type: MailType | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    folder: str | None = None
    updates: CountText | None = None
    marked: str | None = None
    count: CountText


class Events(Part):
    """Trace events, e.g. version.applied. `with` compares fields: exact text or number, `*` for any text, an `as` name
    for its object or number, a path for its folder; a list field is met by one of its items."""

    event: str
    on: str | None = None
    fields: dict[str, int | str | bool] = Field(default_factory=dict, alias="with")
    count: CountText


class Entry(Part):
    """An entry of the backfill array. `missing` is the whole set as shown (A-1..3), or `as` names it must contain."""

    missing: Names | None = None
    due: PointText | None = None
    attempts: int | None = None
    local: bool | None = None
    asked: Names | None = Field(default=None, description="the stores that a request is outstanding with")


class Row(Part):
    """A row of the replication state table. `has` is the set as shown, A-1..100 B-50, Setup's own numbers left out."""

    has: str | None = None
    last_sent: str | None = Field(None, alias="last sent")
    heard: PointText | Literal["never"] | None = None


class Tree(Part):
    """Folders that a store shows, or does not, by path."""

    at_least_one: ClassVar = ("has", "lacks")

    has: Names | None = None
    lacks: Names | None = None


def _none_or_entries(value: Any) -> Any:
    if value == "none":
        return []
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list):
        return value
    raise wrong(
        f"{shown(value)} is no array; write none or a list of entries: [{{missing: A-1, due: 2003-10-21T18:15Z}}]"
    )


def _some(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


_ENTRIES = Annotated[tuple[Entry, ...], BeforeValidator(_none_or_entries)]


class Condition(Part):
    """What can be expected, or waited for. Keys about a folder need `on` and `folder`; `on: all` means all holders."""

    asked: ClassVar[tuple[str, ...]] = (
        "has", "lacks", "shows", "conflict", "versions", "array", "state", "replicas", "tree", "logged",
        "converged", "mails", "events", "clock",
    )  # fmt: skip
    of_a_store: ClassVar[tuple[str, ...]] = (
        "has", "lacks", "shows", "conflict", "versions", "array", "state", "replicas", "tree", "logged",
    )  # fmt: skip
    of_a_folder: ClassVar[tuple[str, ...]] = ("has", "lacks", "shows", "conflict", "versions", "state", "replicas")

    on: Names | None = None
    folder: str | None = None
    has: Names | None = Field(None, description="messages the replica shows")
    lacks: Names | None = Field(None, description="messages the replica does not show")
    shows: dict[str, str] | None = Field(None, description="message -> the subject shown")
    conflict: Names | None = Field(None, description="exactly the messages in conflict, or none")
    versions: dict[str, int] | None = Field(None, description="message -> how many versions are kept")
    array: _ENTRIES | None = Field(None, description="all backfill entries of the store (of the folder), or none")
    state: dict[str, Row | Literal["none"]] | None = Field(None, description="store -> its row in the state table")
    replicas: Names | None = Field(None, description="the folder's replica list as this store knows it")
    tree: Tree | None = None
    logged: dict[int, int] | None = Field(None, description="event id -> how many entries the application log has")
    converged: Names | None = Field(None, description="folders whose holders agree and have what must exist, or all")
    mails: Annotated[tuple[Mails, ...], BeforeValidator(_some)] | None = None
    events: Annotated[tuple[Events, ...], BeforeValidator(_some)] | None = None
    since: str | None = Field(
        None, description="the checkpoint from which mails and events count; default: the beginning"
    )
    clock: PointText | None = Field(None, description="what the lab's clock shows, to the minute")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = self.model_fields_set
        for key in self.of_a_store:
            if key in given and self.on is None:
                raise wrong(f"{key} asks about a store; add on: the store's name, a list of names, or all")
        for key in self.of_a_folder:
            if key in given and self.folder is None:
                raise wrong(f"{key} asks about a folder; add folder: its path, or 1-1")
        if "since" in given and not given & {"mails", "events"}:
            raise wrong("since goes with mails or events")
        return self


class Expect(Condition):
    """What must hold now, or within a time."""

    at_least_one: ClassVar = Condition.asked

    within: DurationUs | None = None


class Until(Condition):
    """A wait for a mail's arrival, an event or a condition; fails at the end of `within`. `at` is the minute it must
    happen in."""

    mail: MailType | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    marked: str | None = None
    event: str | None = None
    fields: dict[str, int | str | bool] = Field(default_factory=dict, alias="with")
    within: DurationUs
    at: PointText | None = None

    @model_validator(mode="after")
    def _one_wish(self) -> Self:
        given = self.model_fields_set
        wishes: list[str] = [key for key in ("mail", "event") if key in given]
        wishes += ["a condition"] if given & set(self.asked) else []
        if not wishes:
            raise wrong("nothing to wait for; give mail, event, or a condition such as converged or has")
        if len(wishes) > 1:
            raise wrong(f"{' and '.join(wishes)} do not go together; wait for one, then for the other")
        if "mail" not in given and given & {"from_", "to", "marked"}:
            raise wrong("from, to and marked go with mail")
        if "event" not in given and "fields" in given:
            raise wrong("with goes with event")
        return self


class Backup(Part):
    """A copy of a running store's database, for a later `restore` that names it."""

    on: str
    name: str = Field(alias="as")


class Restore(Part):
    """The store starts on a backup of it; one that runs is killed first."""

    on: str
    backup: str


def _later(value: Any) -> Any:
    raise wrong("this verb is not there yet; quiz comes in a later version")


Later = Annotated[Any, BeforeValidator(_later), WithJsonSchema({"not": {}})]

VERBS: dict[str, Any] = {
    "say": str,
    "post": Post,
    "posts": Posts,
    "mail": Mail,
    "edit": Edit,
    "delete": Delete,
    "resolve": Resolve,
    "folder": Folder,
    "replica": Replica,
    "settings": Settings,
    "stop": Names,
    "start": Names,
    "kill": Names,
    "cut": Cut,
    "heal": Names,
    "lose": Lose,
    "delay": Delay,
    "duplicate": Duplicate,
    "reorder": Reorder,
    "smtp": Smtp,
    "hold": Hold,
    "checkpoint": str,
    "advance": MomentText,
    "until": Until,
    "expect": Expect,
    "backup": Backup,
    "restore": Restore,
    "quiz": Later,
}
