"""Instants and intervals of lab time that many tests use."""

from __future__ import annotations

from traces.labtime import MINUTE_US, parse_instant

START_AT = parse_instant("2003-10-21T00:00Z")
"""When a topology without a `start` begins."""

ALWAYS_US = 15 * MINUTE_US
"""The default of Replication Always Interval."""

HOUR_MIN = 60
"""An hour in minutes, the unit of `PostOffice.at`."""

STATUS_CHECK_MIN = 36 * HOUR_MIN + 15
"""The status check at 12:15 of the second day: the first that comes 24 h or more after a post at 00:01."""
