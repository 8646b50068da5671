"""Run folders: what a run leaves, how it is recorded, read afterwards, saved and continued.

Imported by: the labs, `pflab.explain` and the command line.
Public: `run_folder`, `recorder`, `databases`, `events`, `traffic_sums`, `lab_state`, `backups`, `saved`, `continued`,
`lab_file`.
"""
