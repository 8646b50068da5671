"""Checks of replica lists: replicas that begin and end, and stores that join and leave."""

from typing import Final

from analytics.rules.check import Check

# spec: DU-1, HI-1, RP-1, RP-2, RP-3, RP-6, ST-3
CHECKS: Final = (
    Check(
        "content is only on holders", ("HI-1",), "presence", "A store has content of a folder only after a replica list has named the store.",
        "true", "listed <= first", "concat(node, ' has content of ', folder, ', but no replica list that it knew had named it')",
    ),
    Check(
        "a folder keeps at least one replica", ("RP-2", "RP-6"), "changes", "The last replica of a folder is removed only together with its store.",
        "kind = 'folder' and operation != 'delete'", "size(replicas) > 0 or coalesce(size(stayed) = 0, false)", "concat(node, ' removed the last replica of ', subject, ' by the change ', number)",
    ),
    Check(
        "a dropped replica is complete elsewhere", ("RP-2", "DU-1"), "drops",
        "A store that is no longer a holder drops its replica only when the row of a holder has all of it.",
        "what = 'dropped' and not dead and others > 0 and not array_contains(holders, node)", "size(unknown_to) < others",
        "concat(node, ' dropped its replica of ', folder, ', but no holder had all of it')",
    ),
    Check(
        "a new replica asks for statuses", ("RP-1", "ST-3"), "expected_statuses", "A store that begins a replica asks the holders for their status.",
        "what = 'added' and ended_at >= until_at", "kept", "concat(node, ' began a replica of ', folder, ' but asked no holder for its status')",
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
)  # fmt: skip
