"""What every event of a trace carries (SPEC.md section 16)."""

from typing import Annotated

import msgspec

from traces.labtime import LabTime


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """The header. `type` is the tag of the class, such as `version.applied`.

    run          the run's id
    node         the store's server name; a lab coordinator or simulator names itself
    incarnation  how often the node has been started, from 1
    seq          number of the event on its node and in its run: from 1, without gaps, across incarnations
    lamport      Lamport number: larger than that of every event that led here
    at           lab time of the stimulus, microseconds since 1970
    real         real time in seconds since 1970; left out in simulation
    mail         Message-ID, where a mail is concerned: it ties the two ends together
    v            major version of the trace format; left out while it is 1

    Sets of change numbers are text, `{guid hex}:lo-hi,lo-hi;{guid hex}:lo`, ascending, '' when empty. A
    change number and an object id are `{guid hex}:{counter}`; a folder is its object id or `1-1`, the
    hierarchy.

    Fields with a default are left out of the line while they hold it. Nothing in an event can form a
    cycle, so the garbage collector need not know of it (gc=False).
    """

    run: str
    node: str
    incarnation: int
    seq: Annotated[int, msgspec.Meta(ge=1)]
    lamport: int
    at: LabTime
    real: float | None = None
    mail: str | None = None
    v: int = 1
