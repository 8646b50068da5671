"""A lab: the interface that all drivers implement, its coordinator of time, its servers and its record.

Imported by: the drivers, the simulator and everything above.
Public: `lab` (class `Lab`), `coordinator`, `remote_node`.
"""
