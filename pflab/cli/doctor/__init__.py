"""What pflab needs on this machine: the checks of `pflab doctor`, and their report.

`checks` and `report` need only the standard library, so they also work in a broken installation. Only the command line imports
them.
"""
