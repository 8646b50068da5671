"""Checks of replica lists: replicas that begin and end, and stores that join and leave."""

from typing import Final

from analytics.rules.check import Check

# spec: DU-1, HI-1, RP-1, RP-2, RP-3, RP-6, RP-7, RP-8, ST-3
CHECKS: Final = (
    Check(
        id="content is only on holders",
        rules=("HI-1",),
        table="presence",
        says="A store has content of a folder only after a replica list has named the store.",
        about="true",
        holds="listed <= first",
        words="concat(node, ' has content of ', folder, ', but no replica list that it knew had named it')",
    ),
    Check(
        id="a folder keeps at least one replica",
        rules=("RP-2", "RP-6"),
        table="changes",
        says="The last replica of a folder is removed only together with its store.",
        about="kind = 'folder' and operation != 'delete'",
        holds="size(replicas) > 0 or coalesce(size(stayed) = 0, false)",
        words="concat(node, ' removed the last replica of ', subject, ' by the change ', number)",
    ),
    Check(
        id="a dropped replica is complete elsewhere",
        rules=("RP-2", "DU-1"),
        table="drops",
        says="A store that is no longer a holder drops its replica only when the row of a holder has all of it.",
        about="what = 'dropped' and not dead and others > 0 and not array_contains(holders, node)",
        holds="size(unknown_to) < others",
        words="concat(node, ' dropped its replica of ', folder, ', but no holder had all of it')",
    ),
    Check(
        id="a new replica asks for statuses",
        rules=("RP-1", "ST-3"),
        table="expected_statuses",
        says="A store that begins a replica asks the holders for their status.",
        about="what = 'added' and ended_at >= until_at",
        holds="kept",
        words="concat(node, ' began a replica of ', folder, ' but asked no holder for its status')",
    ),
    Check(
        id="a new store asks for the hierarchy",
        rules=("RP-3", "ST-3"),
        table="new_stores",
        says="A store that joins asks all others for the status of the hierarchy.",
        about="ended_at >= until_at",
        holds="asked",
        words="concat(node, ' joined but did not ask all others for the status of the hierarchy within a day')",
    ),
    Check(
        id="a store with replicas is not deleted",
        rules=("RP-6",),
        table="deleted_stores",
        says="A store that replica lists name is deleted from the directory only by force.",
        about="not forced",
        holds="size(listing) = 0",
        words="concat(node, ' deleted ', store, ', which ', size(listing), ' replica lists name')",
    ),
    Check(
        id="a store removed by force leaves all lists",
        rules=("RP-6",),
        table="deleted_stores",
        says="A store that is removed by force is taken off every replica list at once.",
        about="forced",
        holds="size(left) = 0",
        words="concat(node, ' removed ', store, ' but left it on the lists of ', array_join(left, ', '))",
    ),
    Check(
        id="a store is created in place of a deleted one",
        rules=("RP-7",),
        table="created_stores",
        says="A store is created again only after the deletion of the store that had its name.",
        about="true",
        holds="was_deleted",
        words="concat('a store was created for ', node, ', but the store before it was not deleted')",
    ),
    Check(
        id="a store that is only shown is silent",
        rules=("RP-8",),
        table="shown_stores",
        says="The store of another server, restored from a backup, makes and applies no changes and sends no replication mail.",
        about="true",
        holds="acts = 0",
        words="concat(node, ' only shows the store of another server, but made or applied changes, or sent mail')",
    ),
    Check(
        id="a created store begins as new",
        rules=("RP-7", "CN-1"),
        table="created_stores",
        says="A store that is created again begins as a new store, with a GUID that no store had before.",
        about="reason is not null",
        holds="reason = 'first' and is_new",
        words="concat(node, ' did not begin as a new store after its creation')",
    ),
)
