"""Run folders: what a run leaves, how it is recorded, and how it is read afterwards.

Imported by: the labs, `pflab.explain` and the command line.
Public: `run_folder`, `recorder`, `databases`, `events`.
"""
