"""The system message: the value that a replication mail carries in a TNEF or MDBEF envelope.

A system message is a bag of control properties and a list of parts. A part is the stream of one item, with exactly the bytes
that its store encoded, and a bag of properties next to it. TNEF and MDBEF are two envelopes of this value, so changing the
envelope never changes an item.

(spec: ML-2)
"""

from dataclasses import dataclass, field
from typing import Final

from transport.mapi.properties import Bag

CLASS_REPLICATION: Final = "IPM.Replication"
"""Message class of every replication mail [reference/exchange.md section 3]."""


@dataclass(frozen=True, slots=True)
class RawAttribute:
    """A TNEF attribute that this version does not know; decoding and encoding keep it.

    ``code`` is the attribute's 32-bit id with its type, as on the wire; ``attachment`` is the index of the
    attachment it belongs to, or -1 for an attribute of the message itself.
    """

    code: int
    data: bytes
    attachment: int = -1


@dataclass(slots=True, unsafe_hash=True)  # never changed; a frozen one takes three times as long to create
class Part:
    """One item in a mail: its stream, which is never encoded again, and the properties next to it."""

    item: bytes
    props: Bag = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """Control properties, parts, and the attributes that a newer version added to the envelope."""

    props: Bag
    parts: tuple[Part, ...] = ()
    extra: tuple[RawAttribute, ...] = ()
