"""Errors of the traces package."""


class TraceError(Exception):
    """The base class of the errors of this package."""


class TimeTextError(TraceError, ValueError):
    """A text is not an instant or a duration, or a time is outside the range of the lab."""


class SegmentError(TraceError):
    """A segment file cannot be written or read."""


class SetTextError(TraceError, ValueError):
    """A text in a trace is not a set of change numbers."""
