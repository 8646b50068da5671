"""The verbs of the command line, one module for each group.

Imported by: `pflab.cli.app`, by name.
Public: one function for each verb.
"""
