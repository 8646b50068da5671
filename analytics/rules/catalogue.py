"""The rule checks. Each is a named predicate over an evidence table, with the ids of the rules that it checks.

A check says which rows it is about (`about`, SQL), and what must be true of each (`holds`). A row for which the predicate is null
violates the check, because the trace does not show that the rule holds. To add a check, add an entry here.
"""

from __future__ import annotations

from typing import Final

from analytics.evidence.number_sets import merged, ranges_of
from analytics.evidence.organization import STANDS_SUSPENDED
from analytics.evidence.source_selection import SORTED_LIST
from analytics.rules import mail_rules, state_rules
from analytics.rules.rule import DAY_US, HOUR_US, MINUTE_US, UPDATES, Check

_SET = "forall({inner}, c -> exists({outer}, r -> r.guid = c.guid and r.low <= c.low and c.high <= r.high))"


_WITHIN = _SET.format(inner=ranges_of("f.cnset"), outer=ranges_of("f.row"))
_APART = f"forall({ranges_of('f.cnset')}, c -> not exists({ranges_of('f.row')}, r -> r.guid = c.guid and r.low <= c.high and c.low <= r.high))"

# spec: CN-1, CN-2, CN-3, CN-4, CN-7, CN-8, HI-2, HI-3, HI-4, HI-6, OUT-1, OUT-2, OUT-4, OUT-9
# spec: IN-1, IN-2, IN-3, IN-4, RST-1, RST-2, RST-4, BF-1, BF-2, BF-3, BF-4, BF-5, BF-7, BF-8, OUT-5
# spec: HI-5, CN-9, RP-1, ST-1, ST-2, ST-3, ST-4, RP-2, RP-4, CF-1, CF-2, DL-2, DL-4, DU-1, ML-6, RT-1, TM-1, CV-1, CV-3
CHECKS: Final = (
    Check(
        "numbers are never reissued", ("CN-1", "RP-4"), "changes", "No two changes bear one number.",
        "true", "same = 1", "concat(node, ' gave the number ', number, ' to more than one change')",
    ),
    Check(
        "each change takes the next number", ("CN-2",), "changes", "A store's changes are numbered one after the other.",
        "before is not null", "counter = before + 1", "concat(node, ' went from ', before, ' to ', counter, ' with ', number)",
    ),
    Check(
        "predecessors are complete", ("CN-3", "CF-3"), "changes",
        "A version's predecessor list is its own number and the lists of what it replaced, and no more.",
        "size(supersedes) = 0 or replaced_known = size(supersedes)",
        "forall(map_entries(list), e -> (e.key = guid and e.value = counter) or exists(replaced_lists, o -> o.key = e.key and o.value >= e.value))"
        " and coalesce(forall(replaced_lists, o -> coalesce(try_element_at(list, o.key) >= o.value, false)), true)",
        "concat(node, ' made ', number, ' with a predecessor list that is not that of what it replaced')",
    ),
    Check(
        "time goes on with each version", ("CN-8",), "changes", "A version is later than those that it replaces.",
        "replaced_at is not null", "modified_at > replaced_at", "concat(node, ' made ', number, ' no later than what it replaces')",
    ),
    Check(
        "a folder keeps a replica", ("RP-2", "RP-6"), "changes", "The last replica of a folder is never removed, but with its store.",
        "kind = 'folder' and operation != 'delete'", "size(replicas) > 0 or coalesce(size(stayed) = 0, false)", "concat(node, ' left ', subject, ' without a replica by ', number)",
    ),
    Check(
        "bytes are the author's", ("HI-2", "ML-2", "DU-1"), "applied",
        "What is applied is what somebody made: object, folder, bytes, predecessors and time.",
        "coalesce(author, '') != 'Setup'",
        "made_object = object and made_folder = folder and made_digest = digest and made_at = modified_at"
        " and map_entries(made_pcl) = map_entries(pcl) and made_deleted = deleted",
        "concat(store, ' applied ', number, case when made_object is null then ', which nobody made' else ' otherwise than its author made it' end)",
    ),
    Check(
        "what is old is not applied", ("CN-4", "IN-3"), "at_stores", "No version is applied that one kept there already incorporates.",
        "kind = 'message'",
        "forall(rows, u -> u.act != 'applied' or u.deleted or not exists(rows, v -> v.seq < u.seq and not v.deleted and v.act != 'forgot'"
        " and coalesce(try_element_at(v.pcl, u.guid) >= u.counter, false)))",
        "concat(node, ' applied a version of ', object, ' that is older than what it had')",
    ),
    Check(
        "the last writer stays", ("HI-5", "CN-9"), "at_stores", "Of a folder or an associated message nothing older takes a later version's place.",
        "(folder = '1-1' or kind = 'fai') and not exists(rows, r -> r.act = 'forgot')",
        "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.seq < u.seq and not v.deleted"
        " and struct(v.modified_at, v.guid, v.counter) > struct(u.modified_at, u.guid, u.counter)))",
        "concat(node, ' took an older version of ', object, ' in place of a later one')",
    ),
    Check(
        "deleted is deleted", ("IN-4", "DL-2", "HI-6"), "at_stores", "Where a tombstone stands no version of its object is applied.",
        "exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'forgot')",
        "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.deleted and v.seq < u.seq))",
        "concat(node, ' applied a version of ', object, ' after its deletion')",
    ),
    Check(
        "what a row claims has come", ("CN-7", "RST-1", "CV-1"), "claims",
        "Whatever a store's row claims it has made, applied, or has something that stands for it.",
        "claimed", "had", "concat(node, ' claims ', number, ' in its last mail of ', folder, ', and it never came there')",
    ),
    Check(
        "what has come is claimed", ("IN-1", "RST-1", "CV-1"), "claims", "A version applied here is in the row that is sent from here.",
        "applied", "claimed", "concat(node, ' has applied ', number, ' of ', folder, ', and does not claim it')",
    ),
    Check(
        "hierarchy and content apart", ("OUT-2", "HI-1"), "sent", "A mail with updates is of the hierarchy alone or of one folder's content.",
        f"message_type in {UPDATES}", "size(says) = 1 and (says[0].folder = '1-1') = (message_type in (2, 2147483650))",
        "concat(node, ' packed ', size(says), ' folders into <', mail, '> of type ', message_type)",
    ),
    Check(
        "mails name what the sender has", ("OUT-4", "CN-7"), "sent", "The set of a mail with updates lies within its sender's row.",
        f"message_type in {UPDATES}", f"forall(says, f -> {_WITHIN})",
        "concat(node, ' named in <', mail, '> numbers that its own row lacks')",
    ),
    Check(
        "only what is missing is asked for", ("BF-1",), "sent", "A request asks for nothing that its sender's row has.",
        "message_type = 8", f"forall(says, f -> {_APART})", "concat(node, ' asked in <', mail, '> for what its own row has')",
    ),
    Check(
        "requests and responses go to one", ("BF-5", "BF-6"), "sent", "A backfill request goes to one source, a response to one requester.",
        "message_type in (8, 2147483650, 2147483652)", "size(recipients) = 1", "concat(node, ' sent <', mail, '> to ', size(recipients))",
    ),
    Check(
        "hierarchy keeps its own time", ("HI-3", "OUT-1"), "sent",
        "Hierarchy is broadcast at the multiples of 15 minutes, or at a start.",
        "message_type = 2 and plain",
        f"at % {15 * MINUTE_US} = 0 or at = started_at", "concat(node, ' broadcast hierarchy off the cycle in <', mail, '>')",
    ),
    Check(
        "what is read is what was written", ("ML-6", "RST-4", "OUT-9"), "received", "A mail is unpacked as the sender that it names submitted it.",
        "true", "wrote = sender and wrote_folders = folders and wrote_number = number and wrote_type = message_type",
        "concat(node, ' read in <', mail, '> what ', sender, ' did not write')",
    ),
    Check(
        "causes come before effects", ("TM-1",), "received", "A mail is received after it was submitted, in order of cause; a skewed clock may show another time.",
        "wrote_at is not null", "lamport > wrote_lamport", "concat(node, ' received <', mail, '> before it was sent')",
    ),
    Check(
        "rows of others are theirs", ("RST-2", "RST-4"), "rows_replaced", "The row kept of a store is what that store said in that mail.",
        "true", "said_so", "concat(node, ' keeps a row of ', store, ' that it did not send in <', mail, '>')",
    ),
    Check(
        "accepted is durable", ("IN-2", "OUT-9"), "hops", "A mail that was accepted is at the next server, or was lost there by a fault.",
        "true", "landed", "concat(node, ' handed <', mail, '> to ', next_hop, ', which does not have it')",
    ),
    Check(
        "one copy crosses a connector", ("RT-1", "OUT-5"), "hops", "A connector is crossed by one copy of a mail, again only if it came to the bridgehead again or could not go another way.",
        "connector is not null", "copies <= greatest(coalesce(arrivals, 0), 1) + given_up or coalesce(links_at <= last_at, false)", "concat(copies, ' copies of <', mail, '> crossed ', connector)",
    ),
    Check(
        "requests are answered", ("BF-5", "BF-8"), "requests", "A request is answered at once, and once.",
        "true", f"answers = 1 and answered_at = at or answers is null and refused = 1 and {STANDS_SUSPENDED}",
        "concat(node, ' answered the request <', mail, '> of ', sender, case when answers is null then ' never' else ' late or again' end)",
    ),
    Check(
        "answers are asked for", ("BF-5",), "requests", "An answer brings nothing that was not asked for.",
        "answers > 0", _SET.format(inner="given", outer=merged("wanted")), "concat(node, ' answered <', mail, '> with more than was asked for')",
    ),
    Check(
        "the first wait", ("BF-2",), "entries", "A new entry waits 6 hours if a store of the site has it all, else 12.",
        "plain and at is not null", f"due_at = at + case when local then {6 * HOUR_US} else {12 * HOUR_US} end",
        "concat(node, ' let entry ', entry, ' wait for another time than ', case when local then '6' else '12' end, ' hours')",
    ),
    Check(
        "nothing is asked for early", ("BF-2",), "entries", "A request goes out no earlier than 6 hours after its entry was made.",
        "plain and asked_at is not null and at is not null", f"asked_at >= at + {6 * HOUR_US}",
        "concat(node, ' asked for entry ', entry, ' too early')",
    ),
    Check(
        "the first retry", ("BF-2",), "entries", "The first request waits 12 hours for an answer in the site, 24 outside.",
        "plain and asked_at is not null", f"retry_at - asked_at in ({12 * HOUR_US}, {24 * HOUR_US})",
        "concat(node, ' would ask again for entry ', entry, ' after another time than 12 or 24 hours')",
    ),
    Check(
        "nothing is left over", ("CV-3", "CN-7"), "entries", "When all has come, no backfill entry remains.",
        "at is not null and settled", "over", "concat(node, ' still waits for entry ', entry, ' of ', folder)",
    ),
    Check(
        "sources are asked in order", ("BF-3", "BF-4"), "decisions",
        "Candidates are sorted: not down, preferred, cost, version, how much they have.",
        f"size(candidates) > 1 and {SORTED_LIST}",
        "forall(sequence(1, size(candidates) - 1), i -> struct(candidates[i - 1].down, not candidates[i - 1].preferred,"
        " coalesce(candidates[i - 1].cost, 9223372036854775807), -cast(candidates[i - 1].version as double), -candidates[i - 1].has) <="
        " struct(candidates[i].down, not candidates[i].preferred, coalesce(candidates[i].cost, 9223372036854775807),"
        " -cast(candidates[i].version as double), -candidates[i].has))",
        "concat(node, ' sorted the sources of entry ', entry, ' wrongly')",
    ),
    Check(
        "the first that has something is asked", ("BF-3",), "decisions", "The first candidate that has some of it is chosen.",
        f"{SORTED_LIST} and exists(candidates, c -> c.has > 0 and (c.passed_over = '' or not c.passed_over like '%address%') and c.cost is not null)",
        "chosen[0] = filter(candidates, c -> c.has > 0 and not c.passed_over like '%address%' and c.cost is not null)[0].store",
        "concat(node, ' passed over the first source of entry ', entry)",
    ),
    Check(
        "a status waits 24 hours", ("ST-1",), "statuses", "A status is due no earlier than 24 hours after the last update here.",
        "plain and what = 'due' and last_update_at is not null", f"due_at - last_update_at >= {24 * HOUR_US}",
        "concat(node, ' found ', folder, ' due too early for a status')",
    ),
    Check(
        "a status comes within 36 hours", ("ST-1",), "statuses", "A status is due at most 36 hours after the last update.",
        "plain and what = 'due' and steady and last_update_at is not null", f"due_at - last_update_at <= {36 * HOUR_US}",
        "concat(node, ' found ', folder, ' due for a status too late')",
    ),
    Check(
        "one status for an update", ("ST-1",), "statuses", "A status goes once after an update.",
        "plain and what = 'due' and steady and last_due_at is not null", "last_update_at >= last_due_at",
        "concat(node, ' sent a second status for ', folder, ' with no update since')",
    ),
    Check(
        "checks keep their hours", ("ST-1",), "statuses", "Status is checked at 00:15 and 12:15.",
        "plain and what = 'due' and steady", f"(due_at - {15 * MINUTE_US}) % {12 * HOUR_US} = 0", "concat(node, ' checked status off its hours')",
    ),
    Check(
        "the last writer is shown", ("CF-1", "CN-8"), "conflicts", "Of concurrent versions the later is shown, then the larger GUID's.",
        "known = versions", "winner = last_writer", "concat(node, ' shows ', winner, ' of ', object, ', and ', last_writer, ' wins')",
    ),
    Check(
        "time never goes back", ("TM-1",), "clocks", "A node's events never go back in lab time.",
        "at_before is not null", "at >= at_before", "concat('the time of ', node, ' went back at event ', seq)",
    ),
    Check(
        "causes come first", ("TM-1",), "clocks", "A node's Lamport numbers grow.",
        "lamport_before is not null", "lamport > lamport_before", "concat('the Lamport number of ', node, ' did not grow at event ', seq)",
    ),
    Check(
        "what is held waits its time", ("HI-4",), "held", "Hierarchy is held 7 days, content 4 hours.",
        "true", f"until_at - at = case when folder = '1-1' then {7 * DAY_US} else {4 * HOUR_US} end",
        "concat(node, ' holds ', number, ' for another time')",
    ),
    Check(
        "costs are those of the routes", ("BF-3", "RT-1"), "candidates", "What a candidate costs follows from the connectors.",
        "told.cost is not null or cost is not null", "told.cost <=> cost",
        "concat(node, ' took the cost of ', store, ' for ', coalesce(cast(told.cost as string), 'none'),"
        " ', and it is ', coalesce(cast(cost as string), 'none'))",
    ),
    Check(
        "who is silent is down", ("BF-4",), "candidates", "A candidate is down if its time-out ended and no mail came from it since.",
        "true", "told.down = down",
        "concat(node, ' took ', store, ' for ', if(told.down, 'down', 'up'), ' in the choice for entry ', entry)",
    ),
    Check(
        "versions and preference are as set", ("BF-3", "BF-7"), "candidates", "A candidate's version is the topology's, the preferred source the setting's.",
        "true", "told.version = version and told.preferred = preferred",
        "concat(node, ' took ', store, ' for a ', told.version, if(told.preferred, ', preferred', ''))",
    ),
    Check(
        "only a silent source is down", ("BF-4",), "marks_down", "A source is marked down when a request's retry time-out has ended.",
        "true", "overdue", "concat(node, ' marked ', store, ' down without a request that it left unanswered')",
    ),
    Check(
        "asked for what its row claims", ("BF-1", "BF-3"), "requests_made", "A source is asked for numbers that its row, as it stood, has.",
        "row is not null", "claimed", "concat(node, ' asked ', source, ' for what its row does not claim, for entry ', entry)",
    ),
    Check(
        "no better source is passed over", ("BF-3",), "requests_made",
        "Nobody who comes first by state, preference, cost and version, as worked out anew, has what another is asked for.",
        "row is not null and sorted", "size(better) = 0",
        "concat(node, ' asked ', source, ' for what ', array_join(better, ' and '), ' has, for entry ', entry)",
    ),
    Check(
        "local is what the site has", ("BF-2",), "entries_made", "An entry is local if the row of some store of the site has all of it.",
        "not stale", "local = (near > 0)",
        "concat(node, ' took entry ', entry, if(local, ' for local, which no store of the site has', ' for remote, which the site has'))",
    ),
    Check(
        "content goes to all other holders", ("OUT-5",), "named", "A broadcast is one mail to all the other holders.",
        "message_type in (2, 4)", "to = array_sort(filter(holders, h -> h != node))",
        "concat(node, ' sent <', mail, '> to ', array_join(to, ', '), ', and holders are ', array_join(holders, ', '))",
    ),
    Check(
        "statuses go to holders", ("ST-1", "ST-2"), "named", "A status goes to all other holders, or to the one that asked.",
        "message_type = 16", "size(to) = 1 or to = array_sort(filter(holders, h -> h != node))",
        "concat(node, ' sent the status <', mail, '> to ', array_join(to, ', '))",
    ),
    Check(
        "all holders must respond", ("ST-3", "ST-4"), "responders", "2003 and 2007 ask all other holders for their status.",
        "coalesce(method, '') in ('', 'all holders')", "array_sort(chosen) = array_sort(filter(holders, h -> h != node))",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for status, and holders are ', array_join(holders, ', '))",
    ),
    Check(
        "six steps list no more than they may", ("ST-4",), "responders", "2000 lists three responders and the oldest replica, others three; all where there are fewer.",
        "method = 'six steps'",
        "size(array_except(chosen, holders)) = 0 and not array_contains(chosen, node) and size(chosen) <= `limit`"
        " and size(chosen) >= least(3, size(holders) - 1)",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for status, and holders are ', array_join(holders, ', '))",
    ),
    Check(
        "content keeps its schedule", ("OUT-1",), "named", "Content is broadcast at the times of its folder's schedule, or at a start.",
        "message_type = 4 and plain and untouched and schedule is not null",
        f"case when at = started_at then true when schedule = 'never' then false"
        f" when schedule rlike '^every [0-9]+ h$' then at % (cast(regexp_extract(schedule, '[0-9]+', 0) as bigint) * {HOUR_US}) = 0"
        f" else at % {15 * MINUTE_US} = 0 end",
        "concat(node, ' broadcast <', mail, '> at a time that is not of the schedule of ', folder)",
    ),
    Check(
        "the home store tells of a conflict", ("CF-2",), "notices", "When a conflict arises at the folder's home store, it writes to the contacts.",
        "what = 'conflict' and untouched and holders[0] = node and resolve = 'default'", "told",
        "concat(node, ' told nobody of the conflict of ', object)",
    ),
    Check(
        "nobody else tells of it", ("CF-2",), "notices", "Only the home store, first in the replica list, tells of a conflict.",
        "what = 'notice' and size(versions) > 1", "holders[0] = node", "concat(node, ' told of the conflict of ', object, ', and ', holders[0], ' is home')",
    ),
    Check(
        "tombstones are known to all", ("DL-4",), "goings", "A tombstone is dropped when every other holder's row has its number.",
        "what = 'tombstone'", "size(unknown_to) = 0",
        "concat(node, ' dropped the tombstone ', number, ', which ', array_join(unknown_to, ' and '), ' had not claimed')",
    ),
    Check(
        "tombstones come of age", ("DL-4",), "goings", "A tombstone is kept for 180 days.",
        "plain and what = 'tombstone'", f"at - modified_at >= {180 * DAY_US}", "concat(node, ' dropped the tombstone ', number, ' too young')",
    ),
    Check(
        "a replica goes when another has it", ("RP-2", "DU-1"), "goings",
        "What a store that left the list had is in the row of a holder before it is dropped.",
        "what = 'dropped' and not dead and others > 0 and not array_contains(holders, node)", "size(unknown_to) < others",
        "concat(node, ' dropped its replica of ', folder, ', all of which no holder had')",
    ),
    Check(
        "what is due is sent", ("ST-1",), "promises", "A folder found due for a status is named in a status sent at that instant.",
        "what = 'due'", "kept", "concat(node, ' found ', folder, ' due for a status, and sent none')",
    ),
    Check(
        "a new replica asks for status", ("RP-1", "ST-3"), "promises", "A store that begins a replica asks the holders for their status.",
        "what = 'added' and ended_at >= until_at", "kept", "concat(node, ' holds ', folder, ' now, and asked nobody for its status')",
    ),
    Check(
        "lost edits are told by home or author", ("DL-2",), "notices", "Of an edit that lost to a deletion tells the home store, or its author.",
        "what = 'notice' and size(versions) = 1", "holders[0] = node or author = node", "concat(node, ' told of the lost edit ', versions[0])",
    ),
    *state_rules.CHECKS,
    *mail_rules.CHECKS,
)  # fmt: skip
