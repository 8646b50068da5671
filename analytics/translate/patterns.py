"""Regular expressions of Java, as DuckDB's RE2 reads them.

They differ in what `.`, `$` and `\\s` match. A pattern with a construct that RE2 lacks or reads in another way is refused.
"""

from __future__ import annotations

import re
from typing import Final

from analytics.translate.plan import Untranslatable

_LINE_ENDS: Final = r"\n\r\x{85}\x{2028}\x{2029}"
_ANY: Final = f"[^{_LINE_ENDS}]"
_END: Final = rf"(?:\r\n|[{_LINE_ENDS}])?\z"
"""Java's `$` also matches before a line end that is the last of the text. What it matches is then part of the match here, which
only matters for patterns that replace or extract what is before it."""
_SPACE: Final = r"[\t-\r ]"

_TOKEN: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?.|[*+?}]\+|.", re.DOTALL)
_META: Final = frozenset(".$^*+?()[]{}|\\")


def pattern(java: str, *, end_matters: bool = False) -> str:
    """Return the pattern for RE2.

    end_matters: the match is used, and not only whether there is one.
    """
    return "".join(_token(each, end_matters=end_matters) for each in _TOKEN.findall(java))


def _token(token: str, *, end_matters: bool) -> str:
    match token:
        case ".":
            return _ANY
        case "$":
            return r"\z" if end_matters else _END
        case r"\s":
            return _SPACE
        case _ if token.startswith("(?") and token != "(?:":
            raise Untranslatable(f"the group {token}...) of a regular expression")
        case _ if len(token) == 2 and token[1] == "+" and token[0] in "*+?}":
            raise Untranslatable(f"the possessive quantifier {token}")
        case _ if token.startswith("\\") and token[1].isalnum() and token[1] not in "dwDWtnr":
            raise Untranslatable(f"the escape {token} of a regular expression")
        case _:
            return token


def replacement(java: str) -> str:
    """Return the replacement of a pattern with DuckDB's references to groups."""
    if "\\" in java:
        raise Untranslatable(f"the replacement {java!r}")
    return re.sub(r"\$(\d)", r"\\\1", java)


def plain(java: str) -> str:
    """Return the only text that a pattern matches."""
    unescaped = re.sub(r"\\([^\w])", r"\1", java)
    if not java or any(each in _META for each in re.sub(r"\\[^\w]", "", java)):
        raise Untranslatable(f"splitting at the regular expression {java!r}")
    return unescaped
