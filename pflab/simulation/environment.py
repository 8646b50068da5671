"""Faults that only a simulated lab can have: clogged links, altered mails, silent servers, and wrong clocks.

The simulator asks the environment in addition to the fault plan, which all drivers have. Every injection is an event of node
"lab" (fault.injected), and so is its end (fault.healed). Every random choice comes from the lab's seed, in the order of the
simulator's steps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from node.codec.replication_message import decode, encode
from node.codec.signing import LabAuthority, Verifier
from node.errors import BadMail
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES
from pflab.faults.fault_plan import local_part
from traces.labtime import LabTime, format_duration, format_instant
from transport.errors import CodecError
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.message import BodyForm, system_body
from transport.mime.tamper import with_body

if TYPE_CHECKING:
    from node.codec.signing import LabAuthority
    from topology.model import Topology
    from transport.envelope import Transmission


_HEADER_END = b"\r\n\r\n"
_MOST_FLIPS = 4
_MOST_NOISE_BYTES = 64


class Alteration(StrEnum):
    """How the bytes of a mail are altered. The headers stay, so that its sender and recipients remain known."""

    FLIP = "flip"
    """A few bits are flipped."""
    CUT = "cut"
    """The end is missing."""
    NOISE = "noise"
    """A part is replaced by random bytes."""
    ITEM = "item"
    """One item is broken and the signature is valid, as from a store whose memory fails."""


@dataclass(slots=True)
class _Corruption:
    id: str
    how: Alteration
    from_: str | None
    to: str | None
    type: str | None
    count: int | None


@dataclass(frozen=True, slots=True)
class _Clog:
    id: str
    link: tuple[str, str]
    until_at: LabTime


@dataclass(frozen=True, slots=True)
class _Silence:
    id: str
    until_at: LabTime
    commits: bool


class Environment:
    """The environment of one simulated lab.

    It calls `injected` and `healed` as the fault plan does. `authority` issues the key with which it signs a mail that has
    a broken item. It checks every name against the topology, and raises LabError with an unknown name.
    """

    def __init__(
        self,
        topology: Topology,
        seed: bytes,
        *,
        injected: Callable[[str, str, Mapping[str, str]], None],
        healed: Callable[[str], None],
        authority: LabAuthority,
    ) -> None:
        self._authority = authority
        self._servers = tuple(topology.servers)
        self._stores = {local_part(topology.address_of(name)): name for name in topology.servers}
        self._random = random.Random(seed)
        self._injected = injected
        self._healed = healed
        self._number = 0
        self._corruptions: dict[str, _Corruption] = {}
        self._clogs: dict[str, _Clog] = {}
        self._silences: dict[str, _Silence] = {}
        self._skews: dict[str, tuple[str, int]] = {}
        self.undisturbed = True
        """Whether no fault of the environment is active. The simulator then need not ask about single mails and servers."""

    # --- injecting: each returns the fault's id, "W1", "W2", ...

    def corrupt(
        self,
        from_: str | None = None,
        to: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of scenarios
        count: int | None = None,
        *,
        how: Alteration = Alteration.FLIP,
    ) -> str:
        """Alter mails on the hop that enters a recipient's own server."""
        for name in (from_, to):
            if name is not None:
                self._known(name)
        if type is not None and type not in MAIL_TYPES:
            raise LabError(f"{type!r} is not a message type; the types are {', '.join(MAIL_TYPES)}")
        details = {"from": from_, "to": to, "type": type, "how": how.value, "count": count}
        id_ = self._begin("corrupt", details)
        self._corruptions[id_] = _Corruption(id_, how, from_, to, type, count)
        return id_

    def clog(self, link: tuple[str, str], until_at: LabTime) -> str:
        """Hold every mail from the first server to the second until that lab time."""
        for name in link:
            self._known(name)
        id_ = self._begin("clog", {"link": " -> ".join(link), "until": format_instant(until_at)})
        self._clogs[id_] = _Clog(id_, link, until_at)
        return id_

    def silence(self, server: str, until_at: LabTime, *, commits: bool = False) -> str:
        """Let a server do nothing and answer nobody until that lab time, as if its disk were slow. With `commits` it stores the
        mails that it receives, but its answers come too late."""
        self._known(server)
        details = {"server": server, "until": format_instant(until_at), "commits": commits}
        id_ = self._begin("silence", details)
        self._silences[server] = _Silence(id_, until_at, commits)
        return id_

    def skew(self, server: str, by_us: int) -> str:
        """Set the server's clock `by_us` ahead of the lab's, or behind it if `by_us` is negative (spec: TM-1)."""
        self._known(server)
        id_ = self._begin("skew", {"server": server, "by": format_duration(by_us)})
        self._skews[server] = (id_, by_us)
        return id_

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all. Do nothing for a fault that has ended already."""
        for found in (self._corruptions, self._clogs):
            for id_ in [id_ for id_ in found if fault in (None, id_)]:
                del found[id_]
                self._healed(id_)
        for server, silence in list(self._silences.items()):
            if fault in (None, silence.id):
                del self._silences[server]
                self._healed(silence.id)
        for server, (id_, _) in list(self._skews.items()):
            if fault in (None, id_):
                del self._skews[server]
                self._healed(id_)
        self.undisturbed = not (self._corruptions or self._clogs or self._silences or self._skews)

    # --- asked by the simulator

    def clock_of(self, server: str, now: LabTime) -> LabTime:
        """Return what the server's clock shows when the lab's shows `now`."""
        return now if self.undisturbed else now + self._skew_of(server)

    def due_at(self, server: str, due_at: LabTime) -> LabTime:
        """Return the lab time at which the server acts on a row that is due at `due_at` by its own clock."""
        silence = self._silences.get(server)
        due_at -= self._skew_of(server)
        return due_at if silence is None else max(due_at, silence.until_at)

    def silent(self, server: str, now: LabTime) -> bool:
        """Whether the server answers nobody at present."""
        silence = self._silences.get(server)
        return silence is not None and now < silence.until_at

    def commits_silently(self, server: str) -> bool:
        """Whether a silent server stores the mails that it receives."""
        return self._silences[server].commits

    def held_until(self, server: str, transmission: Transmission, now: LabTime) -> LabTime | None:
        """Return when a mail on a clogged link may leave; None if the link is not clogged."""
        link = (server, transmission.next_hop)
        ends = [clog.until_at for clog in self._clogs.values() if clog.link == link and clog.until_at > now]
        return max(ends, default=None)

    def content(self, transmission: Transmission) -> bytes:
        """Return the content as the receiving server gets it."""
        content = transmission.content
        for fault in list(self._corruptions.values()):
            if self._meets(fault, transmission):
                broken = self._altered(content, fault.how)
                if broken == content:
                    continue  # a mail without an item to break
                content = broken
                if fault.count is not None:
                    fault.count -= 1
                    if fault.count <= 0:
                        self.heal(fault.id)
        return content

    # --- inside

    def _meets(self, fault: _Corruption, transmission: Transmission) -> bool:
        if fault.from_ is not None and self._stores.get(local_part(transmission.sender)) != fault.from_:
            return False
        if fault.type is not None and transmission.subject != MAIL_TYPES[fault.type]:
            return False
        into = transmission.next_hop
        return fault.to in (None, into) and into in self._named(transmission.recipients)

    def _named(self, recipients: Sequence[str]) -> list[str | None]:
        return [self._stores.get(local_part(recipient)) for recipient in recipients]

    def _altered(self, content: bytes, how: Alteration) -> bytes:
        if how is Alteration.ITEM:
            return with_a_broken_item(content, self._authority, self._random)
        start = content.find(_HEADER_END) + len(_HEADER_END)
        if start < len(_HEADER_END) or start >= len(content):
            return content
        at = self._random.randrange(start, len(content))
        if how is Alteration.CUT:
            return content[:at]
        if how is Alteration.NOISE:
            noise = self._random.randbytes(self._random.randint(1, _MOST_NOISE_BYTES))
            return content[:at] + noise + content[at + len(noise) :]
        altered = bytearray(content)
        for _ in range(self._random.randint(1, _MOST_FLIPS)):
            altered[self._random.randrange(start, len(content))] ^= 1 << self._random.randrange(8)
        return bytes(altered)

    def _skew_of(self, server: str) -> int:
        skew = self._skews.get(server)
        return 0 if skew is None else skew[1]

    def _begin(self, kind: str, details: Mapping[str, object]) -> str:
        self._number += 1
        self.undisturbed = False
        id_ = f"W{self._number}"
        self._injected(id_, kind, {name: str(value) for name, value in details.items() if value is not None})
        return id_

    def _known(self, server: str) -> None:
        if server not in self._servers:
            raise LabError(f"there is no server {server!r}; the servers are {', '.join(self._servers)}")


def with_a_broken_item(content: bytes, authority: LabAuthority, choice: random.Random) -> bytes:
    """Return the mail with one item cut to half its length, signed again with a key of `authority`.

    The signature of a mail covers its items, so without a new signature the receiver would refuse the whole mail. Return the
    content unchanged if it has no item in TNEF, or has a broken one already.
    """
    try:
        found = system_body(content)
        if found is None or found[0] is BodyForm.MDBEF:
            return content
        form, body = found
        mail = decode(decode_tnef(body), Verifier(authority.identity("").authority_key))
    except (BadMail, CodecError):
        return content  # something else has altered it
    if mail.failed:
        return content  # encoding drops the item that is broken already; the mail would claim a change that it lacks
    items = [index for index, update in enumerate(mail.updates) if update.version.item]
    if not items:
        return content
    at = choice.choice(items)
    version = mail.updates[at].version
    assert version.item is not None, "only updates with items were taken"
    broken = replace(mail.updates[at], version=replace(version, item=version.item[: len(version.item) // 2]))
    mail = replace(mail, updates=(*mail.updates[:at], broken, *mail.updates[at + 1 :]))
    return with_body(content, form, encode_tnef(encode(mail, authority.identity(mail.store))))
