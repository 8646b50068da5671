"""The functions that carry out the verbs of a scenario. `until` and `expect` are in `pflab.scenario.waits`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from node.errors import Crashed, FolderUnknown, MailRefused, MessageUnknown, Misuse, NodeError, NotAContact, OverLimit
from node.views import Made, Post
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES
from pflab.lab.outside_mail import OUTSIDE_HOST
from pflab.scenario import model
from pflab.scenario.fault_steps import FAULT_VERBS, FaultStep
from pflab.scenario.lesson import Narration, Quiz
from pflab.scenario.session import Named, Play, StepFailed
from pflab.scenario.values import Moment
from pflab.scenario.waits import expect, until
from pflab.terms.number_sets import parse_named
from pflab.terms.verdict import join_names
from topology.arguments import MOST_NAMES
from topology.routing import Routing
from traces.labtime import format_instant
from transport.mime.compose import Attached, NewMail, write_mail

if TYPE_CHECKING:
    from node.store.node import Node
    from pflab.lab.remote_node import RemoteNode

ATTACHMENT_NAME = "attachment.bin"

NOTICE_FROM = f"MAILER-DAEMON@{OUTSIDE_HOST}"
"""The address in From of a notice of a mail server, which has no sender in its envelope."""

Verb = Callable[[Play, Any], Awaitable[None]]

T = TypeVar("T")


def attachment(size: int | None) -> tuple[tuple[str, bytes], ...]:
    """Return one attachment of `size` bytes; nothing if `size` is None. The bytes are the same in each run."""
    if size is None:
        return ()
    pattern = bytes(range(256))
    return ((ATTACHMENT_NAME, (pattern * (size // 256 + 1))[:size]),)


async def _say(play: Play, words: Narration | Quiz) -> None:
    """Do nothing: the runner's `StepWatcher` shows texts, questions and answers."""


def _body(body: str, letters: int | None) -> str:
    """Return a body, repeated until it has this many letters."""
    return body if letters is None else (body * (letters // max(1, len(body)) + 1))[:letters]


async def _post(play: Play, step: model.Post) -> None:
    files = attachment(step.attachment)
    path = play.path(step.on, step.folder)
    try:
        message = await play.do(
            step.on,
            lambda node, now: node.post(
                now,
                path,
                subject=step.subject,
                body=_body(step.body, step.letters),
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
        play.named[step.name] = Named(step.folder, message.id, [message.change])


async def _posts(play: Play, step: model.Posts) -> None:
    files = attachment(step.attachment)
    numbered = range(1, step.count + 1)
    path = play.path(step.on, step.folder)
    posts = [
        Post(
            step.subject.replace("{n}", str(n)),
            _body(step.body.replace("{n}", str(n)), step.letters),
            step.sender,
            files,
        )
        for n in numbered
    ]
    if step.name:
        play.groups[step.name] = tuple(f"{step.name}-{n}" for n in numbered)
    if play.together:
        single = [_post_one(play, step.on, path, post, associated=step.associated) for post in posts]
        messages = [(answer.id, answer.change) for answer in await _all(single)]
    elif step.associated:
        answers = [await _post_one(play, step.on, path, post, associated=True) for post in posts]
        messages = [(answer.id, answer.change) for answer in answers]
    else:
        batch = await play.do(step.on, lambda node, now: node.post_batch(now, path, posts))
        messages = list(zip(batch.ids, batch.changes, strict=True))
    for n, (id_, change) in zip(numbered, messages, strict=True):
        play.named[f"{step.name}-{n}"] = Named(step.folder, id_, [change])


async def _all(requests: Sequence[Awaitable[T]]) -> list[T]:
    """Await requests that run at the same time. If any fail, raise the first error when all are answered."""
    answers = await asyncio.gather(*requests, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if not isinstance(answer, BaseException)]


async def _post_one(play: Play, store: str, path: str, post: Post, *, associated: bool) -> Made:
    return await play.do(
        store,
        lambda node, now: node.post(
            now,
            path,
            subject=post.subject,
            body=post.body,
            sender=post.sender,
            attachments=post.attachments,
            associated=associated,
        ),
    )


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
    path = play.path(step.on, step.folder)
    to = [name if "@" in name else _address(play, step.on, name) for name in step.addresses]
    await play.do(
        step.on,
        lambda node, now: node.send_mail(now, path, to=to, subject=step.subject, body=step.body, attachments=files),
    )


def _address(play: Play, store: str, path: str) -> str:
    path = play.path(store, path)
    views = [view for view in play.lab.read(store, lambda node: node.folders()) if view.path == path]
    if not views or views[0].address is None:
        raise StepFailed([f"{store} to know a mail address of {path}"], ["it knows none"])
    return views[0].address


async def _edit(play: Play, step: model.Edit) -> None:
    path, message = play.find(step.on, step.message)
    based_on = None if step.based_on is None else [_version_named(play, message, name) for name in step.based_on]
    version = await play.do(
        step.on,
        lambda node, now: node.edit(now, path, message.object, subject=step.subject, body=step.body, based_on=based_on),
    )
    if step.name:
        play.named[step.name] = Named(message.folder, message.object, [version.change])


async def _delete(play: Play, step: model.Delete) -> None:
    for name, _ in play.messages(step.message):
        await _delete_one(play, step.on, name)


async def _delete_one(play: Play, store: str, name: str) -> None:
    path, message = play.find(store, name)
    await play.do(store, lambda node, now: node.delete(now, path, message.object))


async def _recover(play: Play, step: model.Recover) -> None:
    message = play.message(step.message) if step.message is not None else None
    path = "" if message is None else play.path(step.on, message.folder)

    def act(node: Node | RemoteNode, now: int) -> Made:
        if message is None:
            assert step.folder is not None, "the step names a message or a folder"
            return node.recover_folder(now, play.path(step.on, step.folder))
        return node.recover(now, path, message.object)

    try:
        copy = await play.do(step.on, act)
    except (MessageUnknown, FolderUnknown):
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{step.on} to refuse to recover {step.message or step.folder}"], ["it recovers it"])
    if step.name and message is not None:
        play.named[step.name] = Named(message.folder, copy.id, [copy.change])


async def _resolve(play: Play, step: model.Resolve) -> None:
    path, message = play.find(step.on, step.message)
    keep = step.keep
    if keep not in play.named and keep in _OF_CONFLICT:
        versions = play.shown(step.on, message).versions
        if len(versions) < 2:
            raise StepFailed([f"a conflict of {step.message}"], ["there is none"])
        keep = _OF_CONFLICT[keep](versions)
    elif keep in play.named or keep != "all":
        keep = _version_named(play, message, keep)
    try:
        await play.do(step.on, lambda node, now: node.resolve(now, path, message.object, keep, step.by))
    except NotAContact:
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{step.on} to refuse a resolution by {step.by}"], ["it accepts it"])


_OF_CONFLICT: Final[Mapping[str, Callable[[Sequence[str]], str]]] = {
    "shown": lambda versions: versions[0],
    "last": lambda versions: versions[-1],
}
"""For each word for a version of a conflict, which of the versions that a store shows it means."""


def _version_named(play: Play, message: Named, version: str) -> str:
    """Return the change number of a version of a message that is given by the name of a step, or by its number."""
    if version in play.named and play.named[version].numbers:
        return play.named[version].numbers[-1]
    try:
        parse_named(version)
    except ValueError as error:
        raise StepFailed([f"a version of the message, not {version!r}"], [str(error)]) from None
    changes = play.oracle.history(play.names.folder_id(message.folder) or "", message.object).changes
    for number in changes:
        if play.names.number(number) == version:
            return number
    raise StepFailed(
        [f"a version {version} of the message"], [f"its versions are {', '.join(map(play.names.number, changes))}"]
    )


async def _folder(play: Play, step: model.Folder) -> None:
    under = "" if step.under in (None, "/") else play.path(step.on, step.under)
    if step.create is not None:
        path = f"{under}/{step.create}" if under else step.create
        created = await play.do(step.on, lambda node, now: node.create_folder(now, path, **step.given()))
        if step.name is not None:
            play.folders[step.name] = created.id
        return
    folder = step.change or step.rename or step.move or step.propagate or step.delete or ""
    path = play.path(step.on, folder)
    if step.delete is not None:
        await play.lab.do(step.on, lambda node, now: node.delete_folder(now, path))
    else:
        await play.do(step.on, lambda node, now: _change_tree(node, now, step, path, under))


def _change_tree(node: Any, now: int, step: model.Folder, path: str, under: str) -> Any:
    if step.rename is not None:
        return node.change_folder(now, path, rename=step.to)
    if step.move is not None:
        return node.change_folder(now, path, move_to=under)
    if step.propagate is not None:
        return node.propagate(now, path, step.properties or ())
    return node.change_folder(now, path, **step.given())


async def _replica(play: Play, step: model.Replica) -> None:
    on = step.on or next((name for name in play.holders(step.folder) if play.lab.running(name)), None)
    if on is None:
        raise StepFailed([f"a running holder of {step.folder}"], ["all are stopped; name a store, such as on: A"])
    view = play.view(on, step.folder)
    listed = [name for name in view.replicas if name not in (step.remove or ())]
    listed += [name for name in step.add or () if name not in listed]
    if play.skips and (not listed or listed == list(view.replicas)):
        raise StepFailed([f"a change of the replicas of {step.folder}"], ["there is none"])
    try:
        await play.do(on, lambda node, now: node.change_folder(now, view.path, replicas=listed))
    except Misuse:
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"{on} to refuse {join_names(listed)} as the replicas of {step.folder}"], ["it accepts them"])


async def _replicas(play: Play, step: model.Replicas) -> None:
    path = play.path(step.on, step.folder)
    await _order(
        play,
        step.on,
        lambda node, now: node.change_replicas(
            now, path, add=step.add, remove=step.remove, replace=step.replace, by=step.by
        ),
        refused=step.refused,
    )


async def _resend(play: Play, step: model.Resend) -> None:
    for name in step.from_:
        path = play.path(name, step.folder)
        await _order(
            play,
            name,
            lambda node, now, path=path: node.send_again(now, path, days=step.days, to=step.to),  # type: ignore[misc]
            refused=step.refused,
        )


async def _synchronize(play: Play, step: model.Synchronize) -> None:
    for name in step.on:
        path = play.path(name, step.folder)
        await _order(play, name, lambda node, now, path=path: node.synchronize(now, path), refused=step.refused)  # type: ignore[misc]


async def _queue(play: Play, step: model.Queue) -> None:
    mails: list[int] | None = None
    if step.next_hop is None:
        waiting = play.lab.read(step.on, lambda node: node.queue())
        mails = [mail.id for mail in waiting if step.type is None or mail.subject == MAIL_TYPES[step.type]]
        if not mails:
            raise StepFailed([f"a {step.type or 'mail'} in the queue of {step.on}"], ["there is none"])
    await _order(
        play,
        step.on,
        lambda node, now: node.change_queue(now, step.order, next_hop=step.next_hop, mails=mails),
        refused=step.refused,
    )


async def _order(play: Play, name: str, order: Callable[[Any, int], object], *, refused: bool) -> None:
    try:
        await play.do(name, order)
    except NodeError:
        if not refused:
            raise
        return
    if refused:
        raise StepFailed([f"{name} to refuse the order"], ["it executes the order"])


async def _settings(play: Play, step: model.Settings) -> None:
    for name in step.on:
        await play.lab.configure(name, step.values)


async def _stop(play: Play, names: tuple[str, ...]) -> None:
    for name in _possible(play, names, play.lab.running):
        with suppress(Crashed):  # a crash fault ended the server while it was stopping: it is down in either case
            await play.lab.stop(name)


async def _start(play: Play, names: tuple[str, ...]) -> None:
    for name in _possible(play, names, lambda name: not play.lab.running(name) and not play.deleted(name)):
        await play.lab.start(name)
        play.joined.add(name)


async def _kill(play: Play, names: tuple[str, ...]) -> None:
    for name in _possible(play, names, play.lab.running):
        with suppress(Crashed):
            await play.lab.kill(name)


def _possible(play: Play, names: Sequence[str], test: Callable[[str], bool]) -> list[str]:
    """Return these servers; if steps may be skipped, those that fit. Raises StepFailed if none is left."""
    fitting = [name for name in names if not play.skips or test(name)]
    if not fitting:
        raise StepFailed([f"{join_names(names)} to run or not, as the step needs it"], ["no server does"])
    return fitting


async def _backup(play: Play, step: model.Backup) -> None:
    if play.skips and not play.lab.running(step.on):
        raise StepFailed([f"{step.on} to run"], ["it does not"])
    play.backups[step.name] = step.on, await play.lab.backup(step.on)


async def _restore(play: Play, step: model.Restore) -> None:
    if step.backup not in play.backups or (play.skips and play.deleted(step.on)):
        raise StepFailed([f"a backup {step.backup} of {step.on}"], ["there is none, or the store was deleted"])
    owner, backup = play.backups[step.backup]
    try:
        await play.lab.restore(step.on, backup)
    except LabError as error:
        if play.skips and (owner != step.on or step.on in play.shown_stores):
            raise StepFailed([f"{step.on} to be a server that this backup can go to"], [str(error)]) from None
        raise
    if owner != step.on:
        play.shown_stores.add(step.on)


async def _directory(play: Play, step: model.Directory) -> None:
    store, what = (step.delete, "deletion") if step.delete is not None else (step.create, "creation")
    assert store is not None, "the file was checked: a step deletes a store or creates one"
    try:
        if step.delete is not None:
            await _delete_store(play, step, store)
        else:
            await _create_store(play, store)
    except (Misuse, LabError):
        if not step.refused:
            raise
        return
    if step.refused:
        raise StepFailed([f"the {what} of {store} to be refused"], ["it was not"])


async def _delete_store(play: Play, step: model.Directory, store: str) -> None:
    assert step.on is not None, "the file was checked"
    if play.skips and not _can_delete(play, step.on, store):
        raise StepFailed([f"{store} to be a store that can be deleted on {step.on}"], ["it is none"])
    if step.stop and play.lab.running(store):
        await _stop(play, (store,))
    await play.lab.delete_store(store, on=step.on, force=step.force)
    play.removed.add(store)


async def _create_store(play: Play, store: str) -> None:
    if play.skips and not play.deleted(store):
        raise StepFailed([f"{store} to be a server without a store"], ["it has one"])
    with suppress(Crashed):
        await play.lab.create_store(store)
    _forget(play, store)
    play.joined.add(store)


def _forget(play: Play, store: str) -> None:
    """Forget the store that a server had, and its backups."""
    play.removed.discard(store)
    play.shown_stores.discard(store)
    play.joined.discard(store)
    for name in [name for name, (owner, _) in play.backups.items() if owner == store]:
        del play.backups[name]


async def _connector(play: Play, step: model.Connector) -> None:
    name = step.add or step.change or step.remove
    assert name is not None, "the file was checked: a step adds, changes or removes a connector"
    for end in (step.bridgeheads or {}).values():
        if play.skips and (play.absent(end) or play.deleted(end)):
            raise StepFailed([f"{end} to be a store that can be a bridgehead"], ["it has not joined, or was deleted"])
    if step.add is not None:
        change = play.lab.add_connector(name, **step.given())
    elif step.change is not None:
        change = play.lab.change_connector(name, **step.given())
    else:
        change = play.lab.remove_connector(name)
    await _change_organization(play, change, f"the connector {name}", refused=step.refused)


async def _change_organization(play: Play, change: Awaitable[None], what: str, *, refused: bool) -> None:
    """Change the organization, or fail if that was to be refused, or cannot be done in a campaign."""
    try:
        await change
    except LabError as error:
        if play.skips:
            raise StepFailed([f"a change of {what} that is possible"], [str(error)]) from None
        if not refused:
            raise
        return
    if refused:
        raise StepFailed([f"the change of {what} to be refused"], ["it was not"])


async def _site(play: Play, step: model.Site) -> None:
    name = step.add or step.remove
    assert name is not None, "the file was checked: a step adds or removes a site"
    change = play.lab.add_site(name) if step.add is not None else play.lab.remove_site(name)
    await _change_organization(play, change, f"the site {name}", refused=step.refused)


async def _server(play: Play, step: model.Server) -> None:
    name = step.add or step.remove
    assert name is not None, "the file was checked: a step adds or removes a server"
    change = play.lab.remove_server(name) if step.add is None else play.lab.add_server(name, **step.given())
    await _change_organization(play, change, f"the server {name}", refused=step.refused)
    if not step.refused:
        _forget(play, name)


async def _recipient_policy(play: Play, step: model.RecipientPolicy) -> None:
    lab = play.lab
    if step.add is not None:
        change = lab.add_policy(step.add, **step.given())
    elif step.change is not None:
        change = lab.change_policy(step.change, **step.given())
    elif step.remove is not None:
        change = lab.remove_policy(step.remove)
    else:
        change = lab.set_recipient_policy(recipient_update=step.runs, domain=step.domain, at_once=step.at_once)
    await _change_organization(play, change, "the recipient policies", refused=step.refused)


def _can_delete(play: Play, on: str, store: str) -> bool:
    """Return whether a store exists that is no bridgehead, and the other one, on which it is deleted, runs."""
    lab, both = play.lab, (on, store)
    through = {end for connector in lab.organization.connectors for end in connector.bridgeheads}
    return (
        on != store
        and not any(name not in lab.names or play.absent(name) for name in both)
        and not play.deleted(store)
        and store not in through
        and lab.running(on)
        and lab.faults.lets_act(on)
    )


async def _content(play: Play, action: str) -> None:
    """Suspend or resume content on every running store that differs (RP-5)."""
    value = int(action == "suspend")
    for name in [name for name in play.lab.names if play.lab.running(name)]:
        views = play.lab.read(name, lambda node: node.setting_views())
        if next(view.value for view in views if view.name == SUSPENDED) != str(value):
            with suppress(NodeError):  # a version that cannot suspend content
                await play.lab.do(name, lambda node, now: node.configure(now, {SUSPENDED: value}))


async def _repair(play: Play, _: str) -> None:
    """End all faults, join all sites again, start all servers that have joined, and let content replicate, addresses be stamped
    and mail be sent everywhere. From now on the lab must converge (CV-3)."""
    lab = play.lab
    lab.faults.heal()
    await _join_sites(play)
    if lab.topology.recipient_update_us is None:
        await lab.set_recipient_policy(recipient_update="always")
    for name in lab.names:
        if not (lab.running(name) or play.absent(name) or play.deleted(name)):
            await lab.start(name)
    await _replace_shown_stores(play)
    await _content(play, "resume")
    ended: set[str] = set()
    for name in [name for name in lab.names if lab.running(name)]:
        await _unfreeze(play, name)
        views = lab.read(name, lambda node: node.folders())
        for view in [view for view in views if view.schedule == "never" and not view.hidden and view.id not in ended]:
            with suppress(NodeError):
                await _always(play, name, view.path)
            ended.add(view.id)


async def _join_sites(play: Play) -> None:
    """Add the connectors again with which the lab began, if mail has no way from a site to another (RT-6). Open the connectors
    that were changed to be always closed: mail waits for the cheapest one even if it never opens."""
    lab = play.lab
    began = {entry["name"]: entry for entry in lab.topology.as_document()["connectors"]}
    for connector in lab.organization.connectors:
        schedule = began.get(connector.name, {}).get("schedule", "always")
        if connector.schedule.is_never and schedule != "never":
            await lab.change_connector(connector.name, schedule=schedule)
    for name, entry in began.items():
        present = {connector.name for connector in lab.organization.connectors}
        if name in present or not all(_is_end(play, *end) for end in entry["bridgeheads"].items()):
            continue
        if Routing(lab.organization).path(*entry["between"]) is None:
            await lab.add_connector(name, **{key: value for key, value in entry.items() if key != "name"})
    await _join_new_sites(play)


def _is_end(play: Play, site: str, server: str) -> bool:
    """Return whether there is a server with a store in a site, which was perhaps removed."""
    if play.absent(server) or play.deleted(server):
        return False
    return play.lab.organization.servers[server].site == site


async def _join_new_sites(play: Play) -> None:
    """Add a connector to each site with a store that was added, if mail has no way there."""
    lab = play.lab
    home_of: dict[str, str] = {}
    for name in (name for name in lab.names if not (play.absent(name) or play.deleted(name))):
        home_of.setdefault(lab.organization.servers[name].site, name)
    first, *others = home_of
    for site in others:
        if Routing(lab.organization).path(first, site) is None:
            ends = {end: home_of[end] for end in (first, site)}
            await lab.add_connector(f"{first}-{site}", between=(first, site), bridgeheads=ends)


async def _replace_shown_stores(play: Play) -> None:
    """Create new stores for the servers that show the store of another one: such a store never replicates (RP-8)."""
    for store in sorted(play.shown_stores):
        if not play.deleted(store):
            on = next(name for name in play.lab.names if play.lab.running(name) and name not in play.shown_stores)
            await _stop(play, (store,))
            await play.lab.delete_store(store, on=on, force=True)
            play.removed.add(store)
        await _create_store(play, store)


async def _unfreeze(play: Play, store: str) -> None:
    """Let all mails that an administrator has frozen be sent (RT-5)."""
    for hop in play.lab.read(store, lambda node: node.frozen_queues()):
        await play.do(store, lambda node, now, hop=hop: node.change_queue(now, "unfreeze", next_hop=hop))  # type: ignore[misc]
    mails = [mail.id for mail in play.lab.read(store, lambda node: node.queue()) if mail.frozen]
    if mails:
        await play.do(store, lambda node, now: node.change_queue(now, "unfreeze", mails=mails[:MOST_NAMES]))


async def _always(play: Play, store: str, path: str) -> None:
    await play.do(store, lambda node, now: node.change_folder(now, path, schedule="always"))


SUSPENDED: Final = "Content Replication Suspended"


# --- faults


async def _inject(play: Play, step: FaultStep) -> None:
    try:
        fault = play.lab.faults.inject(step.fault)
    except LabError as error:
        if play.skips:  # its server or connector was removed
            raise StepFailed([f"a {step.fault.kind} that is possible"], [str(error)]) from None
        raise
    if step.name:
        play.faults[step.name] = fault


async def _heal(play: Play, names: tuple[str, ...]) -> None:
    for name in names:
        fault = None if name == "all" else play.faults.get(name, "")
        # A fault with a count ends when it has acted that many times.
        if fault is None or fault in [active.id for active in play.lab.faults.active()]:
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
    "site": _site,
    "server": _server,
    "connector": _connector,
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
    "queue": _queue,
    "settings": _settings,
    "stop": _stop,
    "start": _start,
    "kill": _kill,
    "backup": _backup,
    "restore": _restore,
    **dict.fromkeys(FAULT_VERBS, _inject),
    "heal": _heal,
    "recipient_policy": _recipient_policy,
    "content": _content,
    "repair": _repair,
    "checkpoint": _checkpoint,
    "advance": _advance,
    "until": until,
    "expect": expect,
}
"""For each verb of `pflab.scenario.model.VERBS`, the function that carries it out."""
