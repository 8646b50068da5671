"""The contents of a run for its replay: posts and mails. No event has them.

Posts come from the databases of the stores, which have the versions that are left, and from the mails, which have all versions
that were sent. The limits keep the file of a replay at a size that a browser opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from node.agent.incoming import DECODERS
from node.codec.items import Version, attachments_of, body_of, read_version, sender_of
from node.codec.property_meanings import INTERPRETERS, NAMES
from node.store.message_versions import property_lines
from node.tracking.change_number import Guid, NumberError, named, store_name
from pflab.errors import LabError
from pflab.runs.databases import RunReader
from traces.labtime import format_instant
from transport.errors import CodecError
from transport.mime.describe import describe_mail, outline
from transport.mime.message import parse_mail, system_body

if TYPE_CHECKING:
    from node.reads import StoreReader
    from node.views import VersionView

T = TypeVar("T")

MOST_BYTES: Final = 32 * 1024 * 1024
"""The most bytes of mails in a file, and of posts (decision). The newest mails are kept."""

MOST_BYTES_OF_ONE: Final = 256 * 1024
"""A larger mail or post is left out (decision)."""

MOST_LINES: Final = 20_000
"""The largest number of lines of a decoded mail."""


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a post, as `node.views.VersionView` has it."""

    number: str
    change: str
    store: str
    modified_at: str
    subject: str
    sender: str
    body: str
    size: int
    attachments: tuple[tuple[str, int], ...]
    includes: tuple[str, ...]
    properties: tuple[str, ...]


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail as it crossed the wire, and in words."""

    raw: str
    decoded: str


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """posts: by the change numbers of their versions, as traces write them. mails: by Message-ID."""

    posts: dict[str, Post] = {}
    mails: dict[str, Mail] = {}


def contents_of(run: Path, mails: Mapping[str, bytes], stores: Mapping[str, str]) -> Contents:
    """Return the contents of a run.

    run: a folder with the databases of the run, in `databases/`; one that cannot be read is passed over.
    mails: the mails of the run by Message-ID, the oldest first.
    stores: the names of the stores by their replica GUIDs, in hexadecimal.
    """
    posts: dict[str, Post] = {}
    readable: dict[str, Mail] = {}
    names = {bytes.fromhex(guid): store for guid, store in stores.items()}
    left = MOST_BYTES
    known = {**mails, **_queued(run)}
    for id_ in reversed(known):
        content = known[id_]
        if len(content) > min(left, MOST_BYTES_OF_ONE):
            continue
        try:
            readable[id_] = Mail(raw=content.decode("utf-8", "replace"), decoded=described(content))
        except CodecError:
            continue
        left -= len(content)
        posts.update((post.change, post) for post in _posts_in(content, names))
    left = MOST_BYTES
    for post in _posts_at(run, posts):
        if post.size <= min(left, MOST_BYTES_OF_ONE):
            left -= post.size
            posts[post.change] = post
    return Contents(posts=posts, mails=readable)


def kept_mails(folder: Path) -> dict[str, bytes]:
    """Return the mails that a run has kept as files, by Message-ID, the oldest first: the newest ones, up to MOST_BYTES."""
    mails: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in sorted(folder.glob("*.eml"), reverse=True):  # a name begins with the time
        try:
            left -= path.stat().st_size
            if left < 0:
                break
            content = path.read_bytes()
            mails.setdefault(parse_mail(content).message_id, content)
        except (OSError, CodecError):
            continue  # a file of another program, or removed meanwhile
    return dict(reversed(mails.items()))


def described(content: bytes) -> str:
    """Return what is in a mail, down to each property of each item, as `pflab decode` prints it, up to MOST_LINES lines.
    Raises CodecError if it is not a mail."""
    lines: list[str] = []
    for depth, line in outline(describe_mail(content, INTERPRETERS, NAMES)):
        if len(lines) == MOST_LINES:
            lines.append("... (more lines are left out; pflab decode prints all)")
            break
        lines.append("  " * depth + line)
    return "\n".join(lines) + "\n"


def _queued(run: Path) -> dict[str, bytes]:
    """Return the mails that wait in queues."""

    def read(store: StoreReader) -> dict[str, bytes]:
        return {mail.message_id: store.queued_mail(mail.id) for mail in store.queue()}

    return {id_: content for queue in _of_stores(run, read) for id_, content in queue.items()}


def _posts_at(run: Path, known: Mapping[str, Post]) -> Iterator[Post]:
    """Yield the versions that the stores have, without those that are known already."""

    def read(store: StoreReader) -> list[Post]:
        held = [folder.id for folder in store.folders() if store.holds(folder.id)]
        messages = (message for folder in held for message in store.messages(folder))
        unknown = [message.id for message in messages if not all(change in known for change in message.versions)]
        return [_post_of_view(version) for message in unknown for version in store.versions(message)]

    for posts in _of_stores(run, read):
        yield from posts


def _of_stores(run: Path, read: Callable[[StoreReader], T]) -> Iterator[T]:
    """Yield what `read` returns for each store of a run whose database can be read."""
    try:
        databases = RunReader.at(run)
    except LabError:
        return  # another version of pflab has written it
    for name in databases.stores():
        with suppress(LabError):
            with databases.reading(name) as store:
                answer = read(store)
            yield answer


def _post_of_view(view: VersionView) -> Post:
    return Post(
        number=view.number,
        change=view.change,
        store=view.store,
        modified_at=format_instant(view.modified_at),
        subject=view.subject,
        sender=view.sender,
        body=view.body,
        size=view.size,
        attachments=view.attachments,
        includes=view.includes,
        properties=view.properties,
    )


def _posts_in(content: bytes, names: Mapping[Guid, str]) -> Iterator[Post]:
    """Yield the versions in a replication mail. What cannot be read is passed over; the mail in words says what is wrong."""
    try:
        form_and_body = system_body(content)
        parts = () if form_and_body is None else DECODERS[form_and_body[0]](form_and_body[1]).parts
    except CodecError:
        return
    for part in parts:
        with suppress(CodecError, NumberError):
            version = read_version(part.item)
            if version.item is not None:
                yield _post_of_version(version, version.item, names)


def _post_of_version(version: Version, item: bytes, names: Mapping[Guid, str]) -> Post:
    return Post(
        number=named(version.number, names),
        change=version.number.text,
        store=store_name(version.number.guid, names),
        modified_at=format_instant(version.modified_at),
        subject=version.subject,
        sender=sender_of(item),
        body=body_of(item),
        size=len(item),
        attachments=tuple((name, len(data)) for name, data in attachments_of(item)),
        includes=tuple(named(number, names) for number in version.pcl.numbers()),
        properties=property_lines(item),
    )
