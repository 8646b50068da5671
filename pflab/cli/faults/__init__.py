"""The verb `pflab fault`: faults of a running lab, and its servers.

Imported by: the command line.
Public: `verb`.
"""
