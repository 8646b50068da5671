"""A store as an operating-system process: its command line, and its life under a coordinator.

Imported by: `python -m node`.
Public: `main`.
"""
