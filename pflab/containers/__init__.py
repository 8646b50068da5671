"""The lab in containers: nodes that Docker keeps alive, the coordinator that manages them, its record and the compose file.

Imported by: the command line.
Public: `managed_lab`, `compose_file`, `run_history`.
"""
