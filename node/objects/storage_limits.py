"""Storage limits of folders: which posts and edits of users a replica refuses (spec: AD-2).

The limits are properties of the folder. Each replica applies them to the messages that it has itself, so replicas can differ
for a while. Versions that arrive by replication are never refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from node.errors import OverLimit
from node.state.context import Context
from node.state.folders import Folder
from topology.quantities import format_size
from transport.sql import Connection, Statement
from transport.stimulus import Stimulus

SIZE_OF_FOLDER = Statement("SELECT sum(length(item)) FROM message WHERE fid = ? AND deleted = 0")

FULL = "5.2.2"
"""The enhanced status code for a mail to a full folder (RFC 3463)."""

TOO_LARGE = "5.2.3"
"""The enhanced status code for a mail that is larger than the folder's limit."""


def size_of(conn: Connection, fid: int) -> int:
    """Return the bytes of all messages of a folder here: all kept versions, and associated messages too."""
    size: int | None = conn.exec_driver_sql(SIZE_OF_FOLDER, (fid,)).scalar()
    return size or 0


def check_posts(ctx: Context, s: Stimulus, folder: Folder, sizes: Sequence[int]) -> None:
    """Raise OverLimit if the folder accepts no new messages of these sizes, posted in this order."""
    for size in sizes:
        check_size(ctx, folder, size)
    limit = folder.props.post_limit_bytes if folder.props is not None else None
    if limit is None or not ctx.config.profile.limits_posts:
        return
    before = size_of(s.conn, folder.fid) + sum(sizes[:-1])
    if before >= limit:
        raise OverLimit(
            f"{folder.path} has {before:,} bytes on {ctx.name}; a folder of {format_size(limit)} or more accepts no posts",
            folder=folder.text,
            status=FULL,
        )


def check_size(ctx: Context, folder: Folder, size: int) -> None:
    """Raise OverLimit if a message of a user is larger than the folder's item limit."""
    limit = folder.props.item_limit_bytes if folder.props is not None else None
    if limit is not None and size > limit and ctx.config.profile.limits_posts:
        raise OverLimit(
            f"the message has {size:,} bytes, and {folder.path} accepts messages of at most {format_size(limit)}",
            folder=folder.text,
            status=TOO_LARGE,
        )
