"""What is fuzzed: everything that reads bytes from outside.

A *target* reads an input and may raise only its own errors. Where there is a writer, what was read is written and read again,
and must be the same. The fuzzer also limits time and memory.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from node.codec.items import Version, encode_message
from node.codec.replication_message import (
    MessageType,
    ReplicationMail,
    Section,
    Update,
    decode,
    encode,
)
from node.codec.signing import LabAuthority, Verifier
from node.errors import BadMail
from node.tracking.change_number import ChangeNumber, NumberError
from node.tracking.cnset import CNSet
from node.tracking.idset import IdsetError, decode_idset, encode_idset
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl, PclError
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.scenario.load import scenario_from_text
from topology.file.load import topology_from_text
from topology.problems import ProblemsError
from traces.errors import SegmentError
from traces.events import NodeStopped
from traces.reading import read_files
from transport.errors import CodecError
from transport.mapi.item import Item, decode_item, encode_item
from transport.mapi.mdbef import decode_mdbef, encode_mdbef
from transport.mapi.system_message import Part, SystemMessage
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.headers import incoming_mail
from transport.mime.item_conversion import mail_of_item, post_of_mail
from transport.protocol import xexch50
from transport.protocol.hop_headers import take_hop_line
from transport.protocol.link_state import read_line
from transport.smtp.listener import SmtpListener
from transport.smtp.session import StoreSession

MOST_BYTES: Final = 64 * 1024
"""The largest input. Larger ones are slower and find nothing else."""

GUID: Final = bytes(range(16))
NUMBER: Final = ChangeNumber(GUID, 17)
FOLDER: Final = ChangeNumber(GUID, 3).to_xid()
AUTHORITY: Final = LabAuthority(b"the fuzzer's authority")
POST: Final = encode_message(
    ChangeNumber(GUID, 5).to_xid(),
    NUMBER,
    Pcl.of(NUMBER),
    10**15,
    folder=FOLDER,
    subject="Café",
    body="text",
    sender="kim",
)
MAIL: Final = (
    b"From: Kim <kim@contoso.test>\r\nTo: projects@contoso.test\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\ntext\r\n--b\r\n'
    b'Content-Type: application/octet-stream; name="a.bin"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\n'
)
DIALOGUE: Final = (
    b"EHLO A\r\nMAIL FROM:<a@x.test> SIZE=20 BODY=BINARYMIME\r\nRCPT TO:<b@x.test>\r\nXEXCH50 4+ 1\r\nblob"
    b"BDAT 20 LAST\r\nSubject: x\r\n\r\nbody\r\n"
    b"MAIL FROM:<>\r\nRCPT TO:<b@x.test>\r\nDATA\r\nSubject: x\r\n\r\n..\r\n.\r\nQUIT\r\n"
)


@dataclass(frozen=True, slots=True)
class Target:
    """read: reads an input.
    errors: what it may raise.
    seeds: inputs to begin with.
    """

    name: str
    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]

    def __call__(self, data: bytes) -> None:
        """Read one input. Any exception but one of `errors` is a finding."""
        with suppress(*self.errors):
            self.read(data[:MOST_BYTES])


def _again(read: Callable[[bytes], Any], write: Callable[[Any], bytes]) -> Callable[[bytes], None]:
    """Return a reader that also writes what it read, and reads that."""

    def both(data: bytes) -> None:
        found = read(data)
        assert repr(read(write(found))) == repr(found), "what was read is not what was written"

    return both


def _text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "replace"))


def _post(content: bytes) -> None:
    """A mail that can be posted is read back byte for byte (spec: ML-5)."""
    mail = post_of_mail(content)
    item = encode_item(Item(mail.props, mail.recipients, mail.attachments))
    assert mail_of_item(decode_item(item), message_id="", sender="") == content, "the mail is not the same"


def _headers(content: bytes) -> None:
    take_hop_line(incoming_mail("a@x.test", ["b@x.test"], content))


class _Trusting(Verifier):
    """Believes every signature, so that the fuzzer gets behind it."""

    def verify(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        return True


def _replication(data: bytes) -> None:
    decode(decode_tnef(data), _Trusting(b""))


def _trace(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        read_files([Path(file.name)]).report()


class _Peer(asyncio.Transport):
    """A peer's side of a connection, in memory."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 25)})
        self._closing = False

    def write(self, data: Any) -> None:
        pass

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    abort = close

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0


class _Alarm(logging.Handler):
    """Makes a finding of an error that the listener would only log."""

    error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.error = record.exc_info[1] if record.exc_info else RuntimeError(record.getMessage())


TURNS: Final = 60
"""Rounds of the event loop that a dialogue gets after each piece; each command needs a few."""


async def _dialogue(data: bytes) -> None:
    listener = SmtpListener("B", accept=lambda *_: None, check_recipient=lambda _: None)
    session, peer = StoreSession(listener), _Peer()
    session.connection_made(peer)
    for piece in data.split(b"\0\1"):
        session.data_received(piece)
        for _ in range(TURNS):
            await asyncio.sleep(0)
    session.connection_lost(None)
    handler = cast(Any, session)._handler_coroutine
    await asyncio.gather(handler, return_exceptions=True)
    timer = cast(Any, session)._timeout_handle
    if timer is not None:
        timer.cancel()


def _smtp(data: bytes) -> None:
    """Any bytes of a peer lead to a reply or to the end of the connection."""
    alarm, log = _Alarm(), logging.getLogger("pflab.smtp")
    log.addHandler(alarm)
    propagates, log.propagate = log.propagate, False
    try:
        asyncio.run(_dialogue(data))
    finally:
        log.removeHandler(alarm)
        log.propagate = propagates
    if alarm.error is not None:
        raise alarm.error


def _replication_seed() -> bytes:
    version = Version(ChangeNumber(GUID, 5).to_xid(), NUMBER, Pcl.of(NUMBER), 10**15, POST, "Café")
    numbers = NumberSets(CNSet.of(NUMBER), CNSet.EMPTY)
    mail = ReplicationMail(
        MessageType.CONTENT, "A", GUID, 10**15, 1, 5, "id@x", (Section(FOLDER, numbers, numbers),), (Update(version),)
    )
    return encode_tnef(encode(mail, AUTHORITY.identity("A")))


_SCENARIO: Final = (SCENARIOS_OF_PFLAB / "edit.yaml").read_bytes()
_EVENT: Final = (
    msgspec.json.encode(NodeStopped(run="r", node="A", incarnation=1, seq=1, lamport=1, at=10**15, how="stop")) + b"\n"
)
_PARTS: Final = SystemMessage({}, (Part(POST, {}),))
_SET: Final = CNSet.parse("".join(f"{byte:02x}" for byte in GUID) + ":1-5,9")

TARGETS: Final = (
    Target("tnef", _again(decode_tnef, encode_tnef), (CodecError,), (encode_tnef(_PARTS),)),
    Target("mdbef", _again(decode_mdbef, encode_mdbef), (CodecError,), (encode_mdbef(_PARTS),)),
    Target("item", _again(decode_item, encode_item), (CodecError,), (POST,)),
    Target("replication", _replication, (CodecError, BadMail), (_replication_seed(),)),
    Target("idset", _again(decode_idset, encode_idset), (IdsetError,), (encode_idset(_SET),)),
    Target("pcl", _again(Pcl.decode, Pcl.encode), (PclError, NumberError), (Pcl.of(NUMBER).encode(),)),
    Target("mail", _post, (CodecError,), (MAIL,)),
    Target("headers", _headers, (), (MAIL,)),
    Target("blob", lambda data: xexch50.decode(data, 1, "A"), (CodecError,), ()),
    Target("link", _text(read_line), (), ()),
    Target("smtp", _smtp, (), (DIALOGUE,)),
    Target(
        "topology", _text(topology_from_text), (ProblemsError,), (b"servers: {A: {}}\nfolders: {F: {replicas: [A]}}\n",)
    ),
    Target("scenario", _text(scenario_from_text), (ProblemsError,), (_SCENARIO,)),
    Target("trace", _trace, (SegmentError,), (_EVENT,)),
)
BY_NAME: Final = {target.name: target for target in TARGETS}
