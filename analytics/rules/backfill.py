"""Checks of the backfill array, its requests, and the responses to them."""

from typing import Final

from analytics.evidence.number_sets import merged, ranges_of
from analytics.evidence.organization import IS_SUSPENDED
from analytics.rules.check import HOUR_US, Check

_SET = "forall({inner}, c -> exists({outer}, r -> r.guid = c.guid and r.low <= c.low and c.high <= r.high))"

_COMMON = "exists(missing, c -> exists(near, r -> r.guid = c.guid and r.low <= c.high and c.low <= r.high))"

_NOT_IN_ROW = f"forall({ranges_of('f.cnset')}, c -> not exists({ranges_of('f.row')}, r -> r.guid = c.guid and r.low <= c.high and c.low <= r.high))"

# spec: BF-1, BF-2, BF-5, BF-6, BF-8, CN-7, CV-3
CHECKS: Final = (
    Check(
        "new entries wait 6 or 12 hours", ("BF-2",), "entries", "An entry is due 6 hours after its changes were found missing if the site has them, and 12 hours otherwise. If the site gets them later, the earlier time applies.",
        "plain and at is not null", f"due_at = greatest(at, found_at + case when local then {6 * HOUR_US} else {12 * HOUR_US} end)",
        "concat(node, ' let entry ', entry, ' wait for another time than ', case when local then '6' else '12' end, ' hours')",
    ),
    Check(
        "local entries are in the site", ("BF-2",), "entries_made", "The changes of a local entry are claimed by stores of the same site that are on the replica list or are leaving it. Those of another entry are not.",
        "not stale", f"if(local, {_SET.format(inner='missing', outer='near')}, not {_COMMON})",
        "concat(node, ' marked entry ', entry, if(local, ' as local, but the site does not have all of it', ' as remote, but the site has some of it'))",
    ),
    Check(
        "requests are not sent early", ("BF-2",), "entries", "A request is sent at least 6 hours after its changes were found missing.",
        "plain and asked_at is not null and at is not null", f"asked_at >= found_at + {6 * HOUR_US}",
        "concat(node, ' sent a request for entry ', entry, ' too early')",
    ),
    Check(
        "the first retry is after 12 or 24 hours", ("BF-2",), "entries", "The first request waits 12 hours for an answer within the site, and 24 hours outside it; if 2000 asks for a part, 24 and 48.",
        "plain and asked_at is not null", f"retry_at - asked_at in ({12 * HOUR_US}, {24 * HOUR_US}) and not in_parts"
        f" or retry_at - asked_at in ({24 * HOUR_US}, {48 * HOUR_US}) and in_parts",
        "concat(node, ' set the first retry of entry ', entry, ' to another time than 12 or 24 hours')",
    ),
    Check(
        "requests stay within the limit", ("BF-6",), "slots", "No more requests are outstanding than the limit allows.",
        "what = 'request.sent'", "out <= most", "concat(node, ' had ', out, ' outstanding requests, but the limit is ', most)",
    ),
    Check(
        "slots are released in time", ("BF-6", "BF-2"), "slots", "A request that ends was sent before. A request that is retried has waited 12 hours.",
        "what = 'request.ended'", f"sent is not null and (how != 'retry' or not plain or at >= sent + {12 * HOUR_US})",
        "concat(node, ' ended a request for entry ', entry, if(sent is null, ' that it had not sent', ' too early'))",
    ),
    Check(
        "slots go to the longest due", ("BF-6",), "slots", "While an entry waits for a slot, no entry that came due later takes the last slot.",
        "what = 'request.deferred'", "before is null", "concat(node, ' served entry ', array_join(before, ', '), ' before entry ', entry, ', which came due earlier')",
    ),
    Check(
        "an empty answer costs no time-out", ("BF-3", "BF-5"), "slots",
        "If a source answers with nothing, and the entry has no other request, other sources are considered before the next time-out.",
        f"what = 'request.ended' and how = 'empty' and open = 0 and not coalesce(waits, false) and not {IS_SUSPENDED}",
        "coalesce(next, '') != 'entry.timed_out'",
        "concat(node, ' got nothing from ', source, ' for entry ', entry, ' and asked nobody else until the next time-out')",
    ),
    Check(
        "only missing changes are requested", ("BF-1",), "sent", "A request asks for nothing that its sender's row has.",
        "message_type = 8", f"forall(says, f -> {_NOT_IN_ROW})", "concat(node, ' requested in <', mail, '> what its own row has')",
    ),
    Check(
        "requests and responses have one recipient", ("BF-5", "BF-6"), "sent", "A backfill request goes to one source, and a response goes to one requester.",
        "message_type in (8, 2147483650, 2147483652)", "size(recipients) = 1", "concat(node, ' sent <', mail, '> to ', size(recipients), ' recipients')",
    ),
    Check(
        "requests are answered", ("BF-5", "BF-8"), "requests", "A request is answered at once, and exactly once.",
        "true", f"answers = 1 and (answered_at = at or refused > 0) or answers is null and refused = times and {IS_SUSPENDED}",
        "concat(node, case when answers is null then ' did not answer' else ' answered late or again' end, ' the request <', mail, '> of ', sender)",
    ),
    Check(
        "answers have only what was requested", ("BF-5",), "requests", "An answer has no change that was not requested.",
        "answers > 0", _SET.format(inner="given", outer=merged("wanted")), "concat(node, ' answered <', mail, '> with more than was requested')",
    ),
    Check(
        "no backfill entry remains", ("CV-3", "CN-7"), "entries", "When all folders have converged, no backfill entry remains at a store that is in the directory.",
        "at is not null and settled and not deleted", "over", "concat(node, ' still waits for entry ', entry, ' of ', folder)",
    ),
)  # fmt: skip
