"""A stimulus: what a driver gives to an agent. One stimulus is one transaction.

The agents (the MTA, and the replication agent of `node`) are plain functions of a stimulus. They read no clock, draw no
random numbers and open no sockets; they use only the stimulus's connection and recorder. So the simulator runs the same
code as live servers, and a kill at any instruction loses nothing.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from traces.labtime import LabTime
from traces.recorder import Recorder
from transport.sql import Connection

STIMULUS_BYTES: Final = 8 * 1024 * 1024
"""How much one stimulus does, in bytes of items. The rest of a long task follows in further stimuli at the same instant, so
that no stimulus lasts long."""

UPDATE_BYTES: Final = 2048
"""How many bytes a change or mail counts in addition to its size. This is the fixed cost of a small change, as a part of the
time of a large one."""


class Crossing(NamedTuple):
    """A mail that has crossed a connector. `system`: it is a replication mail, and its subject says its type."""

    connector: str
    subject: str
    system: bool
    size: int


@dataclass(slots=True)
class Stimulus:
    """One stimulus of a server: state changes, events and outgoing mail commit together or not at all.

    `conn` is the server's only writing connection, with an open transaction; `now` is the lab time of the stimulus
    (microseconds since 1970, UTC); `trace` records the events. The driver commits; an agent never does. `work` counts what the
    agent has done, in bytes; an agent that has much to do leaves the rest for the next stimulus. `crossings` has the mails that
    the next servers have accepted over connectors.
    """

    # spec: OUT-9, TM-1
    conn: Connection
    now: LabTime
    trace: Recorder
    work: int = 0
    crossings: list[Crossing] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        """Whether the stimulus has done as much as one stimulus does."""
        return self.work >= STIMULUS_BYTES
