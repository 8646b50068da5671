"""Names of mailboxes: modified UTF-7 (RFC 3501, 5.1.3) and wildcards (6.3.8), in place of pymap's functions.

pymap's patterns for wildcards try every place for every wildcard, which takes exponential time. In `wildcard_pattern` each part
of a name is searched only once, at its first place, because a later place leaves less room for the rest.

pymap's decoder never ends if an `&` has no `-` after it. One such name in a command would stop the whole process, also before
log-in. pymap has no place for another decoder, so `replace_decoder` replaces the function in the modules that call it.
"""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from typing import Final

from pymap.exceptions import NotSupportedError
from pymap.parsing.command import auth
from pymap.parsing.exceptions import NotParseable
from pymap.parsing.specials import mailbox

MOST_WILDCARDS: Final = 100
"""The largest number of wildcards in one name."""

_SHIFTED: Final = re.compile(rb"&([A-Za-z0-9+,]*)-")


def decoded(data: bytes) -> str:
    """Return the name. Raise NotParseable if it is not modified UTF-7."""
    pieces = _SHIFTED.split(data)
    try:
        plain = [piece.decode("ascii") for piece in pieces[::2]]
        shifted = [
            (b"+" + piece.replace(b",", b"/") + b"-").decode("utf-7") if piece else "&" for piece in pieces[1::2]
        ]
        "".join(shifted).encode()
    except UnicodeError:
        raise NotParseable(memoryview(data)) from None
    if any("&" in piece for piece in plain):
        raise NotParseable(memoryview(data))
    return "".join(chain.from_iterable(zip_longest(plain, shifted, fillvalue="")))


def wildcard_pattern(query: str, delimiter: str) -> re.Pattern[str]:
    """Return the pattern of a name with wildcards: `*` stands for anything, `%` for anything within one level of the tree.

    Raises NotSupportedError for a name with more than MOST_WILDCARDS wildcards. Adjacent wildcards are one.
    """
    query = re.sub(r"%+", "%", re.sub(r"%*\*[*%]*", "*", query))
    if sum(map(query.count, "*%")) > MOST_WILDCARDS:
        raise NotSupportedError(f"a name has at most {MOST_WILDCARDS} wildcards")
    within = f"[^{re.escape(delimiter)}]*?"
    *parts, last = query.split("*")
    first, *more = [_level_pattern(part, within, "") for part in parts] + [_level_pattern(last, within, r"\Z")]
    return re.compile(first + "".join(f"(?>.*?{pattern})" for pattern in more), re.DOTALL)


def _level_pattern(part: str, within: str, end: str) -> str:
    """Return the pattern of a part of a name that has no `*`."""
    first, *more = [re.escape(piece) for piece in part.split("%")]
    if not more:
        return first + end
    *before, last = more
    return first + "".join(f"(?>{within}{piece})" for piece in before) + f"(?>{within}{last}{end})"


def replace_decoder() -> None:
    """Let pymap decode names with `decoded`."""
    for module in (auth, mailbox):
        vars(module)["modutf7_decode"] = decoded
