"""Ordinary mail at a store: to a folder's address it becomes a post, to people it goes into the lab's mailbox.

And mail that the lab itself writes: notices to contacts, and what somebody sends from a folder's address. Two marks keep
mail from going round (spec: ML-7): notices have the null sender, which nothing answers, and whatever goes out from a folder
carries the folder's address in `X-Loop` and is never posted there again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from node.codec.items import Version
from node.errors import Misuse
from node.objects import local_changes
from node.seeded_ids import token_from
from node.state.context import Context
from node.state.folders import Folder
from traces.events import MailboxDelivered, MailNotPosted, MailPosted
from traces.labtime import DAY_US
from transport.envelope import LocalDelivery, OutgoingMail, Priority
from transport.errors import CodecError
from transport.mapi.properties import text_of
from transport.mapi.property_tags import PR_BODY, PR_SENDER_EMAIL_ADDRESS
from transport.mime.compose import Attached, NewMail, write_mail
from transport.mime.item_conversion import MailPost, post_of_mail
from transport.mta.non_delivery import NULL_SENDER
from transport.stimulus import Stimulus

REPEAT_US: Final = DAY_US
"""How long the same Message-ID to the same folder is the same post (spec: ML-5)."""

MAILBOX_KEPT: Final = 10_000
"""Mails to people that are kept; the oldest go first."""

MAX_MAILBOX_TEXT: Final = 64 * 1024
"""Characters of a mail's text that the mailbox shows beside the mail."""

MAX_ROUNDS: Final = 8
"""How often a delivery may make another one here: a returned mail's notice, and no more than that is ever needed."""

BEYOND_A_LIMIT: Final = "5.3.4"
"""The enhanced status code of a mail that is too large or too deep (RFC 3463)."""

LOOP_FIELD: Final = "X-Loop"


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail that the lab writes. `sender` is the address in From; `notice`: with the null sender, so nothing answers."""

    sender: str
    recipients: tuple[str, ...]
    subject: str
    text: str
    attached: tuple[Attached, ...] = ()
    notice: bool = True


# --- mail that came


def deliver(ctx: Context, s: Stimulus, delivery: LocalDelivery) -> bool:
    """Gives a mail to the folders and people among its recipients; True if this store's own address is another."""
    own = ctx.directory.address(ctx.name)
    assert own is not None, "a running store has joined the directory"
    rounds = [delivery]
    to_store = False
    for count, each in enumerate(rounds):
        failures: dict[str, str] = {}
        read = cache(partial(post_of_mail, each.content))  # when the first recipient needs it
        for address in each.recipients:
            if address.casefold() == own.casefold():
                to_store = to_store or count == 0
                continue
            folder = ctx.book.folder_of(address)
            if folder is None:
                _into_mailbox(s, address, each, read)
            elif reason := _to_folder(ctx, s, folder, address, each, read):
                failures[address] = reason
        if failures and count < MAX_ROUNDS:
            rounds += ctx.mta.bounce(s, each, failures)
    return to_store


def _to_folder(
    ctx: Context, s: Stimulus, folder: Folder, address: str, mail: LocalDelivery, read: Callable[[], MailPost]
) -> str:
    """Posts a mail; why it goes back to its sender, or ''."""
    try:
        post = read()
        silently = _why_not(ctx, s, folder, address, post)
        object_id = "" if silently else local_changes.post_mail(ctx, s, folder, post)
    except (CodecError, Misuse) as error:
        _tell(s, folder, mail, str(error))
        return f"{BEYOND_A_LIMIT} the mail cannot be posted: {error}"
    if silently:
        _tell(s, folder, mail, silently)
        return ""
    s.trace.record(MailPosted, mail=mail.message_id or None, folder=folder.text, object=object_id, sender=mail.sender)
    note_posted(s, folder.fid, [post.message_id])
    return ""


def _why_not(ctx: Context, s: Stimulus, folder: Folder, address: str, post: MailPost) -> str:
    """Why a mail is passed over without a word to its sender, or ''."""
    if _went_out_from(post, ctx.book.address_of(folder) or address):
        return "it went out from this folder"
    if post.message_id and _was_posted(s, folder.fid, post.message_id):
        return "its Message-ID was posted in this folder less than 24 hours ago"
    return ""


def _tell(s: Stimulus, folder: Folder, mail: LocalDelivery, reason: str) -> None:
    s.trace.record(MailNotPosted, mail=mail.message_id or None, folder=folder.text, sender=mail.sender, reason=reason)


def _went_out_from(post: MailPost, address: str) -> bool:
    loop = LOOP_FIELD.lower()
    return any(name.lower() == loop and value.casefold() == address.casefold() for name, value in post.fields)


def _was_posted(s: Stimulus, fid: int, message_id: str) -> bool:
    found = s.conn.exec_driver_sql(
        "SELECT 1 FROM posted WHERE fid = ? AND message_id = ? AND at > ?", (fid, message_id, s.now - REPEAT_US)
    )
    return found.first() is not None


def note_posted(s: Stimulus, fid: int, message_ids: Sequence[str]) -> None:
    """These mails are posts of the folder now, made here or come by replication (spec: ML-5)."""
    s.conn.exec_driver_sql("DELETE FROM posted WHERE at <= ?", (s.now - REPEAT_US,))
    rows = [(fid, each, s.now) for each in message_ids if each]
    if rows:
        s.conn.exec_driver_sql("INSERT OR IGNORE INTO posted (fid, message_id, at) VALUES (?, ?, ?)", rows)


def note_replicated(s: Stimulus, fid: int, versions: Sequence[Version]) -> None:
    """Of the versions that a mail brought, those made of ordinary mail not long ago."""
    fresh = [each.message_id for each in versions if each.message_id and each.modified_at > s.now - REPEAT_US]
    if fresh:
        note_posted(s, fid, fresh)


def _into_mailbox(s: Stimulus, recipient: str, mail: LocalDelivery, read: Callable[[], MailPost]) -> None:
    sender, subject, text = _as_people_see(mail, read)
    s.conn.exec_driver_sql(
        "INSERT INTO mailbox (at, recipient, sender, subject, body, content) VALUES (?, ?, ?, ?, ?, ?)",
        (s.now, recipient, sender, subject, text, mail.content),
    )
    s.conn.exec_driver_sql("DELETE FROM mailbox WHERE id <= (SELECT max(id) FROM mailbox) - ?", (MAILBOX_KEPT,))
    s.trace.record(
        MailboxDelivered,
        mail=mail.message_id or None,
        recipient=recipient,
        sender=mail.sender,
        subject=subject,
        size=len(mail.content),
    )


def _as_people_see(mail: LocalDelivery, read: Callable[[], MailPost]) -> tuple[str, str, str]:
    """Sender, subject and text of a mail; of one beyond a limit only what its envelope says."""
    try:
        post = read()
    except CodecError as error:
        return mail.sender, mail.subject, f"(This mail cannot be shown: {error})"
    return text_of(post.props, PR_SENDER_EMAIL_ADDRESS), post.subject, text_of(post.props, PR_BODY)[:MAX_MAILBOX_TEXT]


# --- mail that goes out


def send(ctx: Context, s: Stimulus, letter: Letter, *, loop: str | None = None) -> str:
    """Queues a mail of the lab's own, or delivers it here; its Message-ID. `loop`: the folder that it must not come back
    to. CodecError for a sender that is no address."""
    domain = letter.sender.rpartition("@")[2]
    token = token_from(ctx.seed, "letter", ctx.store.incarnation, s.trace.seq)
    message_id = f"{s.trace.seq}.{token}.letter@{ctx.name}.{domain}"
    marks = [("Auto-Submitted", "auto-generated")] if letter.notice else []
    content = write_mail(
        NewMail(
            message_id=message_id,
            sender=letter.sender,
            fallback_sender=letter.sender,
            recipients=letter.recipients,
            subject=letter.subject,
            date_at=s.now,
            text=letter.text,
            attached=letter.attached,
            extra=(*marks, *([(LOOP_FIELD, loop)] if loop else [])),
        )
    )
    envelope = NULL_SENDER if letter.notice else letter.sender
    mail = OutgoingMail(message_id, envelope, letter.recipients, content, Priority.NORMAL, letter.subject)
    for delivery in ctx.mta.submit(s, mail):
        deliver(ctx, s, delivery)
    return message_id


def send_from_folder(
    ctx: Context,
    s: Stimulus,
    path: str,
    *,
    to: Sequence[str],
    subject: str,
    body: str,
    attachments: Sequence[tuple[str, bytes]],
) -> str:
    """Mail in a folder's name; its Message-ID (spec: ML-5). Misuse for a folder without an address, or nobody to write
    to."""
    folder = ctx.folders.visible(path)
    sender = ctx.book.address_of(folder)
    if sender is None:
        raise Misuse(f"{folder.path} takes no mail and sends none; give it an alias first")
    unsound = [address for address in to if "@" not in address.strip("@")]
    if unsound or not to:
        raise Misuse(f"{', '.join(unsound) or 'nobody'} is no recipient; name addresses such as kim@contoso.test")
    files = tuple(Attached(name, "application/octet-stream", data) for name, data in attachments)
    letter = Letter(sender, tuple(dict.fromkeys(to)), subject, body, files, notice=False)
    return send(ctx, s, letter, loop=sender)


__all__ = [
    "Letter",
    "MailPost",
    "deliver",
    "note_posted",
    "note_replicated",
    "send",
    "send_from_folder",
]
