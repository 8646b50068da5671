"""Checks of conflicts: the winner, the notices, and the age limit."""

from typing import Final

from analytics.rules.check import Check
from traces.labtime import DAY_US

# spec: CF-1, CF-2, CF-3, CF-4, CF-5, CN-3, CN-8
CHECKS: Final = (
    Check(
        "the last writer wins a conflict", ("CF-1", "CN-8"), "conflicts", "Of conflicting versions a store shows the latest, and of equally late versions the one with the larger GUID.",
        "known = versions", "winner = last_writer", "concat(node, ' shows ', winner, ' of ', object, ', but ', last_writer, ' is the winner')",
    ),
    Check(
        "an edit covers the versions in its store", ("CF-3", "CN-3"), "at_stores", "The predecessor list of a change covers every version of the message in its store.",
        "kind = 'message' and exists(rows, u -> u.act = 'made' and exists(rows, v -> v.seq < u.seq))",
        "forall(rows, u -> u.act != 'made' or forall(rows, v -> v.seq >= u.seq or v.act = 'tombstone dropped' or coalesce(try_element_at(u.pcl, v.guid) >= v.counter, false)))",
        "concat(node, ' changed ', object, ' without covering a version that it had')",
    ),
    Check(
        "the home store sends conflict notices", ("CF-2",), "notices", "When a conflict arises in the home store of its folder, that store notifies the contacts.",
        "what = 'conflict' and untouched and holders[0] = node and resolve = 'default'", "notified",
        "concat(node, ' sent no notice of the conflict of ', object)",
    ),
    Check(
        "only the home store sends conflict notices", ("CF-2",), "notices",
        "Only the home store, the first in the replica list, sends notices of a conflict. Two days after the conflict arose another holder may do it.",
        "what = 'notice' and size(versions) > 1", f"holders[0] = node or not plain or at - arose_at >= {2 * DAY_US}",
        "concat(node, ' sent a notice of the conflict of ', object, ', but the home store is ', holders[0])",
    ),
    Check(
        "conflict notices follow the resolve method", ("CF-4",), "notices",
        "A store sends notices of a conflict only if the folder's resolve method is the default: the others are 'last writer wins' and 'no notification'.",
        "what = 'notice' and size(versions) > 1 and untouched", "coalesce(resolve, 'default') = 'default'",
        "concat(node, ' sent a notice of the conflict of ', object, ', but the resolve method of its folder is: ', resolve)",
    ),
    Check(
        "only contacts resolve conflicts", ("CF-3",), "resolutions", "Whoever resolves a conflict is a contact of its folder.",
        "untouched and contacts is not null", "array_contains(contacts, by)",
        "concat(by, ' resolved the conflict of ', object, ' on ', node, ', but the contacts are: ', array_join(contacts, ', '))",
    ),
    Check(
        "a change that ends a conflict replaces its versions", ("CF-3",), "resolving_changes", "A change that ends a conflict replaces all versions that were in conflict in its store.",
        "true", "size(array_except(versions, supersedes)) = 0",
        "concat(node, ' ended the conflict of ', object, ' by ', number, ', which does not replace ', array_join(array_except(versions, supersedes), ', '))",
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
)  # fmt: skip
