"""Checks of what a store keeps and does by itself: numbers, the array, statuses, replicas, conflicts, deletions."""

from __future__ import annotations

from typing import Final

from analytics.rules.rule import DAY_US, HOUR_US, Check

_CLAIMED: Final = "filter(own, r -> r.high > told)"

# spec: CN-6, HI-1, HI-7, BF-6, BF-9, RT-3, RT-4, ST-5, ST-6, ST-7, RP-3, RP-6, CF-3, CF-4, CF-5, DL-1
CHECKS: Final = (
    Check(
        "holes are closed", ("CN-6",), "cycles",
        "A broadcast claims every own number after those broadcast before for the folder, up to the highest of its changes in it.",
        f"size({_CLAIMED}) > 0 and untouched and size(holders) > 1",
        f"size({_CLAIMED}) = 1 and {_CLAIMED}[0].low <= told + 1",
        "concat(node, ' left a hole in its own numbers after ', told, ' in its broadcast of ', folder)",
    ),
    Check(
        "nothing beyond the last change", ("CN-6",), "cycles", "A broadcast claims no own number above the folder's last own change.",
        "size(own) > 0", "array_max(transform(own, r -> r.high)) <= made",
        "concat(node, ' claimed own numbers of ', folder, ' above ', made, ', its last change there')",
    ),
    Check(
        "content is on its holders", ("HI-1",), "presence", "Content of a folder is made and applied only where a replica list has put it.",
        "true", "listed <= first", "concat(node, ' has content of ', folder, ', whose list, as it knew it, had not named it')",
    ),
    Check(
        "folders are shown under their names", ("HI-7",), "shown",
        "A folder is shown by the name that its version says, with a suffix only where another bears the same, and at the top if it hangs there.",
        "true",
        "(element_at(split(path, '/'), -1) = name or namesakes > 0 and startswith(element_at(split(path, '/'), -1), name))"
        " and (parent != '1-1' or not path like '%/%')",
        "concat(node, ' shows ', name, ' as ', path)",
    ),
    Check(
        "requests keep to the limit", ("BF-6",), "slots", "No more requests are outstanding than the limit allows.",
        "what = 'request.sent'", "out <= most", "concat(node, ' had ', out, ' requests out, and ', most, ' may be')",
    ),
    Check(
        "a slot comes back in time", ("BF-6", "BF-2"), "slots", "What ends had been sent; a request that is tried again has waited 12 hours.",
        "what = 'request.ended'", f"sent is not null and (how != 'retry' or not plain or at >= sent + {12 * HOUR_US})",
        "concat(node, ' ended a request for entry ', entry, if(sent is null, ' that it had not sent', ' before its time'))",
    ),
    Check(
        "slots go to the longest due", ("BF-6",), "slots", "While an entry waits for a slot none that came due later takes the last one.",
        "what = 'request.deferred'", "before is null", "concat(node, ' served entry ', array_join(before, ', '), ' before entry ', entry, ', longer due')",
    ),
    Check(
        "turns are remembered", ("BF-9", "ST-4"), "candidates",
        "When a candidate was last asked is when the last request went to it, or the first of the six steps listed it.",
        "coalesce(method, '') != '' and (told.backfilled_at > 0 or asked_at is not null)", "told.backfilled_at = coalesce(asked_at, 0)",
        "concat(node, ' took ', store, ' for asked at ', told.backfilled_at, ', and it was at ', coalesce(asked_at, 0))",
    ),
    Check(
        "2000 asks the first that has all", ("BF-3", "BF-9", "RT-3", "RT-4"), "turns",
        "Of 2000's candidates that are up and have all, one that comes first is asked: by group, then by turn, affinity or transmission time.",
        "true", "array_contains(first, chosen)",
        "concat(node, ' asked ', chosen, ' for entry ', entry, ', and ', array_join(first, ' or '), ' comes first and has it all')",
    ),
    Check(
        "transmission times are those of the mails", ("RT-3",), "candidates",
        "How long a candidate's mail takes is the mean of arrival minus sending, the newest weighted a quarter.",
        "coalesce(method, '') != '' and (told.transit_us is not null or transit is not null)", "abs(told.transit_us - transit) < 10000",
        "concat(node, ' took the way from ', store, ' for ', coalesce(cast(told.transit_us as string), 'unknown'), ' us long, and it is ', coalesce(cast(transit as string), 'unknown'))",
    ),
    Check(
        "affinity is that of the connectors", ("RT-4",), "candidates", "A candidate's affinity is the least sum over connectors that allow referrals.",
        "method = 'six groups'", "told.affinity <=> affinity",
        "concat(node, ' took the affinity of ', store, ' for ', coalesce(cast(told.affinity as string), 'none'), ', and it is ', coalesce(cast(affinity as string), 'none'))",
    ),
    Check(
        "what a status shows is noted", ("ST-5", "BF-1"), "heard",
        "What a status claims and its receiver lacks is in the receiver's backfill array, or waits in its queue.",
        "true", "noted", "concat(node, ' lacks ', number, ' of ', folder, ', which a status of ', sender, ' showed, and waits for no such thing')",
    ),
    Check(
        "5.5 tells of its tree each night", ("ST-6",), "nights", "Before SP4 a 5.5 store sends the hierarchy's status to all others at the day's first check.",
        "true", "told", "concat(node, ' told nobody of its hierarchy in that night')",
    ),
    Check(
        "repeats are answered", ("ST-7",), "repeats", "A repeat is answered at once by a status to its sender alone, which is no repeat.",
        "what = 'came' and array_contains(holders, node) and not dead", "answered",
        "concat(node, ' did not answer the repeat <', mail, '> of ', sender, ' for ', folder)",
    ),
    Check(
        "repeats come a day apart", ("ST-7",), "repeats", "A status is repeated to a store at most once in 24 hours.",
        "plain and what = 'sent' and message_type = 16 and before_at is not null", f"at - before_at >= {DAY_US}",
        "concat(node, ' repeated its status of ', folder, ' to ', store, ' within a day')",
    ),
    Check(
        "only the silent are asked again", ("ST-7",), "repeats",
        "A status request is repeated to a store that was asked before, and from which nothing sent since has come.",
        "what = 'sent' and message_type = 32", "before_at is not null and not heard",
        "concat(node, ' asked ', store, ' again for ', folder, if(heard, ', which had answered', ', which it had not asked'))",
    ),
    Check(
        "a repeat follows its status", ("ST-7", "ST-1"), "statuses", "A status is repeated a day or more after it was sent, with no update since.",
        "plain and what = 'repeat'", f"at - last_due_at >= {DAY_US} and coalesce(last_update_at <= last_due_at, true)",
        "concat(node, ' repeated a status of ', folder, ' that it had not sent a day before, or that an update has overtaken')",
    ),
    Check(
        "a new store asks for the tree", ("RP-3", "ST-3"), "newcomers", "A store that joins asks all others for the hierarchy's status.",
        "ended_at >= until_at", "asked", "concat(node, ' joined, and did not ask all others for the hierarchy within a day')",
    ),
    Check(
        "a store that holds replicas stays", ("RP-6",), "removals", "A store that folders list is not deleted from the directory but by force.",
        "not forced", "size(listing) = 0", "concat(node, ' deleted ', store, ', which ', size(listing), ' folders list')",
    ),
    Check(
        "who goes by force leaves all lists", ("RP-6",), "removals", "A store removed by force is taken off every list at once.",
        "forced", "size(left) = 0", "concat(node, ' removed ', store, ' and left it on the lists of ', array_join(left, ', '))",
    ),
    Check(
        "an edit covers what is kept", ("CF-3", "CN-3"), "at_stores", "The predecessor list of a change covers every version that its store keeps of the message.",
        "kind = 'message' and exists(rows, u -> u.act = 'made' and exists(rows, v -> v.seq < u.seq))",
        "forall(rows, u -> u.act != 'made' or forall(rows, v -> v.seq >= u.seq or v.act = 'forgot' or coalesce(try_element_at(u.pcl, v.guid) >= v.counter, false)))",
        "concat(node, ' changed ', object, ' without regard to a version that it had')",
    ),
    Check(
        "conflicts are told as the folder says", ("CF-4",), "notices",
        "Contacts hear of a conflict by the folder's resolve method: neither where the last writer wins nor without notification.",
        "what = 'notice' and size(versions) > 1 and untouched", "coalesce(resolve, 'default') = 'default'",
        "concat(node, ' told of the conflict of ', object, ', whose folder says: ', resolve)",
    ),
    Check(
        "old conflicts end at home", ("CF-5",), "aged", "Only the home store, first in the replica list, ends a conflict for its age.",
        "true", "holders[0] = node", "concat(node, ' ended the conflict of ', object, ' for its age, and ', holders[0], ' is home')",
    ),
    Check(
        "old conflicts end at their age", ("CF-5", "CF-1"), "aged",
        "A conflict that is ended for its age has stood for the limit, and its winner is kept.",
        "true", "coalesce(since_at = arose_at and at - arose_at >= limit_us and winner = shown, false)",
        "concat(node, ' ended the conflict of ', object, ' by ', number, ' before its time, or not in favour of the winner')",
    ),
    Check(
        "deletions leave a tombstone", ("DL-1",), "deaths", "A deletion, made or applied, leaves a tombstone with its number.",
        "true", "buried", "concat(node, ' deleted ', object, ' by ', number, ' and kept no tombstone')",
    ),
    Check(
        "what is deleted is not changed", ("DL-1", "DL-2"), "at_stores", "Nobody changes an object of which the tombstone stands here.",
        "exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'forgot')",
        "not exists(rows, u -> u.act = 'made' and exists(rows, v -> v.deleted and v.seq < u.seq))",
        "concat(node, ' changed ', object, ' after its deletion')",
    ),
)  # fmt: skip
