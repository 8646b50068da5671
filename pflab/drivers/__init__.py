"""What runs the nodes: embedded, in processes, or in a lab that runs elsewhere.

Imported by: `pflab.containers` and the command line.
Public: `live`, `processes`, `existing_lab`.
"""
