"""Scenarios: the model of the file, its checks, and the steps that a lab plays.

Imported by: campaigns, the demo and the command line.
Public: `load`, `runner`, `model`.
"""
