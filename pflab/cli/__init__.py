"""The command line `pflab`: one module per group of verbs."""

from pflab.cli.app import main

__all__ = ["main"]
