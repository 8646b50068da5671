"""Errors of the transport floor. Each message says in one line what is wrong and what would be right."""


class TransportError(Exception):
    """Base class of the errors of this floor."""


class CodecError(TransportError):
    """Malformed bytes, or a value that cannot be encoded."""
