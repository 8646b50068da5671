"""A store as an operating-system process: its command line, alone or managed by a coordinator.

Imported by: `python -m node`.
Public: `main`.
"""
