"""Access to the API: which requests are accepted, how large they may be, tokens, and the page at which a browser logs in.

Imported by: the HTTP server and the applications that it serves.
Public: `Guard`, its limits and errors, and `carries`.
"""

from node.api.access.guard import (
    BODIES_BYTES,
    CLIENT_STREAMS,
    LOOPBACK_NAMES,
    OPEN_PATHS,
    Check,
    Guard,
    TooLarge,
    body_limit,
)
from node.api.access.tokens import carries

__all__ = [
    "BODIES_BYTES",
    "CLIENT_STREAMS",
    "LOOPBACK_NAMES",
    "OPEN_PATHS",
    "Check",
    "Guard",
    "TooLarge",
    "body_limit",
    "carries",
]
