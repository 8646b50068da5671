"""The simulator: the same stores without sockets, on a seeded network, where time jumps.

Imported by: campaigns, scenarios and the command line.
Public: `simulator` (class `Simulator`).
"""
