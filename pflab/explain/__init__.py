"""Events and state explained to people: the life of a change, state tables, settings, the difference of two runs.

Imported by: the command line.
Public: `change`, `state_tables`, `settings_report`, `run_diff`.
"""
