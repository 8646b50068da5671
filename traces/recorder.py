"""The recorder of one node: it numbers the events of a stimulus and returns them as lines.

A stimulus is one transaction. Its events become one row of that transaction, so an event is in the trace if and only if
the change that it describes is in the database. The calls for one stimulus:

| call | meaning |
|---|---|
| `begin(now)` | a stimulus starts; the events before are final |
| `record(Kind, ...)` | record an event, any number of times |
| `take()` | get the lines to store in the same transaction |
| `discard()` | forget the events and use their numbers again; called instead of `take`, or after a failed commit |

A bulk stimulus records thousands of events. So the recorder keeps an event as a dictionary of the event's own fields and
encodes this dictionary, which takes 2 us. To create the typed value first would take 3 us. The typed value is made only
when `events` is read. Missing, unknown or wrong fields are found only at that time, or at once if the recorder is `checked`.
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
# The header fields that the recorder sets. `mail`, the Message-ID, is given with the event.
_STAMPED: Final = frozenset(Event.__struct_fields__) - {"mail"}
_TAGS: Final = {kind: _ENCODER.encode(tag) for tag, kind in EVENT_TYPES.items()}


@cache
def _own_fields(kind: type[Event]) -> frozenset[str]:
    """Return the fields that callers of `record` may give."""
    return frozenset(kind.__struct_fields__) - _STAMPED


class Recorder:
    """Records the events of a node: sets the header fields of each event, and gives it the next sequence and Lamport number.

    seq and lamport: the last used numbers, which the database has kept (0 and 0 in a new database).
    real_time: seconds since 1970, for the header's `real`; None in simulation.
    checked: check each event against its definition when it is recorded (for tests).
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
        """Start a stimulus at lab time `at`. Events recorded before are final."""
        self.at = at
        self._real = None if self._real_time is None else self._real_time()
        self._mark = (self.seq, self.lamport)
        self._kept: list[tuple[type[Event], int, int, dict[str, Any]]] = []
        self._taken = 0

    def record(self, kind: type[Event], /, **fields: Any) -> None:
        """Record an event. `fields` are the fields of its class, and `mail`. If `checked`, raises TraceError for wrong
        fields."""
        seq = self.seq + 1
        lamport = self.lamport + 1
        if self._checked:
            _typed(self._common(), kind, seq, lamport, fields)
        self.seq = seq
        self.lamport = lamport
        self._kept.append((kind, seq, lamport, fields))

    def lamport_seen(self, lamport: int) -> None:
        """Take over the Lamport number of a received message, so that later events of this node have larger numbers."""
        self.lamport = max(self.lamport, lamport)

    def recorded(self) -> Iterator[tuple[type[Event], dict[str, Any]]]:
        """Return the class and the own fields of each event of the present stimulus, as given to `record`."""
        return ((kind, fields) for kind, _, _, fields in self._kept)

    @property
    def events(self) -> list[Event]:
        """The events of the present stimulus, also those that `take` has returned. Raises TraceError for wrong fields."""
        common = self._common()
        return [_typed(common, *event) for event in self._kept]

    def take(self) -> bytes:
        """Return the JSON lines, with newlines, of the events that `take` has not returned yet; b'' if there are none."""
        fresh = self._kept[self._taken :]
        self._taken = len(self._kept)
        common = _ENCODER.encode(self._common())[1:-1]
        encode = _ENCODER.encode
        # People read these lines, so the header comes first, then the event's own fields.
        lines = [
            b'{"type":%b,%b,"seq":%d,"lamport":%d%b%b\n'
            % (_TAGS[kind], common, seq, lamport, b"," if fields else b"", encode(fields)[1:])
            for kind, seq, lamport, fields in fresh
        ]
        return b"".join(lines)

    def discard(self) -> None:
        """Forget all events of the stimulus, even if `take` returned them, and reuse their numbers. Call it before `begin`."""
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
