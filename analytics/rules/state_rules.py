"""Checks of a store's state: numbers, backfill array, statuses, replicas, conflicts, deletions.

The life of tombstones (DL-4) and what stays deleted (IN-4) are checked in `analytics.rules.catalogue`, with the versions.
"""

from __future__ import annotations

from typing import Final

from analytics.rules.rule import DAY_US, HOUR_US, Check

_CLAIMED: Final = "filter(own, r -> r.high > claimed_before)"

# spec: CN-6, HI-1, HI-7, BF-6, BF-9, RT-3, RT-4, ST-5, ST-6, ST-7, RP-3, RP-6, CF-3, CF-4, CF-5, DL-1
CHECKS: Final = (
    Check(
        "holes are closed", ("CN-6",), "cycles",
        "A broadcast claims every own number after those that were broadcast for the folder before, up to the highest of its changes.",
        f"size({_CLAIMED}) > 0 and untouched and size(holders) > 1",
        f"size({_CLAIMED}) = 1 and {_CLAIMED}[0].low <= claimed_before + 1",
        "concat(node, ' left a hole in its own numbers after ', claimed_before, ' in its broadcast of ', folder)",
    ),
    Check(
        "no claims beyond the last change", ("CN-6",), "cycles", "A broadcast claims no own number above the store's last change in the folder.",
        "size(own) > 0", "array_max(transform(own, r -> r.high)) <= made",
        "concat(node, ' claimed own numbers of ', folder, ' above ', made, ', its last change there')",
    ),
    Check(
        "content is only on holders", ("HI-1",), "presence", "A store has content of a folder only after a replica list has named the store.",
        "true", "listed <= first", "concat(node, ' has content of ', folder, ', but no replica list that it knew had named it')",
    ),
    Check(
        "folders are shown under their names", ("HI-7",), "shown_folders",
        "A folder is shown under the name in its version, with a suffix only if another folder has the same name, and at the top if its parent is the top.",
        "true",
        "(element_at(split(path, '/'), -1) = name or namesakes > 0 and startswith(element_at(split(path, '/'), -1), name))"
        " and (parent != '1-1' or not path like '%/%')",
        "concat(node, ' shows ', name, ' as ', path)",
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
        "the time of the last request is known", ("BF-9", "ST-4"), "candidates",
        "The time of the last request to a candidate is that of the last request in the trace, or of the first of the six steps that listed it.",
        "coalesce(method, '') != '' and (stated.backfilled_at > 0 or asked_at is not null)", "stated.backfilled_at = coalesce(asked_at, 0)",
        "concat(node, ' used ', stated.backfilled_at, ' as the time of its last request to ', store, ', but it is ', coalesce(asked_at, 0))",
    ),
    Check(
        "2000 asks the first complete source", ("BF-3", "BF-9", "RT-3", "RT-4"), "turns",
        "2000 asks the first candidate that is up and has everything. The order is by group, then by turn, affinity or transmission time.",
        "true", "array_contains(first, chosen)",
        "concat(node, ' asked ', chosen, ' for entry ', entry, ', but ', array_join(first, ' or '), ' comes first and has everything')",
    ),
    Check(
        "transmission times match the mails", ("RT-3",), "candidates",
        "A candidate's transmission time is the running mean of arrival minus sending of its mails; the newest mail has a weight of one quarter.",
        "coalesce(method, '') != '' and (stated.transit_us is not null or transit is not null)", "abs(stated.transit_us - transit) < 10000",
        "concat(node, ' used ', coalesce(cast(stated.transit_us as string), 'unknown'), ' us as the transmission time from ', store, ', but it is ', coalesce(cast(transit as string), 'unknown'), ' us')",
    ),
    Check(
        "affinities match the connectors", ("RT-4",), "candidates", "A candidate's affinity is the least sum over connectors that allow referrals.",
        "method = 'six groups'", "stated.affinity <=> affinity",
        "concat(node, ' used the affinity ', coalesce(cast(stated.affinity as string), 'none'), ' for ', store, ', but it is ', coalesce(cast(affinity as string), 'none'))",
    ),
    Check(
        "changes that a status shows are recorded", ("ST-5", "BF-1"), "status_claims",
        "If a status claims a change that its receiver lacks, the change is in the receiver's backfill array or in its queue.",
        "true", "noted", "concat(node, ' lacks ', number, ' of ', folder, ', which a status of ', sender, ' claimed, but does not wait for it')",
    ),
    Check(
        "5.5 sends its hierarchy status each night", ("ST-6",), "nightly_statuses", "Before SP4, a 5.5 store sends the status of the hierarchy to all others at the first check of each day.",
        "true", "sent", "concat(node, ' did not send the status of the hierarchy that night')",
    ),
    Check(
        "repeats are answered", ("ST-7",), "repeats", "A store answers a repeat at once with a status to its sender only. The answer is not a repeat.",
        "what = 'received' and array_contains(holders, node) and not dead", "answered",
        "concat(node, ' did not answer the repeat <', mail, '> of ', sender, ' for ', folder)",
    ),
    Check(
        "repeats are a day apart", ("ST-7",), "repeats", "A status is repeated to a store at most once in 24 hours.",
        "plain and what = 'sent' and message_type = 16 and before_at is not null", f"at - before_at >= {DAY_US}",
        "concat(node, ' repeated its status of ', folder, ' to ', store, ' within a day')",
    ),
    Check(
        "only silent stores are asked again", ("ST-7",), "repeats",
        "A status request is repeated only to a store that was asked before and sent nothing since that arrived.",
        "what = 'sent' and message_type = 32", "before_at is not null and not answered_since",
        "concat(node, ' asked ', store, ' again for ', folder, if(answered_since, ', which had answered', ', which it had not asked before'))",
    ),
    Check(
        "a repeat follows its status", ("ST-7", "ST-1"), "statuses", "A status is repeated at least a day after it was sent, if there was no update since.",
        "plain and what = 'repeat'", f"at - last_due_at >= {DAY_US} and coalesce(last_update_at <= last_due_at, true)",
        "concat(node, ' repeated a status of ', folder, ' that it had not sent a day before, or that is older than an update')",
    ),
    Check(
        "a new store asks for the hierarchy", ("RP-3", "ST-3"), "new_stores", "A store that joins asks all others for the status of the hierarchy.",
        "ended_at >= until_at", "asked", "concat(node, ' joined but did not ask all others for the status of the hierarchy within a day')",
    ),
    Check(
        "a store with replicas is not deleted", ("RP-6",), "deleted_stores", "A store that replica lists name is deleted from the directory only by force.",
        "not forced", "size(listing) = 0", "concat(node, ' deleted ', store, ', which ', size(listing), ' replica lists name')",
    ),
    Check(
        "a store removed by force leaves all lists", ("RP-6",), "deleted_stores", "A store that is removed by force is taken off every replica list at once.",
        "forced", "size(left) = 0", "concat(node, ' removed ', store, ' but left it on the lists of ', array_join(left, ', '))",
    ),
    Check(
        "an edit covers the versions in its store", ("CF-3", "CN-3"), "at_stores", "The predecessor list of a change covers every version of the message in its store.",
        "kind = 'message' and exists(rows, u -> u.act = 'made' and exists(rows, v -> v.seq < u.seq))",
        "forall(rows, u -> u.act != 'made' or forall(rows, v -> v.seq >= u.seq or v.act = 'tombstone dropped' or coalesce(try_element_at(u.pcl, v.guid) >= v.counter, false)))",
        "concat(node, ' changed ', object, ' without covering a version that it had')",
    ),
    Check(
        "conflict notices follow the resolve method", ("CF-4",), "notices",
        "A store sends notices of a conflict only if the folder's resolve method is the default: the others are 'last writer wins' and 'no notification'.",
        "what = 'notice' and size(versions) > 1 and untouched", "coalesce(resolve, 'default') = 'default'",
        "concat(node, ' sent a notice of the conflict of ', object, ', but the resolve method of its folder is: ', resolve)",
    ),
    Check(
        "old conflicts end at home", ("CF-5",), "aged_conflicts", "Only the home store, the first in the replica list, ends a conflict because of its age.",
        "true", "holders[0] = node", "concat(node, ' ended the conflict of ', object, ' because of its age, but the home store is ', holders[0])",
    ),
    Check(
        "old conflicts end at the age limit", ("CF-5", "CF-1"), "aged_conflicts",
        "A conflict that ends because of its age has lasted for the limit, and its winner is kept.",
        "true", "coalesce(since_at = arose_at and at - arose_at >= limit_us and winner = shown, false)",
        "concat(node, ' ended the conflict of ', object, ' by ', number, ' too early, or did not keep the winner')",
    ),
    Check(
        "deletions leave a tombstone", ("DL-1",), "deletions", "A deletion that is made or applied leaves a tombstone with its number.",
        "true", "has_tombstone", "concat(node, ' deleted ', object, ' by ', number, ' but kept no tombstone')",
    ),
    Check(
        "deleted items are not changed", ("DL-1", "DL-2"), "at_stores", "A store that has the tombstone of an object does not change the object.",
        "exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'tombstone dropped')",
        "not exists(rows, u -> u.act = 'made' and exists(rows, v -> v.deleted and v.seq < u.seq))",
        "concat(node, ' changed ', object, ' after its deletion')",
    ),
)  # fmt: skip
