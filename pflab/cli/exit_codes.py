"""The exit code that is needed before any other module of pflab is imported."""

STOPPED = 130
"""The exit code after Ctrl-C: 128 + SIGINT, as in shells."""
