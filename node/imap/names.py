"""Names of mailboxes in modified UTF-7 (RFC 3501, 5.1.3), in place of pymap's decoder.

pymap's decoder never ends if an `&` has no `-` after it. One such name in a command would stop the whole process, also before
log-in. pymap has no place for another decoder, so `replace_decoder` replaces the function in the modules that call it.
"""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from typing import Final

from pymap.parsing.command import auth
from pymap.parsing.exceptions import NotParseable
from pymap.parsing.specials import mailbox

_SHIFTED: Final = re.compile(rb"&([A-Za-z0-9+,]*)-")


def decoded(data: bytes) -> str:
    """Return the name. Raise NotParseable if it is not modified UTF-7."""
    pieces = _SHIFTED.split(data)
    try:
        plain = [each.decode("ascii") for each in pieces[::2]]
        shifted = [(b"+" + each.replace(b",", b"/") + b"-").decode("utf-7") if each else "&" for each in pieces[1::2]]
        "".join(shifted).encode()
    except UnicodeError:
        raise NotParseable(memoryview(data)) from None
    if any("&" in each for each in plain):
        raise NotParseable(memoryview(data))
    return "".join(chain.from_iterable(zip_longest(plain, shifted, fillvalue="")))


def replace_decoder() -> None:
    """Let pymap decode names with `decoded`."""
    for module in (auth, mailbox):
        vars(module)["modutf7_decode"] = decoded
