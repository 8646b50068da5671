"""Warnings to the contacts of a folder that has reached its warning limit (spec: AD-2).

The folder's home store looks at midnight, and sends a warning each day until the folder is smaller again. The timer runs only
while a folder with a warning limit has its home here.
"""

from __future__ import annotations

from node.objects.storage_limits import size_of
from node.state.context import Context
from node.state.folders import Folder
from node.state.timers import Timer, set_timer_if_none
from node.user_mail.conflict_notices import contacts_to_notify, send_notice
from topology.quantities import format_size
from traces.labtime import DAY_US
from transport.stimulus import Stimulus


def _limited(ctx: Context) -> list[tuple[Folder, int]]:
    """Return the folders whose home is this store and that have a warning limit, with the limit in bytes."""
    return [
        (folder, folder.props.warning_limit_bytes)
        for folder in ctx.folders.all()
        if folder.home == ctx.name
        and not folder.hidden
        and folder.props is not None
        and folder.props.warning_limit_bytes is not None
    ]


def plan(ctx: Context, s: Stimulus) -> None:
    """Set the timer for the next midnight, if a folder needs it."""
    if _limited(ctx):
        set_timer_if_none(s.conn, Timer.LIMITS, 0, s.now - s.now % DAY_US + DAY_US)


def send(ctx: Context, s: Stimulus) -> None:
    """Warn the contacts of all folders that have reached their warning limit."""
    for folder, limit in _limited(ctx):
        assert folder.props is not None, "it has a limit"
        size = size_of(s.conn, folder.fid)
        contacts = contacts_to_notify(ctx, folder, folder.props.contacts)
        if size >= limit and contacts:
            text = f"The folder {folder.path} has {size:,} bytes. A warning is sent from {format_size(limit)} on."
            if folder.props.post_limit_bytes is not None:
                text += f"\n\nIt accepts no posts when it has {format_size(folder.props.post_limit_bytes)} or more."
            send_notice(ctx, s, folder, contacts, f"{folder.path} has reached its storage limit", text)
    plan(ctx, s)
