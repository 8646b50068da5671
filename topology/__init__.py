"""The organization as data: topology file, validated model, settings, schedules and routes.

Imported by: `transport`, `node` and `pflab`.
Public: `model` (class `Topology`), `file.load` (reads topology files), `schedule`, `routing`, `settings`, `enums`, `problems`.
"""
