"""The rule checks. Each is a named predicate over an evidence table, with the ids of the rules that it checks.

A check says which rows it is about (`about`, SQL), and what must be true of each (`holds`). A row for which the predicate is null
violates the check, because the trace does not show that the rule holds. To add a check, add an entry here.
"""

from __future__ import annotations

from typing import Final

from analytics.evidence.number_sets import merged, ranges_of
from analytics.evidence.organization import IS_SUSPENDED
from analytics.evidence.source_selection import SORTED_LIST
from analytics.rules import mail_rules, state_rules
from analytics.rules.rule import DAY_US, HOUR_US, MINUTE_US, UPDATES, Check

_SET = "forall({inner}, c -> exists({outer}, r -> r.guid = c.guid and r.low <= c.low and c.high <= r.high))"


_IN_ROW = _SET.format(inner=ranges_of("f.cnset"), outer=ranges_of("f.row"))
_NOT_IN_ROW = f"forall({ranges_of('f.cnset')}, c -> not exists({ranges_of('f.row')}, r -> r.guid = c.guid and r.low <= c.high and c.low <= r.high))"

# spec: CN-1, CN-2, CN-3, CN-4, CN-7, CN-8, HI-2, HI-3, HI-4, HI-6, OUT-1, OUT-2, OUT-4, OUT-9
# spec: IN-1, IN-2, IN-3, IN-4, RST-1, RST-2, RST-4, BF-1, BF-2, BF-3, BF-4, BF-5, BF-7, BF-8, OUT-5
# spec: HI-5, CN-9, RP-1, ST-1, ST-2, ST-3, ST-4, RP-2, RP-4, CF-1, CF-2, DL-2, DL-4, DU-1, ML-6, RT-1, TM-1, CV-1, CV-3
CHECKS: Final = (
    Check(
        "numbers are never reissued", ("CN-1", "RP-4"), "changes", "No two changes have the same number.",
        "true", "same = 1", "concat(node, ' gave the number ', number, ' to more than one change')",
    ),
    Check(
        "each change takes the next number", ("CN-2",), "changes", "The change numbers of a store follow each other without a gap.",
        "before is not null", "counter = before + 1", "concat(node, ' gave the number ', number, ' directly after ', before)",
    ),
    Check(
        "predecessor lists are complete", ("CN-3", "CF-3"), "changes",
        "A version's predecessor list has its own number and the lists of the versions that it replaced, and nothing else.",
        "size(supersedes) = 0 or replaced_known = size(supersedes)",
        "forall(map_entries(list), e -> (e.key = guid and e.value = counter) or exists(replaced_lists, o -> o.key = e.key and o.value >= e.value))"
        " and coalesce(forall(replaced_lists, o -> coalesce(try_element_at(list, o.key) >= o.value, false)), true)",
        "concat(node, ' made ', number, ' with a predecessor list that does not match the versions that it replaced')",
    ),
    Check(
        "modification times increase", ("CN-8",), "changes", "A version has a later time than the versions that it replaces.",
        "replaced_at is not null", "modified_at > replaced_at", "concat(node, ' made ', number, ' with a time that is not later than that of the version that it replaced')",
    ),
    Check(
        "a folder keeps at least one replica", ("RP-2", "RP-6"), "changes", "The last replica of a folder is removed only together with its store.",
        "kind = 'folder' and operation != 'delete'", "size(replicas) > 0 or coalesce(size(stayed) = 0, false)", "concat(node, ' removed the last replica of ', subject, ' by the change ', number)",
    ),
    Check(
        "versions are applied as their author made them", ("HI-2", "ML-2", "DU-1"), "applied",
        "An applied version is the version that its author made: object, folder, bytes, predecessors and time.",
        "coalesce(author, '') != 'Setup'",
        "made_object = object and made_folder = folder and made_digest = digest and made_at = modified_at"
        " and map_entries(made_pcl) = map_entries(pcl) and made_deleted = deleted",
        "concat(store, ' applied ', number, case when made_object is null then ', which no store made' else ' in another form than its author made it' end)",
    ),
    Check(
        "old versions are not applied", ("CN-4", "IN-3"), "at_stores", "A store applies no version that a version in the store already includes.",
        "kind = 'message'",
        "forall(rows, u -> u.act != 'applied' or u.deleted or not exists(rows, v -> v.seq < u.seq and not v.deleted and v.act != 'tombstone dropped'"
        " and coalesce(try_element_at(v.pcl, u.guid) >= u.counter, false)))",
        "concat(node, ' applied a version of ', object, ' that is older than the version that it had')",
    ),
    Check(
        "older versions do not replace later ones", ("HI-5", "CN-9"), "at_stores", "Of a folder or an associated message (FAI, such as a view), an older version never replaces a later one.",
        "(folder = '1-1' or kind = 'fai') and not exists(rows, r -> r.act = 'tombstone dropped')",
        "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.seq < u.seq and not v.deleted"
        " and struct(v.modified_at, v.guid, v.counter) > struct(u.modified_at, u.guid, u.counter)))",
        "concat(node, ' replaced a later version of ', object, ' by an older one')",
    ),
    Check(
        "deleted items stay deleted", ("IN-4", "DL-2", "HI-6"), "at_stores", "A store that has the tombstone of an object applies no version of the object.",
        "exists(rows, r -> r.deleted) and not exists(rows, r -> r.act = 'tombstone dropped')",
        "not exists(rows, u -> u.act = 'applied' and not u.deleted and exists(rows, v -> v.deleted and v.seq < u.seq))",
        "concat(node, ' applied a version of ', object, ' after its deletion')",
    ),
    Check(
        "claimed changes are in the store", ("CN-7", "RST-1", "CV-1"), "claims",
        "A store made or applied each change that its row claims, or has a version that includes it.",
        "claimed", "had", "concat(node, ' claims ', number, ' in its last mail of ', folder, ', but never received it')",
    ),
    Check(
        "applied changes are claimed", ("IN-1", "RST-1", "CV-1"), "claims", "The row that a store sends claims each version that the store applied.",
        "applied", "claimed", "concat(node, ' applied ', number, ' of ', folder, ' but does not claim it')",
    ),
    Check(
        "hierarchy and content are not mixed", ("OUT-2", "HI-1"), "sent", "A mail with updates is about the hierarchy only, or about the content of one folder.",
        f"message_type in {UPDATES}", "size(says) = 1 and (says[0].folder = '1-1') = (message_type in (2, 2147483650))",
        "concat(node, ' put ', size(says), ' folders into <', mail, '> of type ', message_type)",
    ),
    Check(
        "mails name what the sender has", ("OUT-4", "CN-7"), "sent", "The set of a mail with updates is part of its sender's row.",
        f"message_type in {UPDATES}", f"forall(says, f -> {_IN_ROW})",
        "concat(node, ' named in <', mail, '> numbers that its own row does not have')",
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
        "hierarchy is broadcast on schedule", ("HI-3", "OUT-1"), "sent",
        "The hierarchy is broadcast at multiples of 15 minutes, or when the store starts.",
        "message_type = 2 and plain",
        f"at % {15 * MINUTE_US} = 0 or at = started_at", "concat(node, ' broadcast the hierarchy outside the cycle in <', mail, '>')",
    ),
    Check(
        "mails are read as they were written", ("ML-6", "RST-4", "OUT-9"), "received", "A mail is read with the content that the named sender submitted.",
        "true", "wrote = sender and wrote_folders = folders and wrote_number = number and wrote_type = message_type",
        "concat(node, ' read in <', mail, '> what ', sender, ' did not write')",
    ),
    Check(
        "mails are received after they are sent", ("TM-1",), "received", "A mail is received with a larger Lamport number than it was submitted with. Lab times may differ if a clock is skewed.",
        "wrote_at is not null", "lamport > wrote_lamport", "concat(node, ' received <', mail, '> before it was sent')",
    ),
    Check(
        "rows of other stores are as sent", ("RST-2", "RST-4"), "rows_replaced", "The row that a store keeps of another store is the row that the other store sent in that mail.",
        "true", "said_so", "concat(node, ' keeps a row of ', store, ' that ', store, ' did not send in <', mail, '>')",
    ),
    Check(
        "accepted mail is durable", ("IN-2", "OUT-9"), "hops", "An accepted mail is at the next server, or a fault lost it there.",
        "true", "landed", "concat(node, ' handed <', mail, '> to ', next_hop, ', which does not have it')",
    ),
    Check(
        "one copy crosses a connector", ("RT-1", "OUT-5"), "hops", "One copy of a mail crosses a connector. More copies cross only if the mail arrived at the bridgehead again or had no other route.",
        "connector is not null", "copies <= greatest(coalesce(arrivals, 0), 1) + given_up or coalesce(links_at <= last_at, false)", "concat(copies, ' copies of <', mail, '> crossed ', connector)",
    ),
    Check(
        "requests are answered", ("BF-5", "BF-8"), "requests", "A request is answered at once, and exactly once.",
        "true", f"answers = 1 and answered_at = at or answers is null and refused = 1 and {IS_SUSPENDED}",
        "concat(node, case when answers is null then ' did not answer' else ' answered late or again' end, ' the request <', mail, '> of ', sender)",
    ),
    Check(
        "answers have only what was requested", ("BF-5",), "requests", "An answer has no change that was not requested.",
        "answers > 0", _SET.format(inner="given", outer=merged("wanted")), "concat(node, ' answered <', mail, '> with more than was requested')",
    ),
    Check(
        "new entries wait 6 or 12 hours", ("BF-2",), "entries", "A new entry waits 6 hours if a store of the site has all of it, and 12 hours otherwise.",
        "plain and at is not null", f"due_at = at + case when local then {6 * HOUR_US} else {12 * HOUR_US} end",
        "concat(node, ' let entry ', entry, ' wait for another time than ', case when local then '6' else '12' end, ' hours')",
    ),
    Check(
        "requests are not sent early", ("BF-2",), "entries", "A request is sent at least 6 hours after its entry was made.",
        "plain and asked_at is not null and at is not null", f"asked_at >= at + {6 * HOUR_US}",
        "concat(node, ' sent a request for entry ', entry, ' too early')",
    ),
    Check(
        "the first retry is after 12 or 24 hours", ("BF-2",), "entries", "The first request waits 12 hours for an answer within the site, and 24 hours outside it.",
        "plain and asked_at is not null", f"retry_at - asked_at in ({12 * HOUR_US}, {24 * HOUR_US})",
        "concat(node, ' set the first retry of entry ', entry, ' to another time than 12 or 24 hours')",
    ),
    Check(
        "no backfill entry remains", ("CV-3", "CN-7"), "entries", "When all folders have converged, no backfill entry remains.",
        "at is not null and settled", "over", "concat(node, ' still waits for entry ', entry, ' of ', folder)",
    ),
    Check(
        "backfill sources are sorted", ("BF-3", "BF-4"), "decisions",
        "Candidates are sorted by state (up before down), preference, cost, version, and how many changes they have.",
        f"size(candidates) > 1 and {SORTED_LIST}",
        "forall(sequence(1, size(candidates) - 1), i -> struct(candidates[i - 1].down, not candidates[i - 1].preferred,"
        " coalesce(candidates[i - 1].cost, 9223372036854775807), -cast(candidates[i - 1].version as double), -candidates[i - 1].has) <="
        " struct(candidates[i].down, not candidates[i].preferred, coalesce(candidates[i].cost, 9223372036854775807),"
        " -cast(candidates[i].version as double), -candidates[i].has))",
        "concat(node, ' sorted the sources of entry ', entry, ' wrongly')",
    ),
    Check(
        "the first useful source is chosen", ("BF-3",), "decisions", "The first candidate that has some of the missing changes is chosen.",
        f"{SORTED_LIST} and exists(candidates, c -> c.has > 0 and (c.passed_over = '' or not c.passed_over like '%address%') and c.cost is not null)",
        "chosen[0] = filter(candidates, c -> c.has > 0 and not c.passed_over like '%address%' and c.cost is not null)[0].store",
        "concat(node, ' did not choose the first useful source of entry ', entry)",
    ),
    Check(
        "a status waits 24 hours", ("ST-1",), "statuses", "A status is due no earlier than 24 hours after the last update in the store.",
        "plain and what = 'due' and last_update_at is not null", f"due_at - last_update_at >= {24 * HOUR_US}",
        "concat(node, ' found a status of ', folder, ' due too early')",
    ),
    Check(
        "a status is due within 36 hours", ("ST-1",), "statuses", "A status is due no later than 36 hours after the last update in the store.",
        "plain and what = 'due' and steady and last_update_at is not null", f"due_at - last_update_at <= {36 * HOUR_US}",
        "concat(node, ' found a status of ', folder, ' due too late')",
    ),
    Check(
        "one status after an update", ("ST-1",), "statuses", "A store sends one status after an update.",
        "plain and what = 'due' and steady and last_due_at is not null", "last_update_at >= last_due_at",
        "concat(node, ' sent a second status of ', folder, ' without an update in between')",
    ),
    Check(
        "status checks run on schedule", ("ST-1",), "statuses", "Status checks run at 00:15 and 12:15.",
        "plain and what = 'due' and steady", f"(due_at - {15 * MINUTE_US}) % {12 * HOUR_US} = 0", "concat(node, ' checked statuses at another time')",
    ),
    Check(
        "the last writer wins a conflict", ("CF-1", "CN-8"), "conflicts", "Of conflicting versions a store shows the latest, and of equally late versions the one with the larger GUID.",
        "known = versions", "winner = last_writer", "concat(node, ' shows ', winner, ' of ', object, ', but ', last_writer, ' is the winner')",
    ),
    Check(
        "lab time never goes back", ("TM-1",), "clocks", "The lab time of a node's events never decreases.",
        "at_before is not null", "at >= at_before", "concat('the time of ', node, ' went back at event ', seq)",
    ),
    Check(
        "Lamport numbers increase", ("TM-1",), "clocks", "The Lamport numbers of a node's events increase.",
        "lamport_before is not null", "lamport > lamport_before", "concat('the Lamport number of ', node, ' did not increase at event ', seq)",
    ),
    Check(
        "deferred versions wait 7 days or 4 hours", ("HI-4",), "deferred", "A deferred version waits 7 days in the hierarchy and 4 hours in content.",
        "true", f"until_at - at = case when folder = '1-1' then {7 * DAY_US} else {4 * HOUR_US} end",
        "concat(node, ' defers ', number, ' for another time')",
    ),
    Check(
        "costs match the routes", ("BF-3", "RT-1"), "candidates", "The cost of a candidate follows from the connectors.",
        "stated.cost is not null or cost is not null", "stated.cost <=> cost",
        "concat(node, ' used the cost ', coalesce(cast(stated.cost as string), 'none'), ' for ', store, ', but it is ', coalesce(cast(cost as string), 'none'))",
    ),
    Check(
        "silent candidates are down", ("BF-4",), "candidates", "A candidate is down if a request to it timed out and no mail from it arrived since.",
        "true", "stated.down = down",
        "concat(node, ' treated ', store, ' as ', if(stated.down, 'down', 'up'), ' in the choice for entry ', entry)",
    ),
    Check(
        "candidates match the configuration", ("BF-3", "BF-7"), "candidates", "A candidate has the version of the topology, and the preferred source is that of the settings.",
        "true", "stated.version = version and stated.preferred = preferred",
        "concat(node, ' treated ', store, ' as version ', stated.version, if(stated.preferred, ' and as preferred', ''))",
    ),
    Check(
        "only silent sources are marked down", ("BF-4",), "marks_down", "A source is marked down only after the retry time-out of a request to it.",
        "true", "overdue", "concat(node, ' marked ', store, ' down, but no request to it had timed out')",
    ),
    Check(
        "sources are asked for what they claim", ("BF-1", "BF-3"), "requests_made", "A source is asked only for numbers that its row had at that time.",
        "row is not null", "claimed", "concat(node, ' asked ', source, ' for numbers that its row does not claim, for entry ', entry)",
    ),
    Check(
        "no better source is passed over", ("BF-3",), "requests_made",
        "No candidate that comes first by state, preference, cost and version has what another candidate is asked for.",
        "row is not null and sorted", "size(better) = 0",
        "concat(node, ' asked ', source, ' for entry ', entry, ', but ', array_join(better, ' and '), ' come first and have it')",
    ),
    Check(
        "local entries are in the site", ("BF-2",), "entries_made", "An entry is local if the row of a store of the site has all of it.",
        "not stale", "local = (near > 0)",
        "concat(node, ' marked entry ', entry, if(local, ' as local, but no store of the site has it', ' as remote, but the site has it'))",
    ),
    Check(
        "broadcasts go to all other holders", ("OUT-5",), "mailed_folders", "A broadcast is one mail to all other holders.",
        "message_type in (2, 4)", "to = array_sort(filter(holders, h -> h != node))",
        "concat(node, ' sent <', mail, '> to ', array_join(to, ', '), ', but the holders are ', array_join(holders, ', '))",
    ),
    Check(
        "statuses go to holders", ("ST-1", "ST-2"), "mailed_folders", "A status goes to all other holders, or to the store that asked for it.",
        "message_type = 16", "size(to) = 1 or to = array_sort(filter(holders, h -> h != node))",
        "concat(node, ' sent the status <', mail, '> to ', array_join(to, ', '))",
    ),
    Check(
        "all holders are asked for their status", ("ST-3", "ST-4"), "responders", "2003 and 2007 ask all other holders for their status.",
        "coalesce(method, '') in ('', 'all holders')", "array_sort(chosen) = array_sort(filter(holders, h -> h != node))",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but the holders are ', array_join(holders, ', '))",
    ),
    Check(
        "the six steps list the right number of responders", ("ST-4",), "responders", "2000 asks three responders and the oldest replica, and other versions ask three. If there are fewer holders, all are asked.",
        "method = 'six steps'",
        "size(array_except(chosen, holders)) = 0 and not array_contains(chosen, node) and size(chosen) <= `limit`"
        " and size(chosen) >= least(3, size(holders) - 1)",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, and the holders are ', array_join(holders, ', '))",
    ),
    Check(
        "content is broadcast on schedule", ("OUT-1",), "mailed_folders", "Content is broadcast at the times of its folder's schedule, or when the store starts.",
        "message_type = 4 and plain and untouched and schedule is not null",
        f"case when at = started_at then true when schedule = 'never' then false"
        f" when schedule rlike '^every [0-9]+ h$' then at % (cast(regexp_extract(schedule, '[0-9]+', 0) as bigint) * {HOUR_US}) = 0"
        f" else at % {15 * MINUTE_US} = 0 end",
        "concat(node, ' broadcast <', mail, '> outside the schedule of ', folder)",
    ),
    Check(
        "the home store sends conflict notices", ("CF-2",), "notices", "When a conflict arises in the home store of its folder, that store notifies the contacts.",
        "what = 'conflict' and untouched and holders[0] = node and resolve = 'default'", "notified",
        "concat(node, ' sent no notice of the conflict of ', object)",
    ),
    Check(
        "only the home store sends conflict notices", ("CF-2",), "notices", "Only the home store, the first in the replica list, sends notices of a conflict.",
        "what = 'notice' and size(versions) > 1", "holders[0] = node", "concat(node, ' sent a notice of the conflict of ', object, ', but the home store is ', holders[0])",
    ),
    Check(
        "dropped tombstones are known to all holders", ("DL-4",), "drops", "A tombstone is dropped only when the row of every other holder has its number.",
        "what = 'tombstone'", "size(unknown_to) = 0",
        "concat(node, ' dropped the tombstone ', number, ', which the row of ', array_join(unknown_to, ' and '), ' did not have')",
    ),
    Check(
        "tombstones are kept for 180 days", ("DL-4",), "drops", "A tombstone is kept for 180 days.",
        "plain and what = 'tombstone'", f"at - modified_at >= {180 * DAY_US}", "concat(node, ' dropped the tombstone ', number, ' too early')",
    ),
    Check(
        "a dropped replica is complete elsewhere", ("RP-2", "DU-1"), "drops",
        "A store that is no longer a holder drops its replica only when the row of a holder has all of it.",
        "what = 'dropped' and not dead and others > 0 and not array_contains(holders, node)", "size(unknown_to) < others",
        "concat(node, ' dropped its replica of ', folder, ', but no holder had all of it')",
    ),
    Check(
        "due statuses are sent", ("ST-1",), "expected_statuses", "When the status of a folder is due, it is sent at that instant.",
        "what = 'due'", "kept", "concat(node, ' found a status of ', folder, ' due, but sent none')",
    ),
    Check(
        "a new replica asks for statuses", ("RP-1", "ST-3"), "expected_statuses", "A store that begins a replica asks the holders for their status.",
        "what = 'added' and ended_at >= until_at", "kept", "concat(node, ' began a replica of ', folder, ' but asked no holder for its status')",
    ),
    Check(
        "the home store or the author reports a lost edit", ("DL-2",), "notices", "Only the home store or the author of an edit sends the notice that the edit lost to a deletion.",
        "what = 'notice' and size(versions) = 1", "holders[0] = node or author = node", "concat(node, ' sent the notice of the lost edit ', versions[0], ' but is neither the home store nor its author')",
    ),
    *state_rules.CHECKS,
    *mail_rules.CHECKS,
)  # fmt: skip
