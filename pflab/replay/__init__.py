"""What the console in a browser reads: the events of a run with words for each, and the file that replays a finished run.

Imported by: `pflab.server`, `pflab.cli`.
Public: `console_events`, `contents`, `replay_file`.
"""
