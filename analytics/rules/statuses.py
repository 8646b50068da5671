"""Checks of statuses, status requests, and their repeats."""

from typing import Final

from analytics.rules.check import DAY_US, HOUR_US, MINUTE_US, Check

# spec: BF-1, ST-1, ST-2, ST-3, ST-4, ST-5, ST-6, ST-7
CHECKS: Final = (
    Check(
        "status checks run on schedule", ("ST-1",), "statuses", "Status checks run at 00:15 and 12:15.",
        "plain and punctual and what = 'due' and steady", f"(due_at - {15 * MINUTE_US}) % {12 * HOUR_US} = 0", "concat(node, ' checked statuses at another time')",
    ),
    Check(
        "a status waits 24 hours", ("ST-1",), "statuses", "A status is due no earlier than 24 hours after the last update in the store.",
        "plain and what = 'due' and last_update_at is not null", f"due_at - last_update_at >= {24 * HOUR_US}",
        "concat(node, ' found a status of ', folder, ' due too early')",
    ),
    Check(
        "a status is due within 36 hours", ("ST-1",), "statuses", "A status is due no later than 36 hours after the last update in the store.",
        "plain and punctual and what = 'due' and steady and last_update_at is not null", f"due_at - last_update_at <= {36 * HOUR_US}",
        "concat(node, ' found a status of ', folder, ' due too late')",
    ),
    Check(
        "due statuses are sent", ("ST-1",), "expected_statuses", "When the status of a folder is due, it is sent at that instant.",
        "what = 'due'", "kept", "concat(node, ' found a status of ', folder, ' due, but sent none')",
    ),
    Check(
        "one status after an update", ("ST-1",), "statuses", "A store sends one status after an update.",
        "plain and what = 'due' and steady and last_due_at is not null", "last_update_at >= last_due_at",
        "concat(node, ' sent a second status of ', folder, ' without an update in between')",
    ),
    Check(
        "statuses go to holders", ("ST-1", "ST-2"), "mailed_folders", "A status goes to all other holders that have an address, or to the store that asked for it.",
        "message_type = 16", "size(to) = 1 or to = array_sort(filter(reached, h -> h != node))",
        "concat(node, ' sent the status <', mail, '> to ', array_join(to, ', '))",
    ),
    Check(
        "all holders are asked for their status", ("ST-3", "ST-4"), "responders", "2003 and 2007 ask all other holders that have an address for their status.",
        "coalesce(method, '') in ('', 'all holders')", "array_sort(chosen) = array_sort(filter(reached, h -> h != node))",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but the holders are ', array_join(reached, ', '))",
    ),
    Check(
        "the six steps list the right number of responders", ("ST-4",), "responders", "2000 asks three responders and the oldest replica, and other versions ask three. If there are fewer holders, all are asked.",
        "method = 'six steps'",
        "size(array_except(chosen, reached)) = 0 and not array_contains(chosen, node) and size(chosen) <= `limit`"
        " and size(chosen) >= least(3, size(reached) - 1)",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, and the holders are ', array_join(reached, ', '))",
    ),
    Check(
        "changes that a status shows are recorded", ("ST-5", "BF-1"), "status_claims",
        "If a status claims a change that its receiver lacks, the change is in the receiver's backfill array or in its queue.",
        "true", "noted", "concat(node, ' lacks ', number, ' of ', folder, ', which a status of ', sender, ' claimed, but does not wait for it')",
    ),
    Check(
        "5.5 sends its hierarchy status each night", ("ST-6",), "nightly_statuses", "Before SP4, a 5.5 store sends the status of the hierarchy to all others at the first check of each day.",
        "punctual", "sent", "concat(node, ' did not send the status of the hierarchy that night')",
    ),
    Check(
        "repeats are answered", ("ST-7",), "repeats",
        "A store answers a repeat at once with a status to its sender only, if both have an address. The answer is not a repeat.",
        "what = 'received' and array_contains(holders, node) and not dead and answerable", "answered",
        "concat(node, ' did not answer the repeat <', mail, '> of ', sender, ' for ', folder)",
    ),
    Check(
        "repeats are a day apart", ("ST-7",), "repeats", "A status is repeated to a store at most once in 24 hours.",
        "plain and what = 'sent' and message_type = 16 and before_at is not null", f"at - before_at >= {DAY_US}",
        "concat(node, ' repeated its status of ', folder, ' to ', store, ' within a day')",
    ),
    Check(
        "only silent stores are asked again", ("ST-7",), "repeats",
        "A status request is repeated only to a store that was asked before, and from which no later mail has arrived.",
        "what = 'sent' and message_type = 32", "before_at is not null and not answered_since",
        "concat(node, ' asked ', store, ' again for ', folder, if(answered_since, ', which had answered', ', which it had not asked before'))",
    ),
    Check(
        "a repeat follows its status", ("ST-7", "ST-1"), "statuses", "A status is repeated at least a day after it was sent, if there was no update since.",
        "plain and what = 'repeat'", f"at - last_due_at >= {DAY_US} and coalesce(last_update_at <= last_due_at, true)",
        "concat(node, ' repeated a status of ', folder, ' that it had not sent a day before, or that is older than an update')",
    ),
)  # fmt: skip
