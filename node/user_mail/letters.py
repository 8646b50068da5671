"""Mail that a store writes itself: notices to people, and mail from a folder's address (spec: ML-5, ML-7).

A notice has the null sender, so nothing answers it. Mail from a folder has the folder's address in `X-Loop`, and is never
posted in that folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from node.errors import Misuse
from node.seeded_ids import token_from
from node.state.context import Context
from node.user_mail.deliveries import LOOP_FIELD, deliver
from transport.envelope import OutgoingMail, Priority
from transport.mime.compose import Attached, NewMail, write_mail
from transport.mta.non_delivery import NULL_SENDER
from transport.stimulus import Stimulus


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail that the lab writes. `sender` is the address in From.

    `notice`: it has the null sender, so nothing answers it.
    """

    sender: str
    recipients: tuple[str, ...]
    subject: str
    text: str
    attached: tuple[Attached, ...] = ()
    notice: bool = True


def send(ctx: Context, s: Stimulus, letter: Letter, *, loop: str | None = None) -> str:
    """Queue a mail that the lab writes, or deliver it here, and return its Message-ID.

    `loop`: the address of the folder that must not post it.

    Raise CodecError if the sender is not an address.
    """
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
    """Send a mail from a folder's address and return its Message-ID (spec: ML-5).

    Raise Misuse if the folder has no address, or a recipient is missing or not an address.
    """
    folder = ctx.folders.visible(path)
    sender = ctx.book.address_of(folder)
    if sender is None:
        raise Misuse(f"{folder.path} has no address, so it cannot send mail; give it an alias first")
    unsound = [address for address in to if "@" not in address.strip("@")]
    if unsound or not to:
        wrong = f"not a mail address: {', '.join(unsound)}" if unsound else "the mail has no recipient"
        raise Misuse(f"{wrong}; write addresses such as kim@contoso.test")
    files = tuple(Attached(name, "application/octet-stream", data) for name, data in attachments)
    letter = Letter(sender, tuple(dict.fromkeys(to)), subject, body, files, notice=False)
    return send(ctx, s, letter, loop=sender)
