"""Scenarios: the file, its checks, and its steps on any lab.

Imported by: campaigns, the demo and the command line.
Public: `load`, `runner`, `model`.
"""
