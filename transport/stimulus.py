"""What a driver hands down to an agent: one stimulus is one transaction.

The agents (the MTA here, the store's agent above) are plain functions of a stimulus. They read no clock,
draw no random number and open no socket; all they touch is the connection and the recorder in their hands.
That is what lets the simulator run the very code that the live servers run, and what makes a kill at any
instruction harmless.
"""

from dataclasses import dataclass

from traces.labtime import LabTime
from traces.recorder import Recorder
from transport.sql import Connection


@dataclass(slots=True)
class Stimulus:
    """One stimulus of a server: state changes, events and outgoing mail commit together or not at all.

    `conn` is the server's one writer connection with a transaction open, `now` the lab time at which the
    stimulus runs (microseconds since 1970, UTC), `trace` takes the events. The driver commits; an agent
    never does.
    """

    # spec: OUT-9, TM-1
    conn: Connection
    now: LabTime
    trace: Recorder
