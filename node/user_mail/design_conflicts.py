"""Notices to a folder's contacts about lost changes of its design: name, place, replica list, limits (spec: HI-5).

If two stores change one folder concurrently, one version wins and the other is lost on every store. The home store of the
folder tells the contacts what is lost, when it has both versions; each store gets both, so one notice is enough. A folder that
was deleted has no notice: nobody would make the change again. The application log of each store has an entry (spec: EV-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from node.codec.items import FolderProperties
from node.objects.apply_versions import Applied
from node.state import application_log, application_log_texts
from node.state.context import Context
from node.tracking.change_number import named
from node.user_mail.conflict_notices import contacts_to_notify, send_notice
from transport.stimulus import Stimulus

LOGGED: Final = 20003
"""The entry of a conflict in the application log."""

_DESIGN = tuple(field.name for field in fields(FolderProperties) if field.name not in {"added_at", "created", "parent"})


def notify_of_lost_designs(ctx: Context, s: Stimulus, applied: Applied) -> None:
    """Log the folder versions of a mail that lost. Send the notices about them, if this is the home store of their folders."""
    for loser in applied.lost_designs:
        folder = ctx.folders.get(loser.object)
        if folder is None or folder.props is None:
            continue
        place = application_log_texts.folder_values(ctx, s.conn, folder.text)
        numbers = {"winner": named(folder.number, ctx.store.store_of), "lost": named(loser.number, ctx.store.store_of)}
        application_log.write(ctx.config, s.conn, s.now, LOGGED, {**place, **numbers})
        if folder.home != ctx.name or not folder.props.notifies_conflicts:
            continue
        contacts = contacts_to_notify(ctx, folder, folder.props.contacts)
        if not contacts:
            continue
        changes = "\n".join(_differences(folder.props, loser.props))
        text = (
            "The folder was changed on two servers at the same time. "
            f"The change {numbers['winner']} is in force, and the change {numbers['lost']} is lost:\n\n{changes}\n\n"
            "If the lost change is still wanted, make it again."
        )
        send_notice(ctx, s, folder, contacts, f"Design conflict in {folder.path}", text)


def _differences(winner: FolderProperties, loser: FolderProperties) -> Iterator[str]:
    """Yield a line for each property that differs."""
    for name in _DESIGN:
        now, was = getattr(winner, name), getattr(loser, name)
        if now != was:
            yield f"- {name.replace('_', ' ')}: {_shown(was)} is lost, {_shown(now)} is in force"
    if winner.parent != loser.parent:
        yield "- the folder in which it is"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
