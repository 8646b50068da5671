"""Errors of the transport floor: what is wrong, and what would be right, in one line."""


class TransportError(Exception):
    """Base of every error that this floor raises on purpose."""


class CodecError(TransportError):
    """Bytes that are not what they claim to be, or a value that no bytes can express."""
