"""Ordinary mail that arrives: mail to a folder's address becomes a post, mail to a person goes into the lab's mailbox.

Two rules prevent mail loops (spec: ML-7). Notices have the null sender, so nothing answers them. Mail from a folder has the
folder's address in `X-Loop` (`node.user_mail.letters`), and is never posted in that folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

from node.codec.items import Version, object_text
from node.errors import Misuse, OverLimit
from node.objects import local_changes
from node.state.context import Context
from node.state.folders import Folder
from traces.events import MailboxDelivered, MailNotPosted, MailPosted
from traces.labtime import DAY_US
from transport.envelope import LocalDelivery
from transport.errors import CodecError
from transport.mapi.properties import text_of
from transport.mapi.property_tags import PR_BODY, PR_SENDER_EMAIL_ADDRESS
from transport.mime.item_conversion import MailPost, post_of_mail
from transport.sql import Statement
from transport.stimulus import Stimulus

WAS_POSTED = Statement("SELECT 1 FROM posted WHERE fid = ? AND message_id = ? AND at > ?")
FORGET_POSTED = Statement("DELETE FROM posted WHERE at <= ?")
NOTE_POSTED = Statement("INSERT OR IGNORE INTO posted (fid, message_id, at) VALUES (?, ?, ?)")
INTO_MAILBOX = Statement(
    "INSERT INTO mailbox (at, recipient, sender, subject, body, content) VALUES (?, ?, ?, ?, ?, ?)"
)
FORGET_OLDEST_MAILS = Statement("DELETE FROM mailbox WHERE id <= (SELECT max(id) FROM mailbox) - ?")

REPEAT_US: Final = DAY_US
"""How long a Message-ID is not posted again in the same folder (spec: ML-5)."""

MAILBOX_KEPT: Final = 10_000
"""How many mails to people are kept. The oldest are deleted first."""

MAX_MAILBOX_TEXT: Final = 64 * 1024
"""How many characters of a mail's text the mailbox shows beside the mail."""

BEYOND_A_LIMIT: Final = "5.3.4"
"""The enhanced status code for a mail that is too large or too deeply nested (RFC 3463)."""

LOOP_FIELD: Final = "X-Loop"


def deliver(ctx: Context, s: Stimulus, delivery: LocalDelivery) -> None:
    """Deliver a mail to the folders and people among its recipients.

    A recipient that is neither is this store itself, and gets nothing here.
    """
    mails = [delivery]
    for mail in mails:
        failures: dict[str, str] = {}
        read_post = cache(partial(post_of_mail, mail.content))  # decoded once, for the first recipient that needs it
        for address in mail.recipients:
            if ctx.book.is_this_store(address):
                continue
            folder = ctx.book.folder_of(address)
            if folder is not None:
                if reason := _to_folder(ctx, s, folder, address, mail, read_post):
                    failures[address] = reason
            else:
                _into_mailbox(s, address, mail, read_post)
        if failures:
            mails += ctx.mta.bounce(s, mail, failures)  # a notice is never bounced, so this ends


def _to_folder(
    ctx: Context, s: Stimulus, folder: Folder, address: str, mail: LocalDelivery, read_post: Callable[[], MailPost]
) -> str:
    """Post a mail. Return why it is returned to its sender, or ''."""
    try:
        post = read_post()
        reason = _reason_to_skip(ctx, s, folder, address, post)
        object_id = "" if reason else object_text(local_changes.post_mail(ctx, s, folder, post).object)
    except OverLimit as error:
        _record_not_posted(s, folder, address, mail, str(error))
        return f"{error.status} {error}"
    except (CodecError, Misuse) as error:
        _record_not_posted(s, folder, address, mail, str(error))
        return f"{BEYOND_A_LIMIT} the mail cannot be posted: {error}"
    if reason:
        _record_not_posted(s, folder, address, mail, reason)
        return ""
    s.trace.record(
        MailPosted,
        mail=mail.message_id or None,
        folder=folder.text,
        object=object_id,
        sender=mail.sender,
        recipient=address,
    )
    note_posted(s, folder.fid, [post.message_id])
    return ""


def _reason_to_skip(ctx: Context, s: Stimulus, folder: Folder, address: str, post: MailPost) -> str:
    """Return why a mail is not posted although its sender gets no report, or ''."""
    if _was_sent_from(post, ctx.book.address_of(folder) or address):
        return "it went out from this folder"
    if post.message_id and _was_posted(s, folder.fid, post.message_id):
        return "its Message-ID was posted in this folder less than 24 hours ago"
    return ""


def _record_not_posted(s: Stimulus, folder: Folder, address: str, mail: LocalDelivery, reason: str) -> None:
    s.trace.record(
        MailNotPosted,
        mail=mail.message_id or None,
        folder=folder.text,
        sender=mail.sender,
        reason=reason,
        recipient=address,
    )


def _was_sent_from(post: MailPost, address: str) -> bool:
    loop = LOOP_FIELD.lower()
    return any(name.lower() == loop and value.casefold() == address.casefold() for name, value in post.fields)


def _was_posted(s: Stimulus, fid: int, message_id: str) -> bool:
    posts = s.conn.exec_driver_sql(WAS_POSTED, (fid, message_id, s.now - REPEAT_US))
    return posts.first() is not None


def note_posted(s: Stimulus, fid: int, message_ids: Sequence[str]) -> None:
    """Note the Message-IDs of posts in a folder, made here or replicated, so that they are not posted again (spec: ML-5)."""
    s.conn.exec_driver_sql(FORGET_POSTED, (s.now - REPEAT_US,))
    rows = [(fid, message_id, s.now) for message_id in message_ids if message_id]
    if rows:
        s.conn.exec_driver_sql(NOTE_POSTED, rows)


def note_replicated(s: Stimulus, fid: int, versions: Sequence[Version]) -> None:
    """Note the Message-IDs of replicated versions that were recently made from ordinary mail."""
    fresh = [
        version.message_id for version in versions if version.message_id and version.modified_at > s.now - REPEAT_US
    ]
    if fresh:
        note_posted(s, fid, fresh)


def _into_mailbox(s: Stimulus, recipient: str, mail: LocalDelivery, read_post: Callable[[], MailPost]) -> None:
    sender, subject, text = _mailbox_fields(mail, read_post)
    s.conn.exec_driver_sql(
        INTO_MAILBOX,
        (s.now, recipient, sender, subject, text, mail.content),
    )
    s.conn.exec_driver_sql(FORGET_OLDEST_MAILS, (MAILBOX_KEPT,))
    s.trace.record(
        MailboxDelivered,
        mail=mail.message_id or None,
        recipient=recipient,
        sender=mail.sender,
        subject=subject,
        size=len(mail.content),
    )


def _mailbox_fields(mail: LocalDelivery, read_post: Callable[[], MailPost]) -> tuple[str, str, str]:
    """Return sender, subject and text of a mail. If the mail is beyond a limit, use only its envelope."""
    try:
        post = read_post()
    except CodecError as error:
        return mail.sender, mail.subject, f"(This mail cannot be shown: {error})"
    return text_of(post.props, PR_SENDER_EMAIL_ADDRESS), post.subject, text_of(post.props, PR_BODY)[:MAX_MAILBOX_TEXT]
