"""Checks of lab time and of Lamport numbers."""

from typing import Final

from analytics.rules.check import Check

# spec: TM-1
CHECKS: Final = (
    Check(
        "lab time never goes back", ("TM-1",), "clocks", "The lab time of a node's events never decreases.",
        "at_before is not null", "at >= at_before", "concat('the time of ', node, ' went back at event ', seq)",
    ),
    Check(
        "Lamport numbers increase", ("TM-1",), "clocks", "The Lamport numbers of a node's events increase.",
        "lamport_before is not null", "lamport > lamport_before", "concat('the Lamport number of ', node, ' did not increase at event ', seq)",
    ),
    Check(
        "mails are received after they are sent", ("TM-1",), "received", "A mail is received with a larger Lamport number than it was submitted with. Lab times may differ if a clock is skewed.",
        "wrote_at is not null", "lamport > wrote_lamport", "concat(node, ' received <', mail, '> before it was sent')",
    ),
)  # fmt: skip
