"""The system message: what one replication mail carries, whatever envelope it travels in.

A system message is a bag of control properties and a list of parts. A part is one item's stream, carried as
the very bytes its store encoded, and a bag of properties that travel beside it. TNEF and MDBEF are two
envelopes of this one value, so changing the envelope never touches an item.

(spec: ML-2)
"""

from dataclasses import dataclass, field
from typing import Final

from transport.mapi.properties import Bag

CLASS_REPLICATION: Final = "IPM.Replication"
"""Message class of every replication mail [reference/exchange.md section 3]."""


@dataclass(frozen=True, slots=True)
class RawAttribute:
    """A TNEF attribute that this version knows nothing of; kept so that it survives decode and encode.

    ``code`` is the attribute's 32-bit id with its type, as on the wire; ``attachment`` is the index of the
    attachment it belongs to, or -1 for an attribute of the message itself.
    """

    code: int
    data: bytes
    attachment: int = -1


@dataclass(slots=True, unsafe_hash=True)  # never changed; frozen ones take three times as long to make
class Part:
    """One item in a mail: its stream (never re-encoded) and the properties that travel beside it."""

    item: bytes
    props: Bag = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """Control properties, parts, and what an unknown newer sender added to the envelope."""

    props: Bag
    parts: tuple[Part, ...] = ()
    extra: tuple[RawAttribute, ...] = ()
