"""The model of a scenario file: the arguments of each verb (docs/reference/scenarios.md), and its JSON Schema for editors.

A step is a mapping with one key, its verb. Each verb's model forbids unknown keys, so that a misspelt one is an error.
`pflab schema scenario` prints the schema.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from node.errors import Misuse
from pflab.faults.fault import Fault, MailType
from pflab.lab.outside_mail import check_addresses
from pflab.scenario.conditions import Expect, Until
from pflab.scenario.fault_steps import FAULT_VERBS, fault_schema
from pflab.scenario.lesson import Course, Narration, Quiz
from pflab.scenario.values import (
    MAX_LETTERS,
    MAX_POSTS,
    DurationUs,
    MomentText,
    Names,
    NamesOrNone,
    Part,
    SizeBytes,
    wrong,
)
from pflab.simulation.network import NetworkPolicy
from topology.arguments import (
    ConnectorFields,
    ConnectorWord,
    FolderFields,
    PolicyFields,
    PolicyFilterFields,
    Priority,
    ResolveMethod,
    ServerFields,
    VersionWord,
)
from topology.problems import quoted

_AREAS: Final = (
    "CN 9, HI 7, OUT 9, IN 5, RST 4, BF 9, ST 7, RP 9, CF 6, DL 5, DU 1, ML 8, RT 6, EV 1, SE 1, AD 2, TM 2, CV 3"
)
"""For each area of rules, the number of its rules; ids count from 1. An installed pflab has no docs/rules.yaml to read."""

RULE_IDS: Final = tuple(
    f"{area}-{number}"
    for area, most in (entry.split() for entry in _AREAS.split(", "))
    for number in range(1, int(most) + 1)
)


def _rule(rule: str) -> str:
    if rule not in RULE_IDS:
        raise wrong(f"{quoted(rule)} is not the id of a rule; write an id such as BF-3 (docs/reference/rules/)")
    return rule


RuleId = Annotated[str, AfterValidator(_rule)]


class Network(Part):
    """How the simulated network reorders mails at random (`shuffle`), and how long it delays them (`jitter`)."""

    shuffle: bool = False
    jitter: DurationUs | None = None

    def policy(self) -> NetworkPolicy:
        return NetworkPolicy(shuffle=self.shuffle, jitter_us=self.jitter or 0)


class Head(Part):
    """A scenario: an organization, and the steps to play.

    topology: a file (relative to the scenario, or one of the examples) or the topology itself.
    settings: registry values for all servers that do not set them.
    rules: ids of the rules (docs/reference/rules/) that the scenario tests.
    live: false if it needs the simulator.
    lesson: an explanation for learners.
    look: what a learner should look at.
    course: the place of a lesson in the course of pflab demo.
    breaks: ids of rules that the scenario breaks on purpose; with DU-1, the lab must lose an acknowledged change.
    missing: what happens to a step whose target does not exist or whose store refuses it: fail (default), or skip.
    seed: in the simulator, the seed that determines GUIDs, keys and the order of events.
    network: in the simulator, how the network reorders and delays mails at random.
    """

    title: str = Field(min_length=1)
    topology: str | dict[str, Any]
    settings: dict[str, Any] = Field(default_factory=dict)
    rules: tuple[RuleId, ...] = ()
    live: bool = True
    breaks: tuple[RuleId, ...] = ()
    lesson: str | None = Field(None, min_length=1)
    look: str | None = Field(None, min_length=1)
    course: Course | None = None
    missing: Literal["fail", "skip"] = "fail"
    seed: int | None = Field(None, ge=0)
    network: Network | None = None
    steps: tuple[Any, ...] = Field(min_length=1)


# --- users


class Post(Part):
    """A new message. `as` names it for later steps. With `associated: true` it is an associated message of the folder.

    `refused: true`: the store must refuse it.
    """

    on: str
    folder: str
    subject: str
    body: str = ""
    letters: int | None = Field(
        None, ge=0, le=MAX_LETTERS, description="repeat the body until it has this many letters"
    )
    attachment: SizeBytes | None = None
    sender: str = ""
    associated: bool = False
    refused: bool = False
    name: str | None = Field(None, alias="as")


class Posts(Part):
    """`count` new messages at once. `{n}` in the subject and the body is 1, 2, ...; `as: many` names them many-1, many-2, ...,
    and `many` names all of them."""

    on: str
    folder: str
    count: int = Field(ge=1, le=MAX_POSTS)
    subject: str = "Post {n}"
    body: str = ""
    letters: int | None = Field(
        None, ge=0, le=MAX_LETTERS, description="repeat the body until it has this many letters"
    )
    attachment: SizeBytes | None = None
    sender: str = ""
    associated: bool = False
    name: str | None = Field(None, alias="as")


class Mail(Part):
    """Ordinary mail from outside, sent to the server `on` by SMTP: to a folder's address, or to any address (`to`).

    `id` is its Message-ID without brackets (default: a new one for each step). `from: ""`: a notice of a mail server, which has
    the null sender.

    `refused: true`: the server must refuse it.
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

    @model_validator(mode="after")
    def _has_addresses(self) -> Self:
        try:
            check_addresses(self.sender, [] if self.address is None else [self.address])
        except Misuse as error:
            raise wrong(str(error)) from None
        return self


class Send(Part):
    """Mail from a folder's address to people or folders (`to`: addresses, or folders). The server `on` sends it."""

    on: str
    folder: str
    addresses: Names = Field(alias="to")
    subject: str
    body: str = ""
    attachment: SizeBytes | None = None


class Edit(Part):
    """An edit of a message. `as` names the new version, for `resolve`, `based_on` and numbers.

    `based_on` are the versions that its author opened: `as` names, or change numbers such as A-3. The edit is in conflict with
    all others that the store has.
    """

    at_least_one: ClassVar = ("subject", "body")

    on: str
    message: str
    subject: str | None = None
    body: str | None = None
    based_on: Names | None = Field(None, description="the versions that the author of the edit opened")
    name: str | None = Field(None, alias="as")


class Delete(Part):
    on: str
    message: Names


class Recover(Part):
    """Recover a deleted message or folder that a store still retains, on that store. `as` names the new message.

    `refused: true` requires that the store refuses it.
    """

    exactly_one: ClassVar = ("message", "folder")

    on: str
    message: str | None = None
    folder: str | None = None
    name: str | None = Field(None, alias="as")
    refused: bool = False


class Resolve(Part):
    """The resolution of a conflict. `keep` is the `as` name of an edit, a change number such as A-3, the version that the store
    shows (`shown`), the last one in its order (`last`), or all. `by` is the contact who decides.

    `refused: true` requires that the store refuses this person.
    """

    on: str
    message: str
    keep: str
    by: str | None = None
    refused: bool = False


class PartWithProperties(Part):
    """A step whose keys include properties of what it changes."""

    PROPERTIES: ClassVar[tuple[str, ...]] = ()
    """The keys that are properties."""

    def given(self) -> dict[str, Any]:
        """Return the properties that the step gives."""
        return {name: value for name in self.PROPERTIES if (value := getattr(self, name)) is not None}


class Folder(PartWithProperties):
    """A change of the tree: create, change, rename, move or delete a folder, or propagate its properties to all subfolders.

    A new folder's `as` names it for later steps, whatever its path is then. With `under`, `create` is only its name.
    """

    exactly_one: ClassVar = ("create", "change", "rename", "move", "delete", "propagate")
    PROPERTIES: ClassVar = tuple(FolderFields.__annotations__)

    on: str
    create: str | None = None
    change: str | None = None
    rename: str | None = None
    move: str | None = None
    delete: str | None = None
    propagate: str | None = None
    properties: Names | None = Field(None, description="with propagate: what the subfolders get, such as schedule")
    to: str | None = Field(None, description="the new name, with rename")
    under: str | None = Field(None, description="the parent's path, with create or move; / for the top")
    name: str | None = Field(None, alias="as")
    replicas: Names | None = None
    description: str | None = Field(None, description="what it is for")
    schedule: str | None = None
    contacts: NamesOrNone | None = None
    priority: Priority | None = None
    alias: str | None = Field(None, description="the part of its mail address before the @, none, or default")
    age_limit: str | None = Field(None, description="age at which messages expire, such as 30 d, or none")
    warning_limit: str | None = Field(
        None, description="size from which the contacts are warned, such as 8 MB, or none"
    )
    post_limit: str | None = Field(None, description="size from which it accepts no posts, such as 10 MB, or none")
    item_limit: str | None = Field(None, description="largest size of a new message, such as 300 KB, or none")
    resolve: ResolveMethod | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.rename is None) != (self.to is None):
            raise wrong('give both "rename" and "to", such as {rename: Projects, to: Plans}')
        if self.name is not None and self.create is None:
            raise wrong('"as" is allowed only together with "create"')
        if (self.move is None) != (self.under is None) and self.create is None:
            raise wrong('give both "move" and "under", such as {move: Projects/Plans, under: Archive}')
        if (self.propagate is None) != (self.properties is None):
            raise wrong('give both "propagate" and "properties", such as {propagate: Projects, properties: schedule}')
        properties = self.given()
        *others, last = (f'"{name}"' for name in self.PROPERTIES)
        if properties and self.create is None and self.change is None:
            raise wrong(f'{", ".join(others)} and {last} are allowed only together with "create" or "change"')
        if self.change is not None and not properties:
            raise wrong(f"no property is given; give {', '.join(others)} or {last}")
        return self


class Replica(Part):
    """Replicas added to or removed from a folder's list, on the store `on` (default: the first running holder).

    `refused: true`: the store must refuse it.
    """

    exactly_one: ClassVar = ("add", "remove")

    folder: str
    add: Names | None = None
    remove: Names | None = None
    on: str | None = None
    refused: bool = False


class Replicas(Part):
    """Replicas of a folder and all its subfolders (folder 1-1: of all folders), changed on the server `on`: `add` or `remove`
    servers, or `replace` a server `by` another.

    `refused: true`: the store must refuse it.
    """

    exactly_one: ClassVar = ("add", "remove", "replace")

    on: str
    folder: str
    add: Names | None = None
    remove: Names | None = None
    replace: str | None = None
    by: str | None = None
    refused: bool = False

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.replace is None) != (self.by is None):
            raise wrong('give both "replace" and "by", such as {on: A, folder: 1-1, replace: A, by: B}')
        return self


class Resend(Part):
    """Send Hierarchy (folder 1-1) or Send Contents: the servers `from` send the changes of the last days again, to the servers
    `to` (default: all other holders).

    `refused: true`: the stores must refuse it.
    """

    folder: str
    days: int = Field(ge=1)
    from_: Names = Field(alias="from")
    to: Names | None = None
    refused: bool = False


class Queue(Part):
    """An order of an administrator about mails that wait to be sent on the server `on`: the whole queue of a next hop, or the
    mails of a type (default: all mails).

    `refused: true`: the server must refuse it.
    """

    on: str
    order: Literal["freeze", "unfreeze", "delete", "return"]
    next_hop: str | None = None
    type: MailType | None = None
    refused: bool = False

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if self.next_hop is not None and self.type is not None:
            raise wrong('give "next_hop" for a whole queue, or "type" for some mails, not both')
        return self


class Synchronize(Part):
    """Synchronize Hierarchy (folder 1-1) or Synchronize Content: the servers `on` request the folder's status now.

    `refused: true`: the stores must refuse it.
    """

    folder: str
    on: Names
    refused: bool = False


class Settings(Part):
    """Registry values of a store, by their real names. The store reads them at its next start (SE-1)."""

    on: Names
    values: dict[str, int | str | bool | None] = Field(alias="set", min_length=1)


class Backup(Part):
    """A copy of a running store's database, which a later `restore` uses."""

    on: str
    name: str = Field(alias="as")


class Restore(Part):
    """The store starts from a backup; if it runs, it is killed first."""

    on: str
    backup: str


class Directory(Part):
    """A stopped store is deleted from the directory, on another store; with `stop: true` it is stopped first. Or a new store
    is created for a server whose store was deleted, and starts.

    `refused: true`: the lab must refuse it.
    """

    exactly_one: ClassVar = ("delete", "create")

    delete: str | None = None
    create: str | None = None
    on: str | None = None
    force: bool = False
    stop: bool = False
    refused: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.delete is not None and self.on is None:
            raise wrong('"delete" needs "on", the server on which the store is deleted')
        if self.create is not None and (self.on is not None or self.force or self.stop):
            raise wrong('"on", "force" and "stop" are allowed only together with "delete"')
        return self


class Connector(PartWithProperties):
    """A change of the organization: a connector between two sites is added, changed or removed (RT-6). The properties are those
    of a topology file, with the same words; in a change, none or an empty list takes a limit away.

    `refused: true`: the lab must refuse it.
    """

    exactly_one: ClassVar = ("add", "change", "remove")
    PROPERTIES: ClassVar = tuple(ConnectorFields.__annotations__)

    add: str | None = None
    change: str | None = None
    remove: str | None = None
    kind: ConnectorWord | None = None
    between: Names | None = Field(None, description="its two sites, with add")
    cost: int | None = None
    latency: str | None = Field(None, description="such as 2 s")
    bandwidth: str | None = Field(None, description="such as 64 kbit/s, or none")
    schedule: str | None = None
    affinity: int | str | None = Field(None, description="the cost of referrals, or none")
    size_limit: str | None = Field(None, description="such as 1 MB, or none")
    senders: NamesOrNone | None = Field(None, description="the addresses whose mail crosses, or none for all")
    bridgeheads: dict[str, str] | None = Field(None, description="the server at each end, by site")
    refused: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        properties = self.given()
        if self.remove is not None and properties:
            raise wrong(f'"{next(iter(properties))}" is allowed only together with "add" or "change"')
        if self.change is not None and not properties:
            raise wrong(f"no property is given; give one of {', '.join(self.PROPERTIES)}")
        if self.add is not None and self.between is None:
            raise wrong('"add" needs "between", such as {add: SEA-NYC, between: [SEA, NYC]}')
        return self

    def given(self) -> dict[str, Any]:
        """Return the properties that the step gives."""
        properties = super().given()
        if properties.get("senders") == ("none",):
            properties["senders"] = ()
        return {name: list(value) if isinstance(value, tuple) else value for name, value in properties.items()}


class Site(Part):
    """A change of the organization: a site without servers is added or removed (RT-6).

    `refused: true`: the lab must refuse it.
    """

    exactly_one: ClassVar = ("add", "remove")

    add: str | None = None
    remove: str | None = None
    refused: bool = False


class Server(Part):
    """A change of the organization: a server is added, or one without a store is removed (RT-6, RP-9). The store of a new
    server joins when a later step starts it.

    `refused: true`: the lab must refuse it.
    """

    exactly_one: ClassVar = ("add", "remove")

    add: str | None = None
    remove: str | None = None
    site: str | None = Field(None, description="not needed if there is one site only")
    version: VersionWord | None = Field(None, description="by default 2003")
    settings: dict[str, str | int | float | bool] | None = Field(None, description="by their real names")
    refused: bool = False

    def given(self) -> ServerFields:
        """Return the properties that the step gives."""
        return {"site": self.site, "version": self.version, "settings": self.settings}


class PolicyFilter(Part):
    """The stores to which a recipient policy applies: those of these sites, of these servers, and of these versions."""

    at_least_one: ClassVar = ("sites", "servers", "versions")

    sites: Names | None = None
    servers: Names | None = None
    versions: tuple[VersionWord, ...] | None = None

    def given(self) -> PolicyFilterFields:
        """Return the parts that the step gives."""
        return {"sites": self.sites or (), "servers": self.servers or (), "versions": self.versions or ()}


class RecipientPolicy(PartWithProperties):
    """A change of the recipient policies, or of their service (ML-1). A policy is added, changed or removed; or the recipient
    update service gets another interval, or the Default Policy another domain.

    `at_once: true`: the service gives all entries that wait their addresses now.
    `refused: true`: the lab must refuse it.
    """

    at_least_one: ClassVar = ("add", "change", "remove", "runs", "domain", "at_once")
    PROPERTIES: ClassVar = tuple(PolicyFields.__annotations__)

    add: str | None = Field(None, description="the name of a new policy")
    change: str | None = None
    remove: str | None = None
    domain: str | None = Field(None, description="the domain of the addresses; without a name, of the Default Policy")
    filter: PolicyFilter | None = Field(None, description="the stores to which the policy applies")
    priority: int | None = Field(None, description="1 is the highest; by default just above the Default Policy")
    runs: str | None = Field(None, description="how often the service runs: always, never, or for example 1 h")
    at_once: bool = False
    refused: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = [name for name in (self.add, self.change, self.remove) if name is not None]
        properties = self.given()
        if len(names) > 1:
            raise wrong('"add", "change" and "remove" cannot be used together')
        if names and (self.runs is not None or self.at_once):
            raise wrong('"runs" and "at_once" are about the service; write a step of their own')
        if not names and (self.filter is not None or self.priority is not None):
            raise wrong('"filter" and "priority" are allowed only together with "add" or "change"')
        if self.remove is not None and properties:
            raise wrong(f'"{next(iter(properties))}" is allowed only together with "add" or "change"')
        if self.change is not None and not properties:
            raise wrong(f"no property is given; give one of {', '.join(self.PROPERTIES)}")
        if self.add is not None and (self.domain is None or self.filter is None):
            raise wrong(
                '"add" needs "domain" and "filter", such as {add: London, domain: x.test, filter: {sites: [LON]}}'
            )
        return self

    def given(self) -> dict[str, Any]:
        """Return the properties that the step gives."""
        properties = super().given()
        return properties if self.filter is None else {**properties, "filter": self.filter.given()}


VERBS: dict[str, Any] = {
    "say": Narration,
    "post": Post,
    "posts": Posts,
    "mail": Mail,
    "send": Send,
    "edit": Edit,
    "delete": Delete,
    "recover": Recover,
    "resolve": Resolve,
    "folder": Folder,
    "replica": Replica,
    "replicas": Replicas,
    "resend": Resend,
    "synchronize": Synchronize,
    "queue": Queue,
    "settings": Settings,
    "stop": Names,
    "start": Names,
    "kill": Names,
    **FAULT_VERBS,
    "heal": Names,
    "recipient_policy": RecipientPolicy,
    "content": Literal["suspend", "resume"],
    "repair": Literal["all"],
    "checkpoint": str,
    "advance": MomentText,
    "until": Until,
    "expect": Expect,
    "backup": Backup,
    "restore": Restore,
    "directory": Directory,
    "site": Site,
    "server": Server,
    "connector": Connector,
    "quiz": Quiz,
    "reveal": Narration,
}

REFERENCE = "#/$defs/{model}"


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file."""
    definitions: dict[str, Any] = {}
    steps = [_step(verb, _part(kind, definitions)) for verb, kind in VERBS.items()]
    head = _part(Head, definitions)
    schema = definitions.pop(head["$ref"].rpartition("/")[2]) if "$ref" in head else head
    schema["properties"]["steps"] = {"type": "array", "minItems": 1, "items": {"oneOf": steps}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pflab scenario",
        "$defs": dict(sorted(definitions.items())),
    }


def _part(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, Fault):
        definitions[kind.__name__] = fault_schema(kind)
        return {"$ref": REFERENCE.format(model=kind.__name__)}
    schema = TypeAdapter(kind).json_schema(ref_template=REFERENCE)
    definitions.update(schema.pop("$defs", {}))
    name = schema.get("title")
    if schema.get("type") == "object" and name:
        definitions[name] = schema
        return {"$ref": REFERENCE.format(model=name)}
    return schema


def _step(verb: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {verb: value}, "required": [verb], "additionalProperties": False}
