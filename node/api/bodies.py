"""The bodies of requests, with their limits and examples; pydantic checks them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Base64Bytes, BaseModel, ConfigDict, Field

from node.views import Post
from traces.labtime import checked_rate

MOST_POSTS: Final = 10_000
"""The most messages in one batch."""

MOST_NAMES: Final = 1_000
MOST_LETTERS: Final = 1_000
MOST_BODY_LETTERS: Final = 40 * 1024 * 1024

Rate = Annotated[float, AfterValidator(checked_rate)]
"""The rate of a clock."""

Line = Annotated[str, Field(max_length=MOST_LETTERS)]
Names = Annotated[list[Line], Field(max_length=MOST_NAMES)]
Priority = Literal["not urgent", "normal", "urgent"]
ResolveMethod = Literal["default", "last writer wins", "no notification"]


class Body(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Attachment(Body):
    """A file attached to a message; its content is in base64."""

    name: Line
    content: Base64Bytes


class NewMessage(Body):
    """A message to post."""

    subject: Line
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] = ""
    sender: Line = ""
    attachments: Annotated[list[Attachment], Field(max_length=MOST_NAMES)] = []

    def as_post(self) -> Post:
        files = tuple((each.name, each.content) for each in self.attachments)
        return Post(self.subject, self.body, self.sender, files)


class PostOne(NewMessage):
    """A message to post into a folder."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "subject": "Hello", "body": "from A"}}
    )
    folder: Line
    associated: bool = False


class PostMany(Body):
    """Messages to post into a folder in one transaction: all of them or none."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "messages": [{"subject": "One"}, {"subject": "Two"}]}}
    )
    folder: Line
    messages: Annotated[list[NewMessage], Field(min_length=1, max_length=MOST_POSTS)]


class Edit(Body):
    """Changes of a message; a field that is missing stays as it is."""

    model_config = ConfigDict(json_schema_extra={"example": {"subject": "Hello again"}})
    subject: Line | None = None
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] | None = None


class Resolve(Body):
    """Which version of a conflict to keep: its change number, or `all`."""

    model_config = ConfigDict(json_schema_extra={"example": {"keep": "all"}})
    keep: Line


class FolderProperties(Body):
    """Properties of a folder; one that is missing stays as it is, or gets its default in a new folder.

    alias: the local part of its mail address. age_limit: for example 30 d, or none. resolve: how its conflicts are resolved,
    and whether contacts are notified.
    """

    replicas: Names | None = None
    schedule: Line | None = None
    contacts: Names | None = None
    priority: Priority | None = None
    alias: Line | None = None
    age_limit: Line | None = None
    resolve: ResolveMethod | None = None

    def given(self) -> dict[str, Any]:
        return {name: value for name, value in self.model_dump().items() if value is not None}


class NewFolder(FolderProperties):
    """A new folder."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"path": "Projects/2003", "replicas": ["A", "B"], "schedule": "every 1 h"}}
    )
    path: Line


class FolderChange(FolderProperties):
    """Changes of a folder. move_to: the path of its new parent; '' for the root."""

    model_config = ConfigDict(json_schema_extra={"example": {"replicas": ["A", "B", "C"]}})
    rename: Line | None = None
    move_to: Line | None = None
