"""The functions that carry out the verbs of a scenario. `until` and `expect` are in `pflab.scenario.waits`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from node.errors import FolderUnknown, MailRefused, MessageUnknown, Misuse, NodeError, NotAContact, OverLimit
from node.views import Post
from pflab.lab.outside_mail import OUTSIDE_HOST
from pflab.scenario import model
from pflab.scenario.fault_steps import FAULT_VERBS, FaultStep
from pflab.scenario.lesson import Narration, Quiz
from pflab.scenario.session import Named, Play, StepFailed
from pflab.scenario.values import Moment
from pflab.scenario.waits import expect, until
from pflab.terms.number_sets import parse_named
from pflab.terms.verdict import join_names
from traces.labtime import format_instant
from transport.mime.compose import Attached, NewMail, write_mail

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.lab.remote_node import RemoteNode

ATTACHMENT_NAME = "attachment.bin"

NOTICE_FROM = f"MAILER-DAEMON@{OUTSIDE_HOST}"
"""The address in From of a notice of a mail server, which has no sender in its envelope."""

Verb = Callable[[Play, Any], Awaitable[None]]


def attachment(size: int | None) -> tuple[tuple[str, bytes], ...]:
    """Return one attachment of `size` bytes, or none for None. The bytes are always the same, so that a run can be repeated."""
    if size is None:
        return ()
    pattern = bytes(range(256))
    return ((ATTACHMENT_NAME, (pattern * (size // 256 + 1))[:size]),)


async def _say(play: Play, words: Narration | Quiz) -> None:
    """Do nothing: the runner's `StepWatcher` shows texts, questions and answers."""


async def _post(play: Play, step: model.Post) -> None:
    files = attachment(step.attachment)
    try:
        made = await play.lab.do(
            step.on,
            lambda node, now: node.post(
                now,
                step.folder,
                subject=step.subject,
                body=step.body,
                sender=step.sender,
                attachments=files,
                associated=step.associated,
            ),
        )
    except OverLimit:
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{step.on} to refuse the post {step.subject}"], ["it accepts it"])
    if step.name:
        play.remember(step.name, step.folder, made.id)


async def _posts(play: Play, step: model.Posts) -> None:
    files = attachment(step.attachment)
    numbered = range(1, step.count + 1)
    posts = [Post(step.subject.replace("{n}", str(n)), step.body, step.sender, files) for n in numbered]
    made = await play.lab.do(step.on, lambda node, now: node.post_batch(now, step.folder, posts))
    if step.name:
        names = tuple(f"{step.name}-{n}" for n in numbered)
        for name, object_ in zip(names, made.ids, strict=True):
            play.remember(name, step.folder, object_)
        play.groups[step.name] = names


async def _mail(play: Play, step: model.Mail) -> None:
    to = step.address or _address(play, step.on, step.folder or "")
    play.outside_mails += 1
    content = write_mail(
        NewMail(
            message_id=step.id or f"mail-{play.outside_mails}@outside.test",
            sender=step.sender or NOTICE_FROM,
            fallback_sender=step.sender or NOTICE_FROM,
            recipients=(to,),
            subject=step.subject,
            date_at=play.lab.now,
            text=step.body,
            attached=tuple(
                Attached(name, "application/octet-stream", data) for name, data in attachment(step.attachment)
            ),
        )
    )
    try:
        await play.lab.mail(step.on, step.sender, [to], content)
    except MailRefused as error:
        if not step.refused:
            raise StepFailed([f"{step.on} to accept mail for {to}"], [f"it answers {error}"]) from error
        return
    if step.refused:
        raise StepFailed([f"{step.on} to refuse mail for {to}"], ["it accepts it"])


async def _send(play: Play, step: model.Send) -> None:
    files = attachment(step.attachment)
    await play.lab.do(
        step.on,
        lambda node, now: node.send_mail(
            now, step.folder, to=step.addresses, subject=step.subject, body=step.body, attachments=files
        ),
    )


def _address(play: Play, store: str, path: str) -> str:
    views = [view for view in play.lab.read(store, lambda node: node.folders()) if view.path == path]
    if not views or views[0].address is None:
        raise StepFailed([f"{store} to know a mail address of {path}"], ["it knows none"])
    return views[0].address


async def _edit(play: Play, step: model.Edit) -> None:
    message = play.message(step.message)
    made = await play.lab.do(
        step.on,
        lambda node, now: node.edit(now, message.folder, message.object, subject=step.subject, body=step.body),
    )
    if step.name:
        play.named[step.name] = Named(message.folder, message.object, [made.change])


async def _delete(play: Play, step: model.Delete) -> None:
    for _, message in play.messages(step.message):
        await _delete_one(play, step.on, message)


async def _delete_one(play: Play, store: str, message: Named) -> None:
    await play.lab.do(store, lambda node, now: node.delete(now, message.folder, message.object))


async def _recover(play: Play, step: model.Recover) -> None:
    message = play.message(step.message) if step.message is not None else None

    def act(node: Node | RemoteNode, now: int) -> str:
        if message is None:
            assert step.folder is not None, "the step names a message or a folder"
            return node.recover_folder(now, step.folder).id
        return node.recover(now, message.folder, message.object).id

    try:
        made = await play.lab.do(step.on, act)
    except (MessageUnknown, FolderUnknown):
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{step.on} to refuse to recover {step.message or step.folder}"], ["it recovers it"])
    if step.name and message is not None:
        play.remember(step.name, message.folder, made)


async def _resolve(play: Play, step: model.Resolve) -> None:
    message = play.message(step.message)
    keep = step.keep
    if keep in play.named:
        keep = play.named[keep].numbers[-1]
    elif keep != "all":
        keep = _number_shown(play, message, keep)
    try:
        await play.lab.do(step.on, lambda node, now: node.resolve(now, message.folder, message.object, keep, step.by))
    except NotAContact:
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{step.on} to refuse a resolution by {step.by}"], ["it accepts it"])


def _number_shown(play: Play, message: Named, shown: str) -> str:
    try:
        parse_named(shown)
    except ValueError as error:
        raise StepFailed([f"a version to keep, not {shown!r}"], [str(error)]) from None
    known = play.oracle.history(play.names.folder_id(message.folder) or "", message.object).changes
    for number in known:
        if play.names.number(number) == shown:
            return number
    raise StepFailed([f"a version {shown} to keep"], [f"its versions are {', '.join(map(play.names.number, known))}"])


async def _folder(play: Play, step: model.Folder) -> None:
    await play.lab.do(step.on, lambda node, now: _change_tree(node, now, step))


def _change_tree(node: Any, now: int, step: model.Folder) -> None:
    given = step.given()
    if step.create is not None:
        node.create_folder(now, step.create, **given)
    elif step.change is not None:
        node.change_folder(now, step.change, **given)
    elif step.rename is not None:
        node.change_folder(now, step.rename, rename=step.to)
    elif step.move is not None:
        node.change_folder(now, step.move, move_to="" if step.under == "/" else step.under)
    elif step.propagate is not None:
        node.propagate(now, step.propagate, step.properties or ())
    else:
        node.delete_folder(now, step.delete)


async def _replica(play: Play, step: model.Replica) -> None:
    on = step.on or next((name for name in play.holders(step.folder) if play.lab.running(name)), None)
    if on is None:
        raise StepFailed([f"a running holder of {step.folder}"], ["all are stopped; name a store, such as on: A"])
    views = [view for view in play.lab.read(on, lambda node: node.folders()) if view.path == step.folder]
    if not views:
        raise StepFailed([f"{on} to know the folder {step.folder}"], ["it does not know it"])
    listed = [name for name in views[0].replicas if name not in (step.remove or ())]
    listed += [name for name in step.add or () if name not in listed]
    try:
        await play.lab.do(on, lambda node, now: node.change_folder(now, step.folder, replicas=listed))
    except Misuse:
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{on} to refuse {join_names(listed)} as the replicas of {step.folder}"], ["it accepts them"])


async def _replicas(play: Play, step: model.Replicas) -> None:
    await _order(
        play,
        step.on,
        lambda node, now: node.change_replicas(
            now, step.folder, add=step.add, remove=step.remove, replace=step.replace, by=step.by
        ),
        refused=step.refused,
    )


async def _resend(play: Play, step: model.Resend) -> None:
    for name in step.from_:
        await _order(
            play,
            name,
            lambda node, now: node.send_again(now, step.folder, days=step.days, to=step.to),
            refused=step.refused,
        )


async def _synchronize(play: Play, step: model.Synchronize) -> None:
    for name in step.on:
        await _order(play, name, lambda node, now: node.synchronize(now, step.folder), refused=step.refused)


async def _order(play: Play, name: str, order: Callable[[Any, int], object], *, refused: bool) -> None:
    try:
        await play.lab.do(name, order)
    except NodeError:
        if not refused:
            raise
        return
    if refused:
        raise StepFailed([f"{name} to refuse the order"], ["it carries it out"])


async def _settings(play: Play, step: model.Settings) -> None:
    for name in step.on:
        await play.lab.configure(name, step.values)


async def _stop(play: Play, names: tuple[str, ...]) -> None:
    for name in names:
        await play.lab.stop(name)


async def _start(play: Play, names: tuple[str, ...]) -> None:
    for name in names:
        await play.lab.start(name)


async def _kill(play: Play, names: tuple[str, ...]) -> None:
    for name in names:
        await play.lab.kill(name)


async def _backup(play: Play, step: model.Backup) -> None:
    play.backups[step.name] = await play.lab.backup(step.on)


async def _restore(play: Play, step: model.Restore) -> None:
    await play.lab.restore(step.on, play.backups[step.backup])


async def _directory(play: Play, step: model.Directory) -> None:
    try:
        await play.lab.delete_store(step.delete, on=step.on, force=step.force)
    except Misuse:
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"the deletion of {step.delete} to be refused"], ["it was not"])


async def _recipient_policy(play: Play, step: model.RecipientPolicy) -> None:
    await play.lab.set_recipient_policy(recipient_update=step.runs, domain=step.domain, at_once=step.at_once)


# --- faults


async def _inject(play: Play, step: FaultStep) -> None:
    fault = play.lab.faults.inject(step.fault)
    if step.name:
        play.faults[step.name] = fault


async def _heal(play: Play, names: tuple[str, ...]) -> None:
    for name in names:
        fault = None if name == "all" else play.faults[name]
        # A fault with a count ends when it has acted that many times.
        if fault is None or fault in [each.id for each in play.lab.faults.active()]:
            play.lab.faults.heal(fault)


# --- time


async def _checkpoint(play: Play, name: str) -> None:
    play.observe()
    play.checkpoints[name] = len(play.log)


async def _advance(play: Play, moment: Moment) -> None:
    to_at = moment.resolve(play.lab.now)
    if to_at < play.lab.now:
        now = format_instant(play.lab.now)
        raise StepFailed(
            [f"to advance to {format_instant(to_at)}"], [f"the lab's clock already shows {now} and cannot go back"]
        )
    await play.lab.advance(to_at)
    play.look_from_here()


STEPS: Mapping[str, Verb] = {
    "say": _say,
    "directory": _directory,
    "quiz": _say,
    "reveal": _say,
    "post": _post,
    "posts": _posts,
    "mail": _mail,
    "send": _send,
    "edit": _edit,
    "delete": _delete,
    "recover": _recover,
    "resolve": _resolve,
    "folder": _folder,
    "replica": _replica,
    "replicas": _replicas,
    "resend": _resend,
    "synchronize": _synchronize,
    "settings": _settings,
    "stop": _stop,
    "start": _start,
    "kill": _kill,
    "backup": _backup,
    "restore": _restore,
    **dict.fromkeys(FAULT_VERBS, _inject),
    "heal": _heal,
    "recipient_policy": _recipient_policy,
    "checkpoint": _checkpoint,
    "advance": _advance,
    "until": until,
    "expect": expect,
}
"""For each verb of `pflab.scenario.model.VERBS`, the function that carries it out."""
