"""This store's replicas: they begin and end as the hierarchy says, and keep their data until another store has it.

Imported by: `node.agent`, `node.administration`.
Public: `tree_changes`, `removal`.
"""
