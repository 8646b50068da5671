"""What only a simulated lab can suffer: links that clog, mails altered on their way, servers that fall silent, and
clocks that are wrong.

The simulator asks it beside the fault plan, which both drivers have. Every injection is an event of node "lab"
(fault.injected) and so is its end (fault.healed). Everything random comes from the lab's seed, in the order of the
simulation.

A mail one of whose items cannot be decoded although the mail is sound: a store whose memory failed as it packed.

Altered on its way the whole mail would be refused, because its signature covers the items; so it is signed anew.
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
from traces.labtime import LabTime, format_duration, format_instant
from transport.errors import CodecError
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.message import BodyForm, system_body
from transport.mime.tamper import with_body

if TYPE_CHECKING:
    from node.codec.signing import LabAuthority
    from topology import Topology
    from transport.envelope import Transmission


_HEADER_END = b"\r\n\r\n"
_MOST_FLIPS = 4
_MOST_NOISE_BYTES = 64


class Alteration(StrEnum):
    """What becomes of an altered mail's bytes. The headers stay, so that both ends of the mail can be told apart."""

    FLIP = "flip"
    """A few bits are turned."""
    CUT = "cut"
    """The end is missing."""
    NOISE = "noise"
    """A stretch of it is something else."""
    ITEM = "item"
    """One of its items is broken, and the sender has signed it so: a store whose memory fails."""


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


class Weather:
    """Belongs to one simulated lab. `injected` and `healed` are as those of the fault plan; `authority` issued the keys
    that mails with a broken item are signed with.

    Every name is checked against the topology: LabError says which one is unknown.
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
        self._stores = {topology.address_of(name).lower(): name for name in topology.servers}
        self._random = random.Random(seed)
        self._injected = injected
        self._healed = healed
        self._number = 0
        self._corruptions: dict[str, _Corruption] = {}
        self._clogs: dict[str, _Clog] = {}
        self._silences: dict[str, _Silence] = {}
        self._skews: dict[str, tuple[str, int]] = {}
        self.fair = True
        """Nothing of all this is in force; drivers need ask no more."""

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
            raise LabError(f"there is no message type {type!r}; there is {', '.join(MAIL_TYPES)}")
        details = {"from": from_, "to": to, "type": type, "how": how.value, "count": count}
        id_ = self._begin("corrupt", details)
        self._corruptions[id_] = _Corruption(id_, how, from_, to, type, count)
        return id_

    def clog(self, link: tuple[str, str], until_at: LabTime) -> str:
        """Hold everything that goes from the first server to the second until then."""
        for name in link:
            self._known(name)
        id_ = self._begin("clog", {"link": " -> ".join(link), "until": format_instant(until_at)})
        self._clogs[id_] = _Clog(id_, link, until_at)
        return id_

    def silence(self, server: str, until_at: LabTime, *, commits: bool = False) -> str:
        """A server whose disk is slow: until then it does nothing and answers nobody. With `commits` what is handed to
        it becomes durable, only the answer comes too late to count."""
        self._known(server)
        details = {"server": server, "until": format_instant(until_at), "commits": commits}
        id_ = self._begin("silence", details)
        self._silences[server] = _Silence(id_, until_at, commits)
        return id_

    def skew(self, server: str, by_us: int) -> str:
        """The server's clock shows that much more than the lab's, or less (spec: TM-1)."""
        self._known(server)
        id_ = self._begin("skew", {"server": server, "by": format_duration(by_us)})
        self._skews[server] = (id_, by_us)
        return id_

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all; one that has ended already is passed over."""
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
        self.fair = not (self._corruptions or self._clogs or self._silences or self._skews)

    # --- asked by the simulator

    def clock_of(self, server: str, now: LabTime) -> LabTime:
        """What the server's clock shows when the lab's shows `now`."""
        return now if self.fair else now + self._skew_of(server)

    def due_at(self, server: str, due_at: LabTime) -> LabTime:
        """When the lab's clock is at what the server has due by its own, and it does something."""
        silence = self._silences.get(server)
        due_at -= self._skew_of(server)
        return due_at if silence is None else max(due_at, silence.until_at)

    def silent(self, server: str, now: LabTime) -> bool:
        silence = self._silences.get(server)
        return silence is not None and now < silence.until_at

    def commits_silently(self, server: str) -> bool:
        """Of a silent server: whether what is handed to it becomes durable."""
        return self._silences[server].commits

    def held_until(self, server: str, transmission: Transmission, now: LabTime) -> LabTime | None:
        """When a transmission may go whose link is clogged."""
        link = (server, transmission.next_hop)
        ends = [clog.until_at for clog in self._clogs.values() if clog.link == link and clog.until_at > now]
        return max(ends, default=None)

    def content(self, transmission: Transmission) -> bytes:
        """The mail as it comes out of the wire."""
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
        if fault.from_ is not None and self._stores.get(transmission.sender.lower()) != fault.from_:
            return False
        if fault.type is not None and transmission.subject != MAIL_TYPES[fault.type]:
            return False
        into = transmission.next_hop
        return fault.to in (None, into) and into in self._named(transmission.recipients)

    def _named(self, recipients: Sequence[str]) -> list[str | None]:
        return [self._stores.get(recipient.lower()) for recipient in recipients]

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
        self.fair = False
        id_ = f"W{self._number}"
        self._injected(id_, kind, {name: str(value) for name, value in details.items() if value is not None})
        return id_

    def _known(self, server: str) -> None:
        if server not in self._servers:
            raise LabError(f"there is no server {server!r}; there is {', '.join(self._servers)}")


def with_a_broken_item(content: bytes, authority: LabAuthority, choice: random.Random) -> bytes:
    """The mail with half of one item cut off; the mail itself where it brings none in TNEF, or
    one is broken already. `authority`: of the lab."""
    try:
        found = system_body(content)
        if found is None or found[0] is BodyForm.MDBEF:
            return content
        form, body = found
        mail = decode(decode_tnef(body), Verifier(authority.identity("").authority_key))
    except (BadMail, CodecError):
        return content  # something else has altered it
    if mail.failed:
        return content  # what was broken before would be left out, and its sender would claim what it does not bring
    items = [index for index, update in enumerate(mail.updates) if update.version.item]
    if not items:
        return content
    at = choice.choice(items)
    version = mail.updates[at].version
    assert version.item is not None, "only updates with items were taken"
    broken = replace(mail.updates[at], version=replace(version, item=version.item[: len(version.item) // 2]))
    mail = replace(mail, updates=(*mail.updates[:at], broken, *mail.updates[at + 1 :]))
    return with_body(content, form, encode_tnef(encode(mail, authority.identity(mail.store))))
