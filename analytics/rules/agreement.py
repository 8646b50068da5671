"""Checks that the events of a trace agree with each other (`analytics.evidence.agreement.facts`), follow each other in a
possible order (`analytics.evidence.agreement.lifecycles`), and have possible times."""

from typing import Final

from analytics.evidence.conditions import TOLERANCE_US
from analytics.rules.check import Check

_ARRIVALS: Final = ("hop.received", "hop.dropped", "mail.received", "link.down", "link.up")
"""The events with which a node learns the Lamport number of another node."""

_RULES: Final = ("HI-2", "IN-2", "ML-6", "OUT-9")
_OF: Final = "' of the ', fact, if(key rlike '[0-9a-f]{32}', '', concat(' <', key, '>'))"

# spec: HI-2, IN-2, ML-6, OUT-9, TM-1
CHECKS: Final = (
    Check(
        id="events agree with each other",
        rules=_RULES,
        table="facts",
        says="What an event says of a mail, a version, an entry or another thing, no other event contradicts.",
        about="compared",
        holds="disputed is null",
        words=(
            f"concat(disputed.node, ' says in ', disputed.type, ' something else', {_OF}, ' than ', other.node,"
            " ' in ', other.type)"
        ),
    ),
    Check(
        id="what an event repeats was said before",
        rules=_RULES,
        table="facts",
        says=(
            "An event about a mail, a version, an entry or another thing follows from the event with which the thing"
            " began."
        ),
        about="true",
        holds="unknown is null",
        words=f"concat(unknown.node, ' has ', unknown.type, {_OF}, ', whose beginning is not in the trace')",
    ),
    Check(
        id="what is sent arrives",
        rules=_RULES,
        table="facts",
        says=(
            "When all folders have converged, each copy that a server accepted has arrived there"
            " or was lost by a fault, and each request has ended."
        ),
        about="settled and repeated",
        holds="unheeded is null",
        words=f"concat(unheeded.node, ' has ', unheeded.type, {_OF}, ', but nothing followed')",
    ),
    Check(
        id="events follow each other in order",
        rules=_RULES,
        table="steps",
        says=(
            "In the life of a mail, a version, an entry or another thing,"
            " an event comes only after the events that lead to it."
        ),
        about="true",
        holds="allowed",
        words="concat(node, ' has ', state, ' of a ', life, ' after ', if(before = 'begin', 'nothing', before))",
    ),
    Check(
        id="what begins comes to its end",
        rules=_RULES,
        table="steps",
        says="When all folders have converged, no mail, entry or request is half done.",
        about="settled and after = 'end'",
        holds="ends",
        words="concat(node, ' has ', state, ' of a ', life, ', and nothing after it')",
    ),
    Check(
        id="lab time never goes back",
        rules=("TM-1",),
        table="clocks",
        says="The lab time of a node's events never decreases.",
        about="at_before is not null",
        holds="at >= at_before",
        words="concat('the time of ', node, ' went back at event ', seq)",
    ),
    Check(
        id="Lamport numbers have no gap",
        rules=("TM-1",),
        table="clocks",
        says=(
            "The Lamport number of an event is one more than that of the event before it on its node. It is larger"
            " only where a mail, or the state of a link, arrives with a larger one."
        ),
        about="lamport_before is not null",
        holds=(
            "lamport = lamport_before + 1 or lamport > lamport_before"
            f" and (seq > seq_before + 1 or type in {_ARRIVALS})"
        ),
        words=(
            "concat('the Lamport number of ', node, ' went from ', lamport_before, ' to ', lamport, ' at event ', seq)"
        ),
    ),
    Check(
        id="mails are received after they are sent",
        rules=("TM-1",),
        table="received",
        says=(
            "A mail is received with a larger Lamport number than it was submitted with. Lab times may differ if a"
            " clock is skewed."
        ),
        about="wrote_at is not null",
        holds="lamport > wrote_lamport",
        words="concat(node, ' received <', mail, '> before it was sent')",
    ),
    Check(
        id="lab times follow mails",
        rules=("TM-1",),
        table="received",
        says=(
            "A mail is received at the lab time at which it was submitted, or later, unless a clock is skewed"
            " or runs fast."
        ),
        about="exact and wrote_at is not null",
        holds=f"at >= wrote_at - {TOLERANCE_US}",
        words="concat(node, ' received <', mail, '> at an earlier lab time than ', wrote, ' submitted it')",
    ),
    Check(
        id="lab times follow answers",
        rules=("TM-1",),
        table="hops",
        says=(
            "A server has a mail at the lab time at which it accepted the mail,"
            " or earlier, unless a clock is skewed or runs fast."
        ),
        about="exact and not by_relay and arrived_at is not null",
        holds=f"arrived_at <= last_at + {TOLERANCE_US}",
        words="concat(next_hop, ' has <', mail, '> from a later lab time on than ', node, ' handed it over')",
    ),
)
