"""What the API takes: bodies of requests, checked, with their limits and an example each."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field

from node.views import Post

MOST_POSTS: Final = 10_000
"""Messages of one batch."""

MOST_NAMES: Final = 1_000
MOST_LETTERS: Final = 1_000
MOST_BODY_LETTERS: Final = 40 * 1024 * 1024

Line = Annotated[str, Field(max_length=MOST_LETTERS)]
Names = Annotated[list[Line], Field(max_length=MOST_NAMES)]
Priority = Literal["not urgent", "normal", "urgent"]
ResolveMethod = Literal["default", "last writer wins", "no notification"]


class Body(BaseModel):
    """A request's body: nothing unknown in it."""

    model_config = ConfigDict(extra="forbid")


class Attachment(Body):
    """A file of a message; its content in base64."""

    name: Line
    content: Base64Bytes


class NewMessage(Body):
    """What is posted."""

    subject: Line
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] = ""
    sender: Line = ""
    attachments: Annotated[list[Attachment], Field(max_length=MOST_NAMES)] = []

    def as_post(self) -> Post:
        files = tuple((each.name, each.content) for each in self.attachments)
        return Post(self.subject, self.body, self.sender, files)


class PostOne(NewMessage):
    """A message for a folder."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "subject": "Hello", "body": "from A"}}
    )
    folder: Line
    associated: bool = False


class PostMany(Body):
    """Messages for a folder, posted in one transaction: all or none."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"folder": "Projects", "messages": [{"subject": "One"}, {"subject": "Two"}]}}
    )
    folder: Line
    messages: Annotated[list[NewMessage], Field(min_length=1, max_length=MOST_POSTS)]


class Edit(Body):
    """What is new in a message; what is not given stays."""

    model_config = ConfigDict(json_schema_extra={"example": {"subject": "Hello again"}})
    subject: Line | None = None
    body: Annotated[str, Field(max_length=MOST_BODY_LETTERS)] | None = None


class Resolve(Body):
    """The end of a conflict: the change of the version to keep, or `all`."""

    model_config = ConfigDict(json_schema_extra={"example": {"keep": "all"}})
    keep: Line


class FolderProperties(Body):
    """Properties of a folder; what is not given stays, or is as by default. `alias`: the local part of its mail
    address; `age_limit`: as 30 d, or none; `resolve`: what of its conflicts is shown and told."""

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
    """What becomes of a folder; `move_to` is the path of its new parent, '' for the top."""

    model_config = ConfigDict(json_schema_extra={"example": {"replicas": ["A", "B", "C"]}})
    rename: Line | None = None
    move_to: Line | None = None
