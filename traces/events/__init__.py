"""All events of a trace in one place.

Imported by: everything that records or reads events. An event is named twice: where it is defined, and in the union at the end
of that module. This module then has it too.
"""

from typing import Final, get_args

from traces.events.change import *
from traces.events.header import *
from traces.events.mail import *
from traces.events.replication import *
from traces.events.run import *

AnyEvent = RunEvent | MailEvent | ChangeEvent | ReplicationEvent
"""Every event that this version writes; msgspec decodes a line into the right one by its tag."""

EVENT_TYPES: Final[dict[str, type[Event]]] = {str(event.__struct_config__.tag): event for event in get_args(AnyEvent)}
"""Tag to class, such as `version.applied` to VersionApplied."""
