"""The outcomes of deliveries: those that end at about the same time reach the node in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from node.host.in_flight import MailsInFlight
from transport.envelope import SendOutcome, SendState, Transmission
from transport.protocol.fault_points import AfterSend, Decide, Decision

COLLECT_S: Final = 0.002
"""Real time that an outcome waits for the outcomes of other mails in flight. The deliveries of one mail's copies mostly end
within this time. Until the outcome is committed the mail counts as in flight, so the lab does not count as quiet."""

Ended = Sequence[tuple[Transmission, SendOutcome]]


class DeliveryResults:
    """Collects the outcomes of mails in flight, removes the mails from `in_flight`, and passes the outcomes to `conclude`.

    The faults learn each outcome at once, through `decide`. If another process makes the decisions, `noted` is called when
    that process has the outcome.
    """

    def __init__(
        self,
        name: str,
        decide: Decide,
        in_flight: MailsInFlight,
        *,
        conclude: Callable[[Ended], None],
        noted: Callable[[], None],
    ) -> None:
        self._name = name
        self._decide = decide
        self._in_flight = in_flight
        self._conclude = conclude
        self._noted = noted
        self._ended: list[tuple[Transmission, SendOutcome]] = []
        self._due: asyncio.TimerHandle | None = None
        self._noting: set[asyncio.Future[Decision]] = set()

    @property
    def pending(self) -> int:
        """How many outcomes are on the way to the process that makes the fault decisions."""
        return len(self._noting)

    def take(self, transmission: Transmission, outcome: SendOutcome) -> None:
        """Add an outcome. If no other mail is in flight, conclude at once."""
        self.note(transmission, outcome)
        self._ended.append((transmission, outcome))
        if len(self._ended) == len(self._in_flight):
            self.flush()
        elif self._due is None:
            self._due = asyncio.get_running_loop().call_later(COLLECT_S, self.flush)

    def flush(self) -> None:
        """Pass the outcomes collected so far to `conclude`."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        outcomes, self._ended = self._ended, []
        for transmission, _ in outcomes:
            self._in_flight.end(transmission)
        if outcomes:
            self._conclude(outcomes)

    def note(self, transmission: Transmission, outcome: SendOutcome) -> None:
        """Tell the faults an outcome."""
        answer = self._decide(AfterSend(self._name, transmission, outcome.state is SendState.DELIVERED))
        if not isinstance(answer, Decision):
            task = asyncio.ensure_future(answer)
            self._noting.add(task)
            task.add_done_callback(self._arrived)

    def _arrived(self, task: asyncio.Future[Decision]) -> None:
        self._noting.discard(task)
        self._noted()
