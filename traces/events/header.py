"""The header that every event of a trace has."""

from typing import Annotated

import msgspec

from traces.labtime import LabTime


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """The header. `type` is the tag of the class, such as `version.applied`.

    run          the run's id
    node         the server name of the store; "lab" for events of the lab itself
    incarnation  how often the node has been started, from 1
    seq          the number of the event on its node in this run: from 1, without gaps, across incarnations
    lamport      the Lamport number, larger than the Lamport number of every event that caused this event
    at           the lab time of the stimulus, microseconds since 1970
    real         the real time in seconds since 1970; left out in simulation
    mail         the Message-ID if the event is about a mail; it is the same in the events of the sender and of the receiver
    v            the major version of the trace format; left out if it is 1

    A set of change numbers is a text in ascending order, `{guid hex}:lo-hi,lo-hi;{guid hex}:lo`. An empty set is ''. A change
    number and an object id are `{guid hex}:{counter}`. A folder is its object id, or `1-1` for the hierarchy.

    A field that has its default value is left out of the line. Events cannot form reference cycles, so the garbage collector
    does not track them (gc=False).
    """

    run: str
    node: str
    incarnation: int
    seq: Annotated[int, msgspec.Meta(ge=1, le=2**62)]
    lamport: int
    at: LabTime
    real: float | None = None
    mail: str | None = None
    v: int = 1
