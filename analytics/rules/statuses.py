"""Checks of statuses, status requests, and their repeats."""

from typing import Final

from analytics.rules.check import DAY_US, HOUR_US, MINUTE_US, Check

_SIX_STEPS: Final = "type = 'responders.considered' and method = 'six steps'"
_LISTED: Final = "transform(filter(candidates, c -> c.group > 0), c -> c.store)"
"""SQL for the stores that a step listed. The event has them first, in the order in which they were listed."""


def _fits(each: str, step: str) -> str:
    """Return SQL for whether a step of ST-4 considers this candidate."""
    near, affinity = f"coalesce({each}.near, false)", f"{each}.affinity is not null"
    return (
        f"case when {step} in (1, 3) then {near} when {near} then false"
        f" when {step} = 2 then coalesce({each}.active, false) and {affinity} when {step} = 4 then {affinity}"
        f" when {step} = 5 then {each}.transit_us is not null else true end"
    )


def _place(each: str, step: str) -> str:
    """Return SQL for the place of a candidate among those that a step of ST-4 considers. Directory GUIDs decide ties."""
    unknown = 2**62
    first = (
        f"case when {step} = 1 then coalesce({each}.backfilled_at, 0) when {step} in (2, 4) then {each}.affinity"
        f" when {step} = 5 then {each}.transit_us else 0 end"
    )
    second = f"if({step} in (2, 4), coalesce({each}.cost, {unknown}), 0)"
    return f"struct({each}.version = '5.5', not coalesce({each}.has_all, false), {first}, {second}, {each}.guid)"


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
        "responders are those that a step listed", ("ST-4",), "decisions", "The responders are the candidates that a step listed, in this order.",
        _SIX_STEPS, f"chosen = {_LISTED}",
        f"concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but the steps listed ', array_join({_LISTED}, ', '))",
    ),
    Check(
        "each step lists its first store", ("ST-4",), "decisions",
        "Of the stores that are not listed yet, a step lists the first by version (2000 or newer before 5.5), completeness and the order of this step.",
        f"{_SIX_STEPS} and size(candidates) > 0",
        "forall(sequence(0, size(candidates) - 1), i -> coalesce(candidates[i].group, 0) not between 1 and 6 or "
        + _fits("candidates[i]", "candidates[i].group")
        + f" and not exists(slice(candidates, i + 2, size(candidates)), d -> {_fits('d', 'candidates[i].group')}"
        + f" and {_place('d', 'candidates[i].group')} < {_place('candidates[i]', 'candidates[i].group')}))",
        "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but another store comes first in one of the six steps')",
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
        "5.5 reports its own changes", ("ST-6",), "statuses", "From SP4 on, the status of a folder in a 5.5 store is due only if the store changed the folder since its last status.",
        "what = 'due' and own_only and steady", "coalesce(last_made_at >= coalesce(last_due_at, 0), false)",
        "concat(node, ' found a status of ', folder, ' due, but had not changed the folder')",
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
