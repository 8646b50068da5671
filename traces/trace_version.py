"""Which traces a reader takes.

The format has a version `major.minor`. A new event type or a new field with a default raises the minor
number; anything that would make an old reader misunderstand a line raises the major one. A line says its
major version in the field `v`, which is left out while it is 1. So a reader

- takes events of its own major version,
- ignores fields that it does not know,
- keeps event types that it does not know aside, and counts them,
- keeps lines of another major version aside, and counts them: they are never half understood.
"""

from typing import Final

TRACE_MAJOR: Final = 1
TRACE_MINOR: Final = 7
TRACE_VERSION: Final = f"{TRACE_MAJOR}.{TRACE_MINOR}"


def is_readable(major: int) -> bool:
    """Whether this reader takes lines of that major version."""
    return major == TRACE_MAJOR
