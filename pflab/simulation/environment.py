"""Faults that only a simulated lab can have: mails altered at random, servers that stall, and wrong clocks.

The fault plan, which all drivers have, keeps these faults, and the simulator asks the environment what they do. Every random
choice comes from the lab's seed, in the order of the simulator's steps.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from node.codec.replication_message import decode, encode
from node.codec.signing import LabAuthority, Verifier
from node.errors import BadMail
from pflab.faults.fault import Alter, Stall
from traces.labtime import LabTime
from transport.errors import CodecError
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.message import BodyForm, system_body
from transport.mime.tamper import with_body

if TYPE_CHECKING:
    from pflab.faults.active_fault import ActiveFault
    from pflab.faults.fault_plan import FaultPlan
    from transport.protocol.fault_points import BeforeSend


_HEADER_END = b"\r\n\r\n"
_MOST_FLIPS = 4
_MOST_NOISE_BYTES = 64


class Environment:
    """The environment of one simulated lab: it plays the faults that a FaultPlan only records.

    faults: the faults of the lab.
    authority: issues the key that signs a mail with a broken item.
    """

    def __init__(self, faults: FaultPlan, seed: bytes, authority: LabAuthority) -> None:
        self._faults = faults
        self._authority = authority
        self._random = random.Random(seed)

    @property
    def undisturbed(self) -> bool:
        """Whether no such fault is active. The simulator then need not ask about single mails and servers."""
        return not self._faults.disturbs_servers

    def clock_of(self, server: str, now: LabTime) -> LabTime:
        """Return what the server's clock shows when the lab's shows `now`."""
        return now if self.undisturbed else now + self._faults.skew_us(server)

    def due_at(self, server: str, due_at: LabTime) -> LabTime:
        """Return the lab time at which the server acts on a row that is due at `due_at` by its own clock."""
        stall = self._stall(server)
        due_at -= self._faults.skew_us(server)
        return due_at if stall is None else max(due_at, stall.until_at or 0)

    def silent(self, server: str, now: LabTime) -> bool:
        """Whether the server answers nobody at present."""
        stall = None if self.undisturbed else self._stall(server)
        return stall is not None and now < (stall.until_at or 0)

    def commits_silently(self, server: str) -> bool:
        """Whether a silent server stores the mails that it receives."""
        stall = self._stall(server)
        return stall is not None and isinstance(stall.asked, Stall) and stall.asked.commits

    def content(self, point: BeforeSend) -> bytes:
        """Return the content as the receiving server gets it."""
        content = point.transmission.content
        for active, fault in self._faults.of(Alter):
            if fault.how is not None and self._faults.meets(fault, point):
                broken = self._altered(content, fault.how)
                if broken == content:
                    continue  # a mail without an item to break
                content = broken
                self._faults.use(active)
        return content

    def _stall(self, server: str) -> ActiveFault | None:
        """Return the latest fault that stalls a server."""
        return next((active for active, fault in reversed(self._faults.of(Stall)) if fault.server == server), None)

    def _altered(self, content: bytes, how: str) -> bytes:
        if how == "item":
            return with_a_broken_item(content, self._authority, self._random)
        start = content.find(_HEADER_END) + len(_HEADER_END)
        if start < len(_HEADER_END) or start >= len(content):
            return content
        at = self._random.randrange(start, len(content))
        if how == "cut":
            return content[:at]
        if how == "noise":
            noise = self._random.randbytes(self._random.randint(1, _MOST_NOISE_BYTES))
            return content[:at] + noise + content[at + len(noise) :]
        altered = bytearray(content)
        for _ in range(self._random.randint(1, _MOST_FLIPS)):
            altered[self._random.randrange(start, len(content))] ^= 1 << self._random.randrange(8)
        return bytes(altered)


def with_a_broken_item(content: bytes, authority: LabAuthority, choice: random.Random) -> bytes:
    """Return the mail with one item cut to half its length, signed again with a key of `authority`.

    The signature of a mail covers its items, so without a new signature the receiver would refuse the whole mail. Return the
    content unchanged if it has no item in TNEF, or has a broken one already.
    """
    try:
        part = system_body(content)
        if part is None or part[0] is BodyForm.MDBEF:
            return content
        form, body = part
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
