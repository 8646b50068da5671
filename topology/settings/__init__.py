"""The settings of servers and stores: their specification, the catalogue by their real names, and their values.

Imported by: everything above.
Public: `spec`, `catalogue`, `values`.
"""
