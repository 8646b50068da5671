"""Errors of the traces package."""


class TraceError(Exception):
    """The base of every error that this package raises on purpose."""


class TimeTextError(TraceError, ValueError):
    """A text is not an instant or a duration, or a time is outside what the lab can count."""


class SegmentError(TraceError):
    """A segment file cannot be written or read as it stands."""


class SetTextError(TraceError, ValueError):
    """A text in a trace is no set of change numbers."""
