"""Checks of conflicts: the winner, the notices, and the age limit."""

from typing import Final

from analytics.evidence.conditions import COVERS
from analytics.rules.check import Check
from traces.labtime import DAY_US

# spec: CF-1, CF-2, CF-3, CF-4, CF-5, CF-6, CN-3, CN-8
CHECKS: Final = (
    Check(
        id="the last writer wins a conflict",
        rules=("CF-1", "CN-8"),
        table="conflicts",
        says=(
            "Of conflicting versions a store shows the latest, and of equally late versions the one with the larger"
            " GUID."
        ),
        about="known = versions",
        holds="winner = last_writer",
        words="concat(node, ' shows ', winner, ' of ', object, ', but ', last_writer, ' is the winner')",
    ),
    Check(
        id="an edit covers the versions in its store",
        rules=("CF-3", "CN-3", "CF-6"),
        table="at_stores",
        says=(
            "The predecessor list of a change covers every version of the message in its store, or names it as a rival:"
            " a version that its author had not opened."
        ),
        about="kind = 'message' and exists(rows, u -> u.act = 'made' and exists(rows, v -> v.seq < u.seq))",
        holds=(
            "forall(rows, u -> u.act != 'made' or forall(rows, v -> v.seq >= u.seq or v.act = 'tombstone dropped'"
            f" or array_contains(coalesce(u.rivals, array()), v.number) or {COVERS.format(v='u', u='v')}))"
        ),
        words="concat(node, ' changed ', object, ' without covering a version that it had')",
    ),
    Check(
        id="a change covers only what it replaces",
        rules=("CF-6", "CF-1", "CN-4"),
        table="at_stores",
        says=(
            "If the predecessor list of a change covers the version that its store made or applied last, the change"
            " is made from that version."
        ),
        about="kind = 'message' and exists(rows, u -> u.act = 'made' and exists(rows, v -> v.seq < u.seq))",
        holds=(
            "not exists(rows, u -> u.act = 'made' and exists(array(array_max(transform(filter(rows, v -> v.seq < u.seq"
            " and v.act != 'tombstone dropped'), v -> struct(v.seq as seq, v.number as number, v.guid as guid,"
            " v.counter as counter)))), w -> not array_contains(coalesce(u.supersedes, array()), w.number)"
            f" and {COVERS.format(v='u', u='w')}))"
        ),
        words="concat(node, ' made a version of ', object, ' that replaces the version before it, but is not made from it')",
    ),
    Check(
        id="rivals are versions that were not opened",
        rules=("CF-6",),
        table="changes",
        says=(
            "A change that names rivals is an edit, and none of them is among the versions that it is made from or"
            " that these include."
        ),
        about="size(coalesce(rivals, array())) > 0",
        holds=(
            "operation != 'create' and kind = 'message' and not exists(rivals, r -> array_contains(supersedes, r)"
            " or not array_contains(coalesce(replaced_rivals, array()), r) and exists(coalesce(replaced_lists, array()),"
            " o -> o.key = substring_index(r, ':', 1) and o.value >= cast(substring_index(r, ':', -1) as bigint)))"
        ),
        words="concat(node, ' made ', number, ' from a version that includes one of its rivals')",
    ),
    Check(
        id="the home store sends conflict notices",
        rules=("CF-2",),
        table="notices",
        says="When a conflict arises in the home store of its folder, that store notifies the contacts.",
        about="what = 'conflict' and untouched and holders[0] = node and resolve = 'default'",
        holds="notified",
        words="concat(node, ' sent no notice of the conflict of ', object)",
    ),
    Check(
        id="only the home store sends conflict notices",
        rules=("CF-2",),
        table="notices",
        says=(
            "Only the home store, the first in the replica list, sends notices of a conflict. Two days after the"
            " conflict arose another holder may do it."
        ),
        about="what = 'notice' and size(versions) > 1",
        holds=f"holders[0] = node or not plain or at - arose_at >= {2 * DAY_US}",
        words="concat(node, ' sent a notice of the conflict of ', object, ', but the home store is ', holders[0])",
    ),
    Check(
        id="conflict notices follow the resolve method",
        rules=("CF-4",),
        table="notices",
        says=(
            "A store sends notices of a conflict only if the folder's resolve method is the default: the others are"
            " 'last writer wins' and 'no notification'."
        ),
        about="what = 'notice' and size(versions) > 1 and untouched",
        holds="coalesce(resolve, 'default') = 'default'",
        words=(
            "concat(node, ' sent a notice of the conflict of ', object,"
            " ', but the resolve method of its folder is: ', resolve)"
        ),
    ),
    Check(
        id="only contacts resolve conflicts",
        rules=("CF-3",),
        table="resolutions",
        says="Whoever resolves a conflict is a contact of its folder.",
        about="untouched and contacts is not null",
        holds="array_contains(contacts, by)",
        words=(
            "concat(by, ' resolved the conflict of ', object, ' on ', node, ', but the contacts are: ',"
            " array_join(contacts, ', '))"
        ),
    ),
    Check(
        id="a change that ends a conflict replaces its versions",
        rules=("CF-3",),
        table="resolving_changes",
        says="A change that ends a conflict replaces all versions that were in conflict in its store.",
        about="true",
        holds="size(array_except(versions, supersedes)) = 0",
        words=(
            "concat(node, ' ended the conflict of ', object, ' by ', number, ', which does not replace ',"
            " array_join(array_except(versions, supersedes), ', '))"
        ),
    ),
    Check(
        id="old conflicts end at home",
        rules=("CF-5",),
        table="aged_conflicts",
        says="Only the home store, the first in the replica list, ends a conflict because of its age.",
        about="true",
        holds="holders[0] = node",
        words=(
            "concat(node, ' ended the conflict of ', object, ' because of its age, but the home store is ', holders[0])"
        ),
    ),
    Check(
        id="old conflicts end at the age limit",
        rules=("CF-5", "CF-1"),
        table="aged_conflicts",
        says="A conflict that ends because of its age has lasted for the limit, and its winner is kept.",
        about="true",
        holds="coalesce(since_at = arose_at and at - arose_at >= limit_us and winner = shown, false)",
        words=(
            "concat(node, ' ended the conflict of ', object, ' by ', number, ' too early, or did not keep the winner')"
        ),
    ),
)
