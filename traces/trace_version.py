"""The version of the trace format, and which versions a reader accepts.

The format has a version `major.minor`. A new event type or a new field with a default raises the minor number. A change that
an old reader would misunderstand raises the major number. The field `v` of a line is its major version; it is left out if the
major version is 1.

| a reader finds | it |
|---|---|
| an event of its own major version | uses it, and ignores fields that it does not know |
| an event of a type that it does not know | sets the line aside and counts it |
| a line of another major version | sets the line aside and counts it |
"""

from typing import Final

TRACE_MAJOR: Final = 1
TRACE_MINOR: Final = 12
TRACE_VERSION: Final = f"{TRACE_MAJOR}.{TRACE_MINOR}"


def is_readable(major: int) -> bool:
    """Return whether this reader accepts lines of that major version."""
    return major == TRACE_MAJOR
