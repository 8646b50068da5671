"""Texts for a terminal, without the characters that would control it."""

from __future__ import annotations

import re
from typing import Final

CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that control a terminal, end a line (except \\n), or cannot be shown. Subjects and names can contain them,
because anyone can send mail."""


def printable(text: str) -> str:
    """Return a text without characters that control a terminal, except line ends and tabs."""
    return CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
