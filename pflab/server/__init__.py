"""The HTTP server of a running lab: clock, faults, traces, each node's API behind one address, and the browser
console.

Imported by: the drivers.
Public: `app`.
"""
