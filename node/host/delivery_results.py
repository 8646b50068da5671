"""How mails have ended, told to the node together: one transaction for those that end at about the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from node.host.in_flight import Flights
from transport.envelope import SendOutcome, SendState, Transmission
from transport.protocol.fault_points import AfterSend, Decide, Decision

REPORTS_S: Final = 0.002
"""Real time for which a mail's end waits for those of the others in flight: copies of one mail mostly end within this
of each other. Until the end is committed the mail counts as in flight, so nobody takes the lab for quiet."""

Ended = Sequence[tuple[Transmission, SendOutcome]]


class Reports:
    """Takes the ends of mails in flight, takes the mails out of the flights, and gives the ends to `conclude`.

    Whoever keeps the faults (`gate`) is told of each end at once; `told` is called when such a report has arrived.
    """

    def __init__(
        self,
        name: str,
        decide: Decide,
        flights: Flights,
        *,
        conclude: Callable[[Ended], None],
        told: Callable[[], None],
    ) -> None:
        self._name = name
        self._decide = decide
        self._flights = flights
        self._conclude = conclude
        self._told = told
        self._ended: list[tuple[Transmission, SendOutcome]] = []
        self._due: asyncio.TimerHandle | None = None
        self._telling: set[asyncio.Future[Decision]] = set()

    @property
    def on_their_way(self) -> int:
        """Reports that the gate has not got yet."""
        return len(self._telling)

    def take(self, transmission: Transmission, outcome: SendOutcome) -> None:
        """A mail has ended. If it was the last in the air, all are told now."""
        self.tell(transmission, outcome)
        self._ended.append((transmission, outcome))
        if len(self._ended) == len(self._flights):
            self.flush()
        elif self._due is None:
            self._due = asyncio.get_running_loop().call_later(REPORTS_S, self.flush)

    def flush(self) -> None:
        """Conclude now what has ended."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        ended, self._ended = self._ended, []
        for transmission, _ in ended:
            self._flights.end(transmission)
        if ended:
            self._conclude(ended)

    def tell(self, transmission: Transmission, outcome: SendOutcome) -> None:
        """Tell the gate how a mail has ended."""
        told = self._decide(AfterSend(self._name, transmission, outcome.state is SendState.DELIVERED))
        if not isinstance(told, Decision):
            telling = asyncio.ensure_future(told)
            self._telling.add(telling)
            telling.add_done_callback(self._arrived)

    def _arrived(self, telling: asyncio.Future[Decision]) -> None:
        self._telling.discard(telling)
        self._told()
