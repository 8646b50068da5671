"""The HTTP server of a running lab: clock, faults, traces, and each node's API behind one address.

Imported by: the drivers.
Public: `app`.
"""
