"""The model of what a scenario expects and waits for: mails, events, and the contents and tables of stores."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pflab.scenario.values import BOUND, CountText, MailType, Names, Part, PointText, WithinText, shown, wrong


class Mails(Part):
    """How many replication mails were sent. `to` is one of the recipients; `updates` is the number of updates in each mail."""

    type: MailType | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    folder: str | None = None
    updates: CountText | None = None
    marked: str | None = None
    count: CountText


class Events(Part):
    """How many events of a type, such as version.applied, the trace has. `with` compares fields of the events with values: an
    exact text or number, `*` for any text, an `as` name for its object or change number, or a path for its folder. A list
    matches if one of its items matches."""

    event: str
    on: str | None = None
    fields: dict[str, int | str | bool] = Field(default_factory=dict, alias="with")
    count: CountText


class Entry(Part):
    """An entry of the backfill array. `missing` is its complete set, written as A-1..3, or `as` names that the set contains."""

    missing: Names | None = None
    due: PointText | None = None
    attempts: int | None = None
    local: bool | None = None
    asked: Names | None = Field(default=None, description="the stores that a request is outstanding with")


class Row(Part):
    """A row of the replication state table. `has` is its set, written as A-1..100 B-50, without the numbers of Setup."""

    has: str | None = None
    associated: str | None = Field(None, description="the set of the folder's associated messages, as shown")
    last_sent: str | None = Field(None, alias="last sent")
    heard: PointText | Literal["never"] | None = None


class Tree(Part):
    """Folders, by path, that a store shows or does not show."""

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
        f"{shown(value)} is not an array; write none or a list of entries: [{{missing: A-1, due: 2003-10-21T18:15Z}}]"
    )


def _some(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


SyncText = Literal["in sync", "behind", "locally modified", "not yet heard"]
"""The names of `node.views.SyncState`."""

_ENTRIES = Annotated[tuple[Entry, ...], BeforeValidator(_none_or_entries)]


class Condition(Part):
    """A condition to check or to wait for. Keys about a folder need `on` and `folder`; `on: all` means all holders."""

    asked: ClassVar[tuple[str, ...]] = (
        "has", "lacks", "shows", "conflict", "versions", "array", "state", "sync", "replicas", "tree", "logged",
        "converged", "unconverged", "equal", "settled", "mails", "events", "clock",
    )  # fmt: skip
    of_a_store: ClassVar[tuple[str, ...]] = (
        "has", "lacks", "shows", "conflict", "versions", "array", "state", "sync", "replicas", "tree", "logged",
    )  # fmt: skip
    of_a_folder: ClassVar[tuple[str, ...]] = (
        "has", "lacks", "shows", "conflict", "versions", "state", "sync", "replicas",
    )  # fmt: skip

    on: Names | None = None
    folder: str | None = None
    has: Names | None = Field(None, description="messages the replica shows")
    lacks: Names | None = Field(None, description="messages the replica does not show")
    shows: dict[str, str] | None = Field(None, description="message -> the subject shown")
    conflict: Names | None = Field(None, description="exactly the messages in conflict, or none")
    versions: dict[str, int] | None = Field(None, description="message -> how many versions are kept")
    array: _ENTRIES | None = Field(None, description="all backfill entries of the store (of the folder), or none")
    state: dict[str, Row | Literal["none"]] | None = Field(None, description="store -> its row in the state table")
    sync: dict[str, SyncText] | None = Field(None, description="store -> its replication status as `on` knows it")
    replicas: Names | None = Field(None, description="the folder's replica list as this store knows it")
    tree: Tree | None = None
    logged: dict[int, int] | None = Field(None, description="event id -> how many entries the application log has")
    converged: Names | None = Field(
        None, description="folders whose holders are equal and have what must exist, or all"
    )
    unconverged: Names | None = Field(None, description="folders that have not converged, or all")
    equal: Names | None = Field(
        None, description="folders whose holders have the same versions and numbers, right or wrong, or all"
    )
    settled: Literal[True] | None = Field(
        None, description="no row claims what its store lacks, and no store waits for what a running holder has"
    )
    mails: Annotated[tuple[Mails, ...], BeforeValidator(_some)] | None = None
    events: Annotated[tuple[Events, ...], BeforeValidator(_some)] | None = None
    since: str | None = Field(
        None, description="the checkpoint from which mails and events are counted; default: the start"
    )
    clock: PointText | None = Field(None, description="the lab time, to the minute")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        keys = self.model_fields_set
        for key in self.of_a_store:
            if key in keys and self.on is None:
                raise wrong(f'"{key}" needs a store; add "on" with the name of a store, a list of names, or all')
        for key in self.of_a_folder:
            if key in keys and self.folder is None:
                raise wrong(f'"{key}" needs a folder; add "folder" with its path, or with 1-1')
        if "since" in keys and not keys & {"mails", "events"}:
            raise wrong('"since" is allowed only together with "mails" or "events"')
        return self


class Expect(Condition):
    """A condition that must be true now or, with `within`, at some instant in this time."""

    at_least_one: ClassVar = Condition.asked

    within: WithinText | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        _check_bound(self, self.within)
        return self


class Until(Condition):
    """Wait until a mail arrives, an event happens or a condition is true. The step fails at the end of `within`. With `at`, it
    also fails if the wait ends in another minute."""

    mail: MailType | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    marked: str | None = None
    event: str | None = None
    fields: dict[str, int | str | bool] = Field(default_factory=dict, alias="with")
    within: WithinText
    at: PointText | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        keys = self.model_fields_set
        kinds: list[str] = [f'"{key}"' for key in ("mail", "event") if key in keys]
        kinds += ["a condition"] if keys & set(self.asked) else []
        if not kinds:
            raise wrong('nothing to wait for; give "mail", "event", or a condition such as "converged" or "has"')
        if len(kinds) > 1:
            raise wrong(f"{' and '.join(kinds)} cannot be used together; wait for one, then for the other")
        if "mail" not in keys and keys & {"from_", "to", "marked"}:
            raise wrong('"from", "to" and "marked" are allowed only together with "mail"')
        if "event" not in keys and "fields" in keys:
            raise wrong('"with" is allowed only together with "event"')
        _check_bound(self, self.within)
        return self


def _check_bound(condition: Condition, within: int | str | None) -> None:
    if within == BOUND and not condition.model_fields_set & {"converged", "settled"}:
        raise wrong('"within: bound" is allowed only together with "converged" or "settled"')
