"""Regular expressions of Java, as DuckDB's RE2 reads them.

They differ in what `.` and `$` match. A pattern with a construct that RE2 lacks or reads in another way is refused.
"""

from __future__ import annotations

import re
from typing import Final

from analytics.translate.plan import require

_LINE_ENDS: Final = r"\n\r\x{85}\x{2028}\x{2029}"
_ANY: Final = f"[^{_LINE_ENDS}]"
_END: Final = rf"(?:\r\n|[{_LINE_ENDS}])?\z"
"""Java's `$` also matches before a line end that is the last of the text. What it matches is then part of the match here, which
only matters for patterns that replace or extract what is before it."""

_TOKEN: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?.|[*+?}]\+|.", re.DOTALL)
_REFUSED: Final = re.compile(r"\(\?[^:]|[*+?}]\+|\\[^\WdwDWtnr]")
"""Groups with options or conditions, possessive quantifiers, and escapes."""


def pattern(java: str, *, end_matters: bool = False) -> str:
    """Return the pattern for RE2.

    end_matters: the match is used, and not only whether there is one.
    """
    tokens = _TOKEN.findall(java)
    refused = "".join(filter(_REFUSED.fullmatch, tokens))
    require(not refused, f"{refused} in a regular expression")
    replacements = {".": _ANY, "$": r"\z" if end_matters else _END}
    return "".join(replacements.get(token, token) for token in tokens)


def replacement(java: str) -> str:
    """Return the replacement of a pattern with DuckDB's references to groups."""
    require("\\" not in java, f"the replacement {java!r}")
    return re.sub(r"\$(\d)", r"\\\1", java)


def plain(java: str) -> str:
    """Return the only text that a pattern matches."""
    require(re.fullmatch(r"(\\\W|[^.$^*+?()\[\]{}|\\])+", java), f"splitting at the regular expression {java!r}")
    return re.sub(r"\\(\W)", r"\1", java)
