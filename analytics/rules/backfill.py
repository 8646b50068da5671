"""Checks of the backfill array, its requests, and the responses to them."""

from typing import Final

from analytics.evidence.conditions import IS_SUSPENDED
from analytics.evidence.number_sets import merged
from analytics.rules.check import HOUR_US, Check

_SET = "forall({inner}, c -> exists({outer}, r -> r.guid = c.guid and r.low <= c.low and c.high <= r.high))"

_COMMON = "exists(missing, c -> exists(near, r -> r.guid = c.guid and r.low <= c.high and c.low <= r.high))"

_NOT_IN_ROW: Final = (
    "forall(f.numbers, c -> not exists(f.row, r -> r.guid = c.guid and r.low <= c.high and c.low <= r.high))"
)

# spec: BF-1, BF-2, BF-5, BF-6, BF-8, CN-7, CV-3
CHECKS: Final = (
    Check(
        id="new entries wait 6 or 12 hours",
        rules=("BF-2",),
        table="entries",
        says=(
            "An entry is due 6 hours after its changes were found missing if the site has them,"
            " and 12 hours otherwise. If the site gets them later, the earlier time applies."
        ),
        about="plain and at is not null",
        holds=f"due_at = greatest(at, found_at + case when local then {6 * HOUR_US} else {12 * HOUR_US} end)",
        words=(
            "concat(node, ' let entry ', entry, ' wait for another time than ',"
            " case when local then '6' else '12' end, ' hours')"
        ),
    ),
    Check(
        id="local entries are in the site",
        rules=("BF-2",),
        table="entries_made",
        says=(
            "The changes of a local entry are claimed by stores of the same site that are on the replica list"
            " or are leaving it. Those of another entry are not."
        ),
        about="not stale",
        holds=f"if(local, {_SET.format(inner='missing', outer='near')}, not {_COMMON})",
        words=(
            "concat(node, ' marked entry ', entry, if(local, ' as local, but the site does not have all of it',"
            " ' as remote, but the site has some of it'))"
        ),
    ),
    Check(
        id="requests are not sent early",
        rules=("BF-2",),
        table="entries",
        says="A request is sent at least 6 hours after its changes were found missing.",
        about="plain and asked_at is not null and at is not null",
        holds=f"asked_at >= found_at + {6 * HOUR_US}",
        words="concat(node, ' sent a request for entry ', entry, ' too early')",
    ),
    Check(
        id="the first retry is after 12 or 24 hours",
        rules=("BF-2",),
        table="entries",
        says=(
            "The first request waits 12 hours for an answer within the site,"
            " and 24 hours outside it; if 2000 asks for a part, 24 and 48."
        ),
        about="plain and asked_at is not null",
        holds=(
            f"retry_at - asked_at in ({12 * HOUR_US}, {24 * HOUR_US}) and not in_parts"
            f" or retry_at - asked_at in ({24 * HOUR_US}, {48 * HOUR_US}) and in_parts"
        ),
        words="concat(node, ' set the first retry of entry ', entry, ' to another time than 12 or 24 hours')",
    ),
    Check(
        id="requests stay within the limit",
        rules=("BF-6",),
        table="slots",
        says="No more requests are outstanding than the limit allows.",
        about="what = 'request.sent'",
        holds="out <= most",
        words="concat(node, ' had ', out, ' outstanding requests, but the limit is ', most)",
    ),
    Check(
        id="slots are released in time",
        rules=("BF-6", "BF-2"),
        table="slots",
        says="A request that ends was sent before. A request that is retried has waited 12 hours.",
        about="what = 'request.ended'",
        holds=f"sent is not null and (how != 'retry' or not plain or at >= sent + {12 * HOUR_US})",
        words=(
            "concat(node, ' ended a request for entry ', entry, if(sent is null, ' that it had not sent',"
            " ' too early'))"
        ),
    ),
    Check(
        id="slots go to the longest due",
        rules=("BF-6",),
        table="slots",
        says="While an entry waits for a slot, no entry that came due later takes the last slot.",
        about="what = 'request.deferred'",
        holds="before is null",
        words=(
            "concat(node, ' served entry ', array_join(before, ', '), ' before entry ', entry,"
            " ', which came due earlier')"
        ),
    ),
    Check(
        id="an empty answer costs no time-out",
        rules=("BF-3", "BF-5"),
        table="slots",
        says=(
            "If a source answers with nothing, and the entry has no other request,"
            " other sources are considered before the next time-out."
        ),
        about=(
            "what = 'request.ended' and how = 'empty' and open = 0 and not coalesce(waits, false)"
            f" and not {IS_SUSPENDED}"
        ),
        holds="coalesce(next, '') != 'entry.timed_out'",
        words=(
            "concat(node, ' got nothing from ', source, ' for entry ', entry,"
            " ' and asked nobody else until the next time-out')"
        ),
    ),
    Check(
        id="only missing changes are requested",
        rules=("BF-1",),
        table="sent",
        says="A request asks for nothing that its sender's row has.",
        about="message_type = 8",
        holds=f"forall(says, f -> {_NOT_IN_ROW})",
        words="concat(node, ' requested in <', mail, '> what its own row has')",
    ),
    Check(
        id="requests and responses have one recipient",
        rules=("BF-5", "BF-6"),
        table="sent",
        says="A backfill request goes to one source, and a response goes to one requester.",
        about="message_type in (8, 2147483650, 2147483652)",
        holds="size(recipients) = 1",
        words="concat(node, ' sent <', mail, '> to ', size(recipients), ' recipients')",
    ),
    Check(
        id="requests are answered",
        rules=("BF-5", "BF-8"),
        table="requests",
        says="A request is answered at once, and exactly once. Only a store without an address gets no answer.",
        about="answerable or answers is not null",
        holds=(
            "answers = 1 and (answered_at = at or refused > 0) or answers is null and refused = times"
            f" and {IS_SUSPENDED}"
        ),
        words=(
            "concat(node, case when answers is null then ' did not answer' else ' answered late or again' end,"
            " ' the request <', mail, '> of ', sender)"
        ),
    ),
    Check(
        id="answers have only what was requested",
        rules=("BF-5",),
        table="requests",
        says="An answer has no change that was not requested.",
        about="answers > 0",
        holds=_SET.format(inner="given", outer=merged("wanted")),
        words="concat(node, ' answered <', mail, '> with more than was requested')",
    ),
    Check(
        id="no backfill entry remains",
        rules=("CV-3", "CN-7"),
        table="entries",
        says="When all folders have converged, no backfill entry remains at a store that is in the directory.",
        about="at is not null and settled and not deleted",
        holds="over",
        words="concat(node, ' still waits for entry ', entry, ' of ', folder)",
    ),
)
