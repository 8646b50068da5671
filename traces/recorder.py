"""The recorder of one node: it stamps events and hands over a stimulus's lines.

A stimulus is one transaction. Its events become one row of that transaction, so an event is in the trace
exactly if what it tells of is in the database. Hence the protocol:

    recorder.begin(now)            a stimulus starts; what the one before recorded is final
    recorder.record(Kind, ...)     any number of times
    recorder.take()                the lines to store, in the same transaction
    recorder.discard()             instead, or after a failed commit: the numbers are given back

A bulk stimulus records thousands of events, so an event is kept as the dictionary of its own fields and
written from it (2 us with encoding; making the typed value first would cost half as much again). The typed
value is made when somebody asks for `events`; that is also when a field that is missing, unknown or of the
wrong type is found, unless the recorder is `checked`.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from traces.errors import TraceError
from traces.events import EVENT_TYPES
from traces.events.header import Event
from traces.labtime import LabTime
from traces.trace_version import TRACE_MAJOR

_ENCODER: Final = msgspec.json.Encoder()
# What the recorder writes into the header, and nobody else; the Message-ID comes with the event.
_STAMPED: Final = frozenset(Event.__struct_fields__) - {"mail"}
_TAGS: Final = {kind: _ENCODER.encode(tag) for tag, kind in EVENT_TYPES.items()}


@cache
def _own_fields(kind: type[Event]) -> frozenset[str]:
    """The fields that whoever records an event may give it."""
    return frozenset(kind.__struct_fields__) - _STAMPED


class Recorder:
    """Stamps header fields and keeps the node's sequence and Lamport numbers.

    seq and lamport: the numbers last used, as read from the database at start (0 and 0 at first).
    real_time: seconds since 1970, for the header's `real`; None in simulation.
    checked: compare each event with its definition as it is recorded (for tests).
    """

    __slots__ = (
        "_checked",
        "_kept",
        "_mark",
        "_real",
        "_real_time",
        "_taken",
        "at",
        "incarnation",
        "lamport",
        "node",
        "run",
        "seq",
    )

    def __init__(
        self,
        *,
        run: str,
        node: str,
        incarnation: int = 1,
        seq: int = 0,
        lamport: int = 0,
        at: LabTime = 0,
        real_time: Callable[[], float] | None = None,
        checked: bool = False,
    ) -> None:
        self.run = run
        self.node = node
        self.incarnation = incarnation
        self.seq = seq
        self.lamport = lamport
        self._real_time = real_time
        self._checked = checked
        self.begin(at)

    def begin(self, at: LabTime) -> None:
        """Start a stimulus at lab time `at`; events recorded before are final."""
        self.at = at
        self._real = None if self._real_time is None else self._real_time()
        self._mark = (self.seq, self.lamport)
        self._kept: list[tuple[type[Event], int, int, dict[str, Any]]] = []
        self._taken = 0

    def record(self, kind: type[Event], /, **fields: Any) -> None:
        """Keep an event for `take`. `fields` are those of its class; `mail` may be among them.

        TraceError, when `checked`, for fields that do not fit.
        """
        seq = self.seq + 1
        lamport = self.lamport + 1
        if self._checked:
            _typed(self._common(), kind, seq, lamport, fields)
        self.seq = seq
        self.lamport = lamport
        self._kept.append((kind, seq, lamport, fields))

    def lamport_seen(self, lamport: int) -> None:
        """Merge the Lamport number of a message received: later events here come after it."""
        self.lamport = max(self.lamport, lamport)

    def recorded(self) -> Iterator[tuple[type[Event], dict[str, Any]]]:
        """Class and own fields of the events of the present stimulus, as they were given."""
        return ((kind, fields) for kind, _, _, fields in self._kept)

    @property
    def events(self) -> list[Event]:
        """The events of the present stimulus, taken or not. TraceError for fields that do not fit."""
        common = self._common()
        return [_typed(common, *kept) for kept in self._kept]

    def take(self) -> bytes:
        """The JSON lines of the events not yet taken, each ended by a newline; b'' if there are none."""
        fresh = self._kept[self._taken :]
        self._taken = len(self._kept)
        common = _ENCODER.encode(self._common())[1:-1]
        encode = _ENCODER.encode
        # Header first, for the people who read the lines: the event's own dictionary follows its bytes.
        lines = [
            b'{"type":%b,%b,"seq":%d,"lamport":%d%b%b\n'
            % (_TAGS[kind], common, seq, lamport, b"," if fields else b"", encode(fields)[1:])
            for kind, seq, lamport, fields in fresh
        ]
        return b"".join(lines)

    def discard(self) -> None:
        """Forget the stimulus, taken or not, and give its numbers back; good until the next `begin`."""
        self.seq, self.lamport = self._mark
        self._kept = []
        self._taken = 0

    def _common(self) -> dict[str, Any]:
        common: dict[str, Any] = {
            "run": self.run,
            "node": self.node,
            "incarnation": self.incarnation,
            "at": self.at,
        }
        if self._real is not None:
            common["real"] = self._real
        if TRACE_MAJOR != 1:
            common["v"] = TRACE_MAJOR
        return common


def _typed(common: dict[str, Any], kind: type[Event], seq: int, lamport: int, fields: dict[str, Any]) -> Event:
    if not fields.keys() <= _own_fields(kind):
        raise TraceError(f"{kind.__name__} has no field {', '.join(sorted(fields.keys() - _own_fields(kind)))}")
    line = {**common, "seq": seq, "lamport": lamport, **fields, "type": kind.__struct_config__.tag}
    try:
        return msgspec.convert(line, kind)
    except msgspec.ValidationError as error:
        raise TraceError(f"an event {line['type']} does not fit its definition: {error}") from error
