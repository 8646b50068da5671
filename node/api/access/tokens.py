"""The tokens of a server: what a request with a token may do, and how many tokens an address may try.

A program sends a token in the header field Authorization. A browser cannot add this field when it opens a page or a stream of
events, so the log-in page exchanges the token for a cookie. The cookie's value is computed from the token. So the server keeps
no list of sessions, a cookie stays valid after a restart, and somebody who reads the cookie does not learn the token.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final

MOST_WRONG: Final = 10
"""How many different wrong tokens one address may try within WINDOW_S. A program that repeats one wrong token is not
guessing."""

WINDOW_S: Final = 60.0
"""Real time after which a wrong token is forgotten."""

MOST_ADDRESSES: Final = 1024
"""The largest number of addresses whose wrong tokens are remembered."""


class Right(Enum):
    """What the owner of a token may do."""

    ADMINISTRATE = "administrate"
    USE = "use"


class TooManyTokens(Exception):
    """An address has tried too many wrong tokens. Tokens from this address are ignored for `wait_s`."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"too many wrong tokens from this address; try again in {int(wait_s) + 1} s")
        self.wait_s = int(wait_s) + 1


class Tokens:
    """The token for administrators, and the token for users if there is one.

    monotonic: returns real time in seconds.
    """

    def __init__(
        self, token: str, users_token: str | None = None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        # If both are the same token, it is the one for users.
        tokens = {} if users_token is None else {users_token: Right.USE}
        self._rights = {token: Right.ADMINISTRATE, **tokens}
        self._cookies = {_cookie(known_token): right for known_token, right in self._rights.items()}
        self._monotonic = monotonic
        self._wrong: dict[str, dict[bytes, float]] = {}

    def right_of(self, token: str, address: str) -> Right | None:
        """Return what a token from this address allows; None if the token is wrong. Raises TooManyTokens."""
        return self._right(self._rights, token, address)

    def right_of_cookie(self, value: str, address: str) -> Right | None:
        """Return what a cookie allows; None if it is wrong. Raises TooManyTokens."""
        return self._right(self._cookies, value, address)

    def cookie_for(self, right: Right) -> str:
        """Return the value of the cookie with this right."""
        return next(value for value, token in self._cookies.items() if token is right)

    def _right(self, rights: dict[str, Right], token: str, address: str) -> Right | None:
        now = self._monotonic()
        wrong = {wrong: at for wrong, at in self._wrong.pop(address, {}).items() if now - at < WINDOW_S}
        if wrong:
            self._wrong[address] = wrong
        if len(wrong) >= MOST_WRONG:
            raise TooManyTokens(min(wrong.values()) + WINDOW_S - now)
        rights_of_token = list(_matching(rights, token))
        if rights_of_token:
            return rights_of_token[0]
        if token:
            wrong.setdefault(hashlib.sha256(token.encode()).digest(), now)
            self._wrong[address] = wrong
            if len(self._wrong) > MOST_ADDRESSES:
                del self._wrong[next(iter(self._wrong))]
        return None


def _matching(rights: dict[str, Right], token: str) -> Iterator[Right]:
    for candidate, right in rights.items():
        if hmac.compare_digest(token.encode(), candidate.encode()):
            yield right


def _cookie(token: str) -> str:
    return hmac.new(token.encode(), b"pflab: cookie", hashlib.sha256).hexdigest()


def bearer(authorization: str) -> str:
    """Return the token in the header field Authorization; '' if it has none."""
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def carries(authorization: str, token: str) -> bool:
    """Return whether the header Authorization contains the token."""
    return hmac.compare_digest(bearer(authorization).encode(), token.encode())
