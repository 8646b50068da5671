"""The events of a run: typed definitions, version rules, the recorder, segment files."""

from traces.errors import (
    SegmentError,
    TimeTextError,
    TraceError,
)
from traces.labtime import (
    DAY_US,
    HOUR_US,
    MILLISECOND_US,
    MINUTE_US,
    SECOND_US,
    WEEK_US,
    LabTime,
    format_duration,
    format_instant,
    parse_duration,
    parse_instant,
)
from traces.reading import (
    Aside,
    Duplicate,
    Gap,
    Trace,
    read_files,
    read_folder,
)
from traces.recorder import (
    Recorder,
)
from traces.segments import (
    SegmentName,
    exported_through,
    list_segments,
    write_segment,
)
from traces.trace_version import TRACE_MAJOR, TRACE_MINOR, TRACE_VERSION, is_readable

__all__ = [
    "DAY_US",
    "HOUR_US",
    "MILLISECOND_US",
    "MINUTE_US",
    "SECOND_US",
    "TRACE_MAJOR",
    "TRACE_MINOR",
    "TRACE_VERSION",
    "WEEK_US",
    "Aside",
    "Duplicate",
    "Gap",
    "LabTime",
    "Recorder",
    "SegmentError",
    "SegmentName",
    "TimeTextError",
    "Trace",
    "TraceError",
    "exported_through",
    "format_duration",
    "format_instant",
    "is_readable",
    "list_segments",
    "parse_duration",
    "parse_instant",
    "read_files",
    "read_folder",
    "write_segment",
]
