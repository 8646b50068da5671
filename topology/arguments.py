"""The values that people give to a change of a store: the types of its arguments with their limits, and the properties of a
folder.

Each is declared here once. The methods of `node.store.node.Node` use these types, and HTTP takes them from the signatures. The
limits are metadata of msgspec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
ConnectorWord = Literal["routing-group", "x400", "direct", "smtp-relay"]
VersionWord = Literal["5.5", "2000", "2003", "2007"]


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


class ConnectorFields(TypedDict, total=False):
    """The properties of a connector as people give them, in the words of a topology file. A missing property keeps its default
    or present value.

    between: its two sites; only of a new connector.
    latency: for example 2 s.
    bandwidth: for example 64 kbit/s, or none.
    affinity: the cost of referrals, or none.
    size_limit: the size of the largest mail of a user that crosses, for example 1 MB, or none.
    senders: the addresses whose mail crosses; an empty list for all.
    bridgeheads: the server at each end, by site; in a change, those that are given.
    """

    kind: ConnectorWord | None
    between: Names | None
    cost: int | None
    latency: Line | None
    bandwidth: Line | None
    schedule: Line | None
    affinity: int | Line | None
    size_limit: Line | None
    senders: Names | None
    bridgeheads: Mapping[str, Line] | None


class PolicyFilterFields(TypedDict, total=False):
    """The filter of a recipient policy as people give it. A missing part means all."""

    sites: Names
    servers: Names
    versions: Sequence[VersionWord]


class PolicyFields(TypedDict, total=False):
    """The properties of a recipient policy as people give them. A missing property keeps its default or present value.

    domain: of the addresses that it gives.
    filter: the stores to which it applies, at least one part; it replaces the present filter.
    priority: 1 for the highest; a new policy comes before the Default Policy only.
    """

    domain: Line | None
    filter: PolicyFilterFields | None
    priority: int | None


class ServerFields(TypedDict, total=False):
    """The properties of a new server as people give them, in the words of a topology file.

    site: its site; not needed if the organization has one site only.
    version: by default 2003.
    settings: by their real names; they override those of the organization.
    smtp_port: the port on this machine at which mail programs reach it; by default a free one.
    """

    site: Line | None
    version: VersionWord | None
    settings: Mapping[str, str | int | float | bool] | None
    smtp_port: int | None
