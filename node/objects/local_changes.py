"""Users' changes of messages. Each change gets its change number in its transaction (spec: CN-2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from node.codec.items import Version, encode_edit, encode_mail, encode_message, object_from_text, object_text
from node.errors import MessageUnknown, Misuse, NoReplicaHere, NotAContact
from node.objects import retention, storage_limits
from node.objects.apply_versions import Joined, place_version
from node.objects.version_rows import KeptVersion, insert_versions, kept_versions, replace_all, tied_lists
from node.state.context import Context, pcl_fields, plan_cycle
from node.state.folders import Folder
from node.state.state_table import OwnRow
from node.tracking.change_number import ChangeNumber, named
from node.tracking.pcl import Pcl
from node.views import Post
from traces.events import ChangeMade, ConflictEnded, TombstoneMade
from traces.labtime import LabTime
from transport.mime.item_conversion import MailPost
from transport.sql import Statement
from transport.stimulus import Stimulus

FOLDER_OF_OBJECT = Statement("SELECT fid FROM message WHERE object = ? LIMIT 1")
ITEM = Statement("SELECT item FROM message WHERE mid = ?")
SUBJECT = Statement("SELECT subject FROM message WHERE mid = ?")
SUBJECT_AND_ITEM = Statement("SELECT subject, item FROM message WHERE mid = ?")
ITEM_SIZE = Statement("SELECT length(item) FROM message WHERE mid = ?")

MAX_ITEM_BYTES = 40 * 1024 * 1024
"""The largest message. With base64 and header lines of the hops it stays under the 64 MiB of the SMTP listener."""

ITEM_ROOM = 256 * 1024
"""Bytes that are reserved for the parts of an item other than the values of a mail's properties."""

MAX_RIVALS = 1_000
"""The most versions that a predecessor list names as not included (spec: CF-6)."""


def replica_for_posts(ctx: Context, path: str) -> tuple[Folder, OwnRow]:
    """Return a folder and its replica here.

    Raise NoReplicaHere, naming the holders, if users cannot change its content here.
    """
    folder = ctx.folders.visible(path)
    own = ctx.rst.own(folder.fid)
    if own is None or own.pending:  # spec: RP-2 a leaving store accepts no more posts
        transitive = ctx.config.profile.refers_onward
        holders = ", ".join(ctx.directory.referred(ctx.name, ctx.holders(folder.fid), transitive=transitive))
        raise NoReplicaHere(f"store {ctx.name} holds no replica of {folder.path}; its holders are: {holders or 'none'}")
    return folder, own


def changed(ctx: Context, s: Stimulus, own: OwnRow) -> None:
    """Note a change in a folder: set the next cycle, and start the 24 hours before a status again (spec: OUT-1, ST-1)."""
    own.last_update_at = s.now
    own.status_sent_at = None
    ctx.rst.touch(own)
    plan_cycle(ctx, s, own.fid)


def post(ctx: Context, s: Stimulus, path: str, posts: Sequence[Post], *, fai: bool = False) -> list[Version]:
    """Create messages and return their versions."""
    folder, own = replica_for_posts(ctx, path)
    versions = []
    for new_post in posts:
        object_id = ctx.store.next_object().to_xid()
        number = ctx.store.next_change()
        pcl = Pcl.of(number)
        item = encode_message(
            object_id,
            number,
            pcl,
            s.now,
            folder=folder.object,
            subject=new_post.subject,
            body=new_post.body,
            sender=new_post.sender,
            attachments=new_post.attachments,
            fai=fai,
        )
        versions.append(_checked(Version(object_id, number, pcl, s.now, item, new_post.subject, fai)))
    storage_limits.check_posts(ctx, s, folder, [len(version.item or b"") for version in versions])
    insert_versions(ctx, s.conn, folder.fid, versions, sent=False)
    for version in versions:
        _record(s, folder, version, "create", ())
    changed(ctx, s, own)
    return versions


def post_mail(ctx: Context, s: Stimulus, folder: Folder, mail: MailPost) -> Version:
    """Post a mail unchanged and return its version (spec: ML-5). Raise Misuse if it is too large to be replicated,
    OverLimit if a storage limit of the folder refuses it. Nothing has changed then."""
    folder, own = replica_for_posts(ctx, folder.path)
    if mail.size > MAX_ITEM_BYTES - ITEM_ROOM:
        limit = MAX_ITEM_BYTES // 1024**2
        raise Misuse(f"the mail has {mail.size:,} bytes; at most {limit} MiB can be replicated")
    object_number, number = ctx.store.upcoming()
    object_id, pcl = object_number.to_xid(), Pcl.of(number)
    item = encode_mail(object_id, number, pcl, s.now, folder=folder.object, mail=mail)
    storage_limits.check_posts(ctx, s, folder, [len(item)])
    ctx.store.next_object()  # only now: a mail that is refused uses up no number
    ctx.store.next_change()
    version = Version(object_id, number, pcl, s.now, item, mail.subject, message_id=mail.message_id)
    insert_versions(ctx, s.conn, folder.fid, [version], sent=False)
    _record(s, folder, version, "create", ())
    changed(ctx, s, own)
    return version


@dataclass(frozen=True, slots=True)
class _Target:
    folder: Folder
    own: OwnRow
    object: bytes
    versions: list[KeptVersion]


def _object(message: str) -> bytes:
    try:
        return object_from_text(message)
    except ValueError as error:
        raise Misuse(f"{message!r} is not a message id such as {'0' * 31}a:17: {error}") from None


def _target(ctx: Context, s: Stimulus, path: str, message: str) -> _Target:
    folder, own = replica_for_posts(ctx, path)
    object_id = _object(message)
    fid = s.conn.exec_driver_sql(FOLDER_OF_OBJECT, (object_id,)).scalar()
    kept = kept_versions(ctx, s.conn, object_id) if fid == folder.fid else []
    if not kept or kept[0].deleted or kept[0].expired:
        was = ("has expired" if kept[0].expired else "was deleted") if kept else "is not"
        raise MessageUnknown(f"message {message} {was} in {folder.path} on {ctx.name}")
    return _Target(folder, own, object_id, kept)


def _successor(
    ctx: Context, s: Stimulus, predecessors: Sequence[KeptVersion], base: _Base | None = None
) -> tuple[ChangeNumber, Pcl, LabTime]:
    """Return number, PCL and time for a version that includes all kept versions (spec: CF-3, CN-3), or what `base` includes."""
    number = ctx.store.next_change()
    pcl = Pcl.EMPTY if base is None else base.pcl
    for predecessor in predecessors if base is None else ():
        pcl = pcl.merge(predecessor.pcl)
    # spec: CN-8 later than all versions that it includes; a version that another one has replaced is older than that one
    modified_at = max(s.now, 1 + max(predecessor.modified_at for predecessor in predecessors))
    return number, pcl.successor(number, () if base is None else base.rivals), modified_at


@dataclass(frozen=True, slots=True)
class _Base:
    """The versions that an edit is made from (spec: CF-6).

    pcl: what they include.
    rivals: what this store has of the message, and they do not include. The new version stays beside these.
    """

    numbers: tuple[ChangeNumber, ...]
    pcl: Pcl
    rivals: tuple[ChangeNumber, ...]


def _base(ctx: Context, s: Stimulus, target: _Target, names: Sequence[str]) -> _Base | None:
    """Return the versions with these numbers; None if they include all kept versions, as those of any other edit do."""
    lists: dict[ChangeNumber, Pcl | None] = tied_lists(ctx, s.conn, target.object)
    lists.update((version.number, version.pcl) for version in target.versions)
    numbers, pcl = [], Pcl.EMPTY
    for name in dict.fromkeys(names):
        number = _number_of(ctx, name, lists)
        own = lists[number]
        if own is None:
            raise MessageUnknown(f"version {name} of the message was never kept on {ctx.name}; nobody opened it there")
        numbers.append(number)
        pcl = pcl.merge(own)
    # spec: CN-9 an associated message has no conflicts
    if target.versions[0].fai or all(pcl.includes(version.number) for version in target.versions):
        return None
    # The counter of the new version reaches all earlier numbers of this store, also those that are no longer kept.
    rivals = [number for number in sorted(lists) if not pcl.includes(number)]
    if len(rivals) > MAX_RIVALS:
        raise Misuse(f"the message has changed {len(rivals):,} times since the version {names[0]}; open it again")
    return _Base(tuple(numbers), pcl, tuple(rivals))


def _number_of(ctx: Context, name: str, numbers: Iterable[ChangeNumber]) -> ChangeNumber:
    """Return the change number with this name: as traces write it, or as people read it.

    Raise MessageUnknown for another name.
    """
    matches = [number for number in numbers if name in {number.text, named(number, ctx.store.names())}]
    if len(matches) == 1:
        return matches[0]
    if matches:
        texts = ", ".join(number.text for number in matches)
        raise Misuse(f"{name} is more than one version of the message; write one of: {texts}")
    known = ", ".join(named(number, ctx.store.names()) for number in sorted(numbers))
    raise MessageUnknown(f"{name} is not a version of the message; the versions that {ctx.name} knows are: {known}")


def edit(
    ctx: Context,
    s: Stimulus,
    path: str,
    message: str,
    *,
    subject: str | None,
    body: str | None,
    based_on: Sequence[str] | None = None,
) -> tuple[ChangeNumber, Joined | None]:
    """Make a version from the shown one. The new version includes all kept versions.

    based_on: the versions that the user opened. If the store has others, the new version stays beside these (spec: CF-6).
    Return its number, and the conflict that it joined or began.
    """
    target = _target(ctx, s, path, message)
    base = None if based_on is None else _base(ctx, s, target, based_on)
    if base is None:
        return _edit(ctx, s, target, target.versions[0], subject=subject, body=body), None
    source = next((version for version in target.versions if version.number in base.numbers), target.versions[0])
    version = _edited(ctx, s, target, source, subject=subject, body=body, base=base)
    # The change comes before the conflict that it begins: a reader of the events knows a version before it is in conflict.
    _record(s, target.folder, version, "modify", tuple(sorted(number.text for number in base.numbers)))
    joined = place_version(ctx, s, target.folder.fid, version, target.versions, sent=False)
    changed(ctx, s, target.own)
    return version.number, joined


def _edit(
    ctx: Context,
    s: Stimulus,
    target: _Target,
    source: KeptVersion,
    *,
    subject: str | None = None,
    body: str | None = None,
    by: str = "",
) -> ChangeNumber:
    version = _edited(ctx, s, target, source, subject=subject, body=body)
    _supersede(ctx, s, target, version, "modify", by=by)
    return version.number


def _edited(
    ctx: Context,
    s: Stimulus,
    target: _Target,
    source: KeptVersion,
    *,
    subject: str | None,
    body: str | None,
    base: _Base | None = None,
) -> Version:
    """Return a version with the content of `source`, and this subject and body. Raise Misuse or OverLimit if it is too large.

    base: what it includes; by default all kept versions.
    """
    item = s.conn.exec_driver_sql(ITEM, (source.mid,)).scalar_one()
    old_subject = s.conn.exec_driver_sql(SUBJECT, (source.mid,)).scalar_one()
    number, pcl, modified_at = _successor(ctx, s, target.versions, base)
    stream = encode_edit(item, number, pcl, modified_at, version_of=target.object, subject=subject, body=body)
    version = Version(
        target.object, number, pcl, modified_at, stream, old_subject if subject is None else subject, source.fai
    )
    if subject is not None or body is not None:  # otherwise the edit keeps the winner of a conflict
        storage_limits.check_size(ctx, target.folder, len(stream))
    return _checked(version)


def _checked(version: Version) -> Version:
    """Return the version. Raise Misuse, before anything is changed, if it is too large to be sent."""
    if version.item is not None and len(version.item) > MAX_ITEM_BYTES:
        limit = MAX_ITEM_BYTES // 1024**2
        raise Misuse(f"the message has {len(version.item):,} bytes; at most {limit} MiB can be replicated")
    return version


def delete(ctx: Context, s: Stimulus, path: str, message: str) -> ChangeNumber:
    """Delete a message and return the change number (spec: DL-1)."""
    target = _target(ctx, s, path, message)
    retention.keep_message(ctx, s, target.folder.fid, target.object)  # spec: DL-5
    number, pcl, modified_at = _successor(ctx, s, target.versions)
    version = Version(target.object, number, pcl, modified_at, None, "", target.versions[0].fai)
    _supersede(ctx, s, target, version, "delete")
    s.trace.record(TombstoneMade, folder=target.folder.text, object=object_text(target.object), number=number.text)
    return number


def recover(ctx: Context, s: Stimulus, path: str, message: str) -> Version:
    """Recover a deleted message as a new one, and return its version (spec: DL-5)."""
    folder, own = replica_for_posts(ctx, path)
    deletion = retention.message_of(ctx, s, folder, _object(message))
    (version,) = post_recovered(ctx, s, folder, own, [deletion])
    retention.recovered(ctx, s, deletion, version.object, version.number.text, folder.text)
    return version


def post_recovered(
    ctx: Context, s: Stimulus, folder: Folder, own: OwnRow, deletions: Sequence[retention.Retained]
) -> list[Version]:
    """Create a message with the content of each retained message."""
    versions = []
    for deletion in deletions:
        object_id, number = ctx.store.next_object().to_xid(), ctx.store.next_change()
        pcl = Pcl.of(number)
        item = encode_edit(deletion.item, number, pcl, s.now, version_of=object_id, folder=folder.object)
        versions.append(_checked(Version(object_id, number, pcl, s.now, item, deletion.subject, deletion.fai)))
    insert_versions(ctx, s.conn, folder.fid, versions, sent=False)
    for version in versions:
        _record(s, folder, version, "create", ())
    if versions:
        changed(ctx, s, own)
    return versions


def resolve(ctx: Context, s: Stimulus, path: str, message: str, keep: str, by: str | None = None) -> list[ChangeNumber]:
    """Resolve a conflict as a contact does (spec: CF-3): keep one version; with 'all', keep each version as its own message.

    `by` is the address of the contact; None means the folder's first contact. Raise NotAContact for another person.
    Return the numbers of the new changes, the one that ends the conflict first.
    """
    target = _target(ctx, s, path, message)
    contact = _contact(target.folder, by)
    rivals = [version for version in target.versions if not version.expired]  # spec: DL-3
    if len(rivals) < 2:
        raise Misuse(f"message {message} in {target.folder.path} is not in conflict on {ctx.name}")
    if keep != "all":
        return [_edit(ctx, s, target, _kept_by_text(rivals, keep), by=contact)]
    losers = [(version, *s.conn.exec_driver_sql(SUBJECT_AND_ITEM, (version.mid,)).one()) for version in rivals[1:]]
    resolution = _edit(ctx, s, target, target.versions[0], by=contact)
    copies = []
    for loser, subject, item in losers:
        object_id = ctx.store.next_object().to_xid()
        number = ctx.store.next_change()
        pcl = Pcl.of(number)
        modified_at = max(s.now, loser.modified_at + 1)
        stream = encode_edit(item, number, pcl, modified_at, version_of=object_id)
        copies.append(Version(object_id, number, pcl, modified_at, stream, subject, False))
    insert_versions(ctx, s.conn, target.folder.fid, copies, sent=False)
    for version in copies:
        _record(s, target.folder, version, "create", ())
    return [resolution, *(version.number for version in copies)]


def _contact(folder: Folder, by: str | None) -> str:
    """Return the contact of the folder who resolves a conflict, as the folder names the contact (spec: CF-3)."""
    contacts = folder.props.contacts if folder.props is not None else ()
    if not contacts:
        raise NotAContact(
            f"{folder.path} has no contacts, and only a contact resolves a conflict; name a contact, or edit the message: "
            "an edit also ends its conflict"
        )
    if by is None:
        return contacts[0]
    match = next((contact for contact in contacts if contact.casefold() == by.casefold()), None)
    if match is None:
        raise NotAContact(
            f"{by} is not a contact of {folder.path} and cannot resolve its conflicts; the contacts are: "
            f"{', '.join(contacts)}"
        )
    return match


def keep_winner(ctx: Context, s: Stimulus, folder: Folder, own: OwnRow, object_id: bytes) -> tuple[str, str] | None:
    """Resolve a conflict without a user: like a contact, make a change that keeps the version shown (spec: CF-5, CF-3).

    Return the change and the version that it keeps. Return None if there is no conflict, or if the winner is too large for
    a new version; people must resolve such a conflict.
    """
    versions = kept_versions(ctx, s.conn, object_id)
    if sum(not version.expired and not version.deleted for version in versions) < 2:
        return None
    size = s.conn.exec_driver_sql(ITEM_SIZE, (versions[0].mid,)).scalar_one()
    if size > MAX_ITEM_BYTES - ITEM_ROOM:
        return None
    change = _edit(ctx, s, _Target(folder, own, object_id, versions), versions[0])
    return change.text, versions[0].number.text


def _kept_by_text(versions: Sequence[KeptVersion], text: str) -> KeptVersion:
    for version in versions:
        if version.number.text == text:
            return version
    raise Misuse(
        f"{text!r} is not a kept version; the kept versions are: {', '.join(version.number.text for version in versions)}"
    )


def _supersede(ctx: Context, s: Stimulus, target: _Target, version: Version, operation: str, *, by: str = "") -> None:
    replace_all(ctx, s, target.folder.fid, version, target.versions, False)
    _record(
        s, target.folder, version, operation, tuple(sorted(predecessor.number.text for predecessor in target.versions))
    )
    if sum(not predecessor.expired for predecessor in target.versions) > 1:  # spec: CF-1 DL-3
        s.trace.record(
            ConflictEnded,
            folder=target.folder.text,
            object=object_text(target.object),
            number=version.number.text,
            by=by,
        )
    changed(ctx, s, target.own)


def _record(s: Stimulus, folder: Folder, version: Version, operation: str, supersedes: tuple[str, ...]) -> None:
    s.trace.record(
        ChangeMade,
        folder=folder.text,
        object=object_text(version.object),
        number=version.number.text,
        kind="fai" if version.fai else "message",
        operation=operation,
        modified_at=version.modified_at,
        supersedes=supersedes,
        **pcl_fields(version),
        digest=version.digest,
        subject=version.subject,
        **({"mail": version.message_id} if version.message_id else {}),
    )
