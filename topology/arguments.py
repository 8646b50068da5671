"""The values that people give to a change of a store: the types of its arguments with their limits, and the properties of a
folder.

Each is declared here once. The methods of `node.store.node.Node` use these types, and HTTP takes them from the signatures. The
limits are metadata of msgspec.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypedDict

from msgspec import Meta

MOST_LETTERS: Final = 1_000
MOST_BODY_LETTERS: Final = 40 * 1024 * 1024
MOST_NAMES: Final = 1_000
MOST_POSTS: Final = 10_000
"""The largest number of messages in one batch."""

MOST_DAYS: Final = 36_500
"""The largest number of days whose changes can be sent again, and by which a request moves a clock: a hundred years."""

Line = Annotated[str, Meta(max_length=MOST_LETTERS)]
BodyText = Annotated[str, Meta(max_length=MOST_BODY_LETTERS)]
Names = Annotated[Sequence[Line], Meta(max_length=MOST_NAMES)]
SomeNames = Annotated[Sequence[Line], Meta(min_length=1, max_length=MOST_NAMES)]
Days = Annotated[int, Meta(ge=1, le=MOST_DAYS)]
SomeNumbers = Annotated[Sequence[int], Meta(min_length=1, max_length=MOST_NAMES)]
Files = Annotated[Sequence[tuple[str, bytes]], Meta(max_length=MOST_NAMES)]
"""The name and the content of each attached file."""

Priority = Literal["not urgent", "normal", "urgent"]
ResolveMethod = Literal["default", "last writer wins", "no notification"]


class FolderFields(TypedDict, total=False):
    """The properties of a folder as people give them, all as text. A missing property keeps its default or present value.

    description: what the folder is for; '' for none.
    alias: the local part of its mail address, none, or default.
    age_limit: for example 30 d, or none.
    warning_limit, post_limit and item_limit: storage limits, for example 10 MB, or none.
    schedule: in a change, default means the store's schedule.
    resolve: how its conflicts are resolved, and whether contacts are notified.
    """

    replicas: Names | None
    description: Line | None
    schedule: Line | None
    contacts: Names | None
    priority: Priority | None
    alias: Line | None
    age_limit: Line | None
    warning_limit: Line | None
    post_limit: Line | None
    item_limit: Line | None
    resolve: ResolveMethod | None


class FolderChanges(FolderFields, total=False):
    """The parts of a folder that can change: the properties, the name (`rename`) and the parent (`move_to`: a path, '' for the
    top)."""

    rename: Line | None
    move_to: Line | None
