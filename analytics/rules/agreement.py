"""Checks that the events of a trace agree with each other (`analytics.evidence.agreement.facts`), follow each other in a possible
order (`analytics.evidence.agreement.lifecycles`), and have possible times."""

from typing import Final

from analytics.evidence.agreement.node_facts import TOLERANCE_US
from analytics.rules.check import Check

_ARRIVALS: Final = ("hop.received", "hop.dropped", "mail.received", "link.down", "link.up")
"""The events with which a node learns the Lamport number of another node."""

_RULES: Final = ("HI-2", "IN-2", "ML-6", "OUT-9")
_OF: Final = "' of the ', fact, if(key rlike '[0-9a-f]{32}', '', concat(' <', key, '>'))"

# spec: HI-2, IN-2, ML-6, OUT-9, TM-1
CHECKS: Final = (
    Check(
        "events agree with each other", _RULES, "facts", "What an event says of a mail, a version, an entry or another thing, no other event contradicts.",
        "compared", "disputed is null",
        f"concat(disputed.node, ' says in ', disputed.type, ' something else', {_OF}, ' than ', other.node, ' in ', other.type)",
    ),
    Check(
        "what an event repeats was said before", _RULES, "facts", "An event about a mail, a version, an entry or another thing follows from the event with which the thing began.",
        "true", "unknown is null", f"concat(unknown.node, ' has ', unknown.type, {_OF}, ', whose beginning is not in the trace')",
    ),
    Check(
        "what is sent arrives", _RULES, "facts", "When all folders have converged, each copy that a server accepted has arrived there or was lost by a fault, and each request has ended.",
        "settled and repeated", "unheeded is null", f"concat(unheeded.node, ' has ', unheeded.type, {_OF}, ', but nothing followed')",
    ),
    Check(
        "events follow each other in order", _RULES, "steps", "In the life of a mail, a version, an entry or another thing, an event comes only after the events that lead to it.",
        "true", "allowed", "concat(node, ' has ', state, ' of a ', life, ' after ', if(before = 'begin', 'nothing', before))",
    ),
    Check(
        "what begins comes to its end", _RULES, "steps", "When all folders have converged, no mail, entry or request is half done.",
        "settled and after = 'end'", "ends", "concat(node, ' has ', state, ' of a ', life, ', and nothing after it')",
    ),
    Check(
        "lab time never goes back", ("TM-1",), "clocks", "The lab time of a node's events never decreases.",
        "at_before is not null", "at >= at_before", "concat('the time of ', node, ' went back at event ', seq)",
    ),
    Check(
        "Lamport numbers have no gap", ("TM-1",), "clocks",
        "The Lamport number of an event is one more than that of the event before it on its node. It is larger only where a mail, or the state of a link, arrives with a larger one.",
        "lamport_before is not null", f"lamport = lamport_before + 1 or lamport > lamport_before and (seq > seq_before + 1 or type in {_ARRIVALS})",
        "concat('the Lamport number of ', node, ' went from ', lamport_before, ' to ', lamport, ' at event ', seq)",
    ),
    Check(
        "mails are received after they are sent", ("TM-1",), "received", "A mail is received with a larger Lamport number than it was submitted with. Lab times may differ if a clock is skewed.",
        "wrote_at is not null", "lamport > wrote_lamport", "concat(node, ' received <', mail, '> before it was sent')",
    ),
    Check(
        "lab times follow mails", ("TM-1",), "received", "A mail is received at the lab time at which it was submitted, or later, unless a clock is skewed or runs fast.",
        "exact and wrote_at is not null", f"at >= wrote_at - {TOLERANCE_US}", "concat(node, ' received <', mail, '> at an earlier lab time than ', wrote, ' submitted it')",
    ),
    Check(
        "lab times follow answers", ("TM-1",), "hops", "A server has a mail at the lab time at which it accepted the mail, or earlier, unless a clock is skewed or runs fast.",
        "exact and not by_relay and arrived_at is not null", f"arrived_at <= last_at + {TOLERANCE_US}", "concat(next_hop, ' has <', mail, '> from a later lab time on than ', node, ' handed it over')",
    ),
)  # fmt: skip
