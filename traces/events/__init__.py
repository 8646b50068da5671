"""All events of a trace in one place.

Imported by: everything that records or reads events. To add an event, define its class and name it in the union at the end of
the same module.
"""

from typing import Final, get_args

from traces.events.change import *
from traces.events.header import *
from traces.events.mail import *
from traces.events.replication import *
from traces.events.run import *

AnyEvent = RunEvent | MailEvent | ChangeEvent | ReplicationEvent
"""Every event of this version; msgspec chooses the class of a line by its tag."""

EVENT_TYPES: Final[dict[str, type[Event]]] = {str(event.__struct_config__.tag): event for event in get_args(AnyEvent)}
"""Maps a tag to its class, such as `version.applied` to VersionApplied."""
