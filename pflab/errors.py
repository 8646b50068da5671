"""The errors that a lab raises at its users."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot do what was asked; one clear line that says what is wrong and what would be right."""


class NotIdle(LabError):
    """A wait came to its limit; the text names who is not idle and why."""
