"""What a page highlights while a text is shown, with the ids that the events of the lab have."""

from __future__ import annotations

from typing import Any

from pflab.scenario.conditions import Mails
from pflab.scenario.event_matching import mail_fits
from pflab.scenario.lesson import Show, ShownMail
from pflab.scenario.session import Play
from traces.events import MailSubmitted


def highlight(show: Show, play: Play) -> dict[str, Any]:
    """Return `show` as JSON values, at this moment of the play.

    A message has its id (`object`), its folder and its change numbers so far, oldest first; it is None if the step that was to
    make it has failed. A mail has the id of the newest mail that fits, None if no mail does.
    """
    found: dict[str, Any] = {
        "view": show.view,
        "servers": list(show.server or ()),
        "connectors": list(show.connector or ()),
        "folder": show.folder,
        "table": show.table,
        "row": show.row,
        "message": None,
        "mail": None,
    }
    name = None if show.message is None else play.groups.get(show.message, (show.message,))[0]
    if name is not None and name in play.named:
        named = play.named[name]
        found["message"] = {
            "name": name,
            "folder": named.folder,
            "object": named.object,
            "numbers": list(named.numbers),
        }
    if show.mail is not None:
        found["mail"] = {"id": _mail(show.mail, play), **show.mail.model_dump(by_alias=True)}
    return found


def _mail(shown: ShownMail, play: Play) -> str | None:
    play.observe()
    wanted = Mails.model_validate({**shown.model_dump(), "count": "at least 1"})
    for event in reversed(play.log):
        if isinstance(event, MailSubmitted) and mail_fits(play, wanted, event):
            return event.mail
    return None
