"""The mails inside foreign relays: a connector's `relay` has accepted them, and no server of the lab has them yet.

# spec: ML-6, TM-1

No queue of the lab has such a mail, so the coordinator asks here before it calls the lab quiet. The wait for a mail ends when

- the mail arrives at a server, or a fault loses it there;
- another mail without authentication arrives at the server that gave the mail to the relay. It counts as the relay's notice of
  non-delivery for the oldest mail of this server, because a trace does not say what a notice is about;
- nothing has gone into or out of the relays for PATIENCE_S. Then lab time goes on, and the mail may still arrive later.

A wrong guess about a notice is harmless: the lab waits too long for one mail, or one mail arrives at a later lab time.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Final

from topology.problems import counted
from traces.events import HopDropped, HopReceived, HopSent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pflab.runs.recorder import Record
    from topology.model import Topology
    from traces.events import Event

PATIENCE_S: Final = 5.0
"""Real time for which lab time waits for a relay that neither accepts nor delivers a mail. An idle Postfix needs about 0.1
s."""

log = logging.getLogger("pflab.drivers.relayed_mails")


_Copy = tuple[str | None, str]
"""A mail by its Message-ID, and one recipient."""


class RelayedMails:
    """The mails in the relays of a lab, as the events of `record` show them.

    organization: returns the present one.
    """

    def __init__(self, organization: Callable[[], Topology], record: Record) -> None:
        self._organization = organization
        self._record = record
        self._read = 0
        self._left: Counter[_Copy] = Counter()
        self._given_by: dict[_Copy, str] = {}
        self._kept_copies: set[_Copy] = set()
        self._moved_s = 0.0

    def waits(self) -> str:
        """Return for which mails lab time must wait, in words; '' for none. Every server of the lab is idle."""
        relays = {
            connector.name: connector.relay
            for connector in self._organization().connectors
            if connector.relay is not None
        }
        if not relays and not self._left:
            return ""
        events = self._record.events(self._read)
        self._read = self._record.count
        self._take(events, relays)
        if not self._left:
            return ""
        mails = f"{counted(len({mail for mail, _ in self._left}), 'mail')} in {' and '.join(relays.values())}"
        if time.monotonic() < self._moved_s + PATIENCE_S:
            return mails
        log.warning("%s for %g s: lab time goes on, and what arrives later is received then", mails, PATIENCE_S)
        self._kept_copies.update(self._left)
        self._left.clear()
        self._given_by.clear()
        return ""

    def _take(self, events: Sequence[Event], relays: Container[str]) -> None:
        # A mail may arrive before the server that gave it to the relay has stored the relay's answer.
        for event in events:
            if isinstance(event, HopSent) and event.connector in relays:
                self._left.update((event.mail, recipient) for recipient in event.recipients)
                self._given_by.update(((event.mail, recipient), event.node) for recipient in event.recipients)
                self._moved_s = time.monotonic()
        for event in events:
            if isinstance(event, HopDropped) or (isinstance(event, HopReceived) and not event.authenticated):
                copies = [(event.mail, recipient) for recipient in event.recipients]
                relayed = [copy for copy in copies if copy in self._left or copy in self._kept_copies]
                self._end(relayed or self._oldest_of(event.node))

    def _oldest_of(self, server: str) -> list[_Copy]:
        oldest = next((mail for (mail, _), giver in self._given_by.items() if giver == server), None)
        return [copy for copy, giver in self._given_by.items() if (copy[0], giver) == (oldest, server)]

    def _end(self, copies: Iterable[_Copy]) -> None:
        for copy in copies:
            self._moved_s = time.monotonic()
            self._kept_copies.discard(copy)
            self._left[copy] -= 1
            if self._left[copy] <= 0:
                del self._left[copy]
                self._given_by.pop(copy, None)
