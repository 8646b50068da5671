"""Exit codes that are needed before anything of pflab is imported."""

from __future__ import annotations

STOPPED = 130
"""The exit code after Ctrl-C: 128 and the signal's number, as shells count."""
