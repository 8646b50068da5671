"""A stimulus: what a driver gives to an agent. One stimulus is one transaction.

The agents (the MTA, and the replication agent of `node`) are plain functions of a stimulus. They read no clock, draw no
random numbers and open no sockets; they use only the stimulus's connection and recorder. So the simulator runs the same
code as live servers, and a kill at any instruction loses nothing.
"""

from dataclasses import dataclass
from typing import Final

from traces.labtime import LabTime
from traces.recorder import Recorder
from transport.sql import Connection

STIMULUS_BYTES: Final = 8 * 1024 * 1024
"""The work of one stimulus, in bytes of items. The rest of a long piece of work follows at the same instant in further stimuli,
so that no stimulus lasts long."""

UPDATE_BYTES: Final = 2048
"""What a change or a mail counts as work in addition to its bytes: a small one takes as long as this many bytes of a large
one."""


@dataclass(slots=True)
class Stimulus:
    """One stimulus of a server: state changes, events and outgoing mail commit together or not at all.

    `conn` is the server's only writing connection, with an open transaction; `now` is the lab time of the stimulus
    (microseconds since 1970, UTC); `trace` records the events. The driver commits; an agent never does. `work` counts the
    bytes that the agent has put into mails; an agent that has much to do leaves the rest due, for the next stimulus.
    """

    # spec: OUT-9, TM-1
    conn: Connection
    now: LabTime
    trace: Recorder
    work: int = 0

    @property
    def enough(self) -> bool:
        """Whether the stimulus has done its work."""
        return self.work >= STIMULUS_BYTES
