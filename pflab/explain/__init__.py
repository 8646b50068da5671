"""What happened and what stands, for people: the life of a change, state tables, settings, two runs compared.

Imported by: the command line.
Public: `change`, `state_tables`, `settings_report`, `run_diff`.
"""
