"""Checks of statuses, status requests, and their repeats."""

from typing import Final

from analytics.rules.check import DAY_US, HOUR_US, MINUTE_US, Check

_SIX_STEPS: Final = "type = 'responders.considered' and method = 'six steps'"
_LISTED: Final = "transform(filter(candidates, c -> c.group > 0), c -> c.store)"
"""SQL for the stores that a step listed. The event has them first, in the order in which they were listed."""


def _fits(candidate: str, step: str) -> str:
    """Return SQL for whether a step of ST-4 considers this candidate."""
    near, affinity = f"coalesce({candidate}.near, false)", f"{candidate}.affinity is not null"
    return (
        f"case when {step} in (1, 3) then {near} when {near} then false"
        f" when {step} = 2 then coalesce({candidate}.active, false) and {affinity} when {step} = 4 then {affinity}"
        f" when {step} = 5 then {candidate}.transit_us is not null else true end"
    )


def _place(candidate: str, step: str) -> str:
    """Return SQL for the place of a candidate among those that a step of ST-4 considers. Directory GUIDs decide ties."""
    unknown = 2**62
    first = (
        f"case when {step} = 1 then coalesce({candidate}.backfilled_at, 0) when {step} in (2, 4) then {candidate}.affinity"
        f" when {step} = 5 then {candidate}.transit_us else 0 end"
    )
    second = f"if({step} in (2, 4), coalesce({candidate}.cost, {unknown}), 0)"
    return f"struct({candidate}.version = '5.5', not coalesce({candidate}.has_all, false), {first}, {second}, {candidate}.guid)"


# spec: BF-1, ST-1, ST-2, ST-3, ST-4, ST-5, ST-6, ST-7
CHECKS: Final = (
    Check(
        id="status checks run on schedule",
        rules=("ST-1",),
        table="statuses",
        says="Status checks run at 00:15 and 12:15.",
        about="plain and punctual and what = 'due' and steady",
        holds=f"(due_at - {15 * MINUTE_US}) % {12 * HOUR_US} = 0",
        words="concat(node, ' checked statuses at another time')",
    ),
    Check(
        id="a status waits 24 hours",
        rules=("ST-1",),
        table="statuses",
        says="A status is due no earlier than 24 hours after the last update in the store.",
        about="plain and what = 'due' and last_update_at is not null",
        holds=f"due_at - last_update_at >= {24 * HOUR_US}",
        words="concat(node, ' found a status of ', folder, ' due too early')",
    ),
    Check(
        id="a status is due within 36 hours",
        rules=("ST-1",),
        table="statuses",
        says="A status is due no later than 36 hours after the last update in the store.",
        about="plain and punctual and what = 'due' and steady and last_update_at is not null",
        holds=f"due_at - last_update_at <= {36 * HOUR_US}",
        words="concat(node, ' found a status of ', folder, ' due too late')",
    ),
    Check(
        id="due statuses are sent",
        rules=("ST-1",),
        table="expected_statuses",
        says="When the status of a folder is due, it is sent at that instant.",
        about="what = 'due'",
        holds="kept",
        words="concat(node, ' found a status of ', folder, ' due, but sent none')",
    ),
    Check(
        id="one status after an update",
        rules=("ST-1",),
        table="statuses",
        says="A store sends one status after an update.",
        about="plain and what = 'due' and steady and last_due_at is not null",
        holds="last_update_at >= last_due_at",
        words="concat(node, ' sent a second status of ', folder, ' without an update in between')",
    ),
    Check(
        id="statuses go to holders",
        rules=("ST-1", "ST-2"),
        table="mailed_folders",
        says="A status goes to all other holders that have an address, or to the store that asked for it.",
        about="message_type = 16",
        holds="size(to) = 1 or to = array_sort(filter(reached, h -> h != node))",
        words="concat(node, ' sent the status <', mail, '> to ', array_join(to, ', '))",
    ),
    Check(
        id="all holders are asked for their status",
        rules=("ST-3", "ST-4"),
        table="responders",
        says="2003 and 2007 ask all other holders that have an address for their status.",
        about="coalesce(method, '') in ('', 'all holders')",
        holds="array_sort(chosen) = array_sort(filter(reached, h -> h != node))",
        words=(
            "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but the holders are ',"
            " array_join(reached, ', '))"
        ),
    ),
    Check(
        id="the six steps list the right number of responders",
        rules=("ST-4",),
        table="responders",
        says=(
            "2000 asks three responders and the oldest replica, and other versions ask three. If there are fewer"
            " holders, all are asked."
        ),
        about="method = 'six steps'",
        holds=(
            "size(array_except(chosen, reached)) = 0 and not array_contains(chosen, node) and size(chosen) <= `limit`"
            " and size(chosen) >= least(3, size(reached) - 1)"
        ),
        words=(
            "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, and the holders are ',"
            " array_join(reached, ', '))"
        ),
    ),
    Check(
        id="responders are those that a step listed",
        rules=("ST-4",),
        table="decisions",
        says="The responders are the candidates that a step listed, in this order.",
        about=_SIX_STEPS,
        holds=f"chosen = {_LISTED}",
        words=(
            "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but the steps listed ',"
            f" array_join({_LISTED}, ', '))"
        ),
    ),
    Check(
        id="each step lists its first store",
        rules=("ST-4",),
        table="decisions",
        says=(
            "Of the stores that are not listed yet, a step lists the first by version (2000"
            " or newer before 5.5), completeness and the order of this step."
        ),
        about=f"{_SIX_STEPS} and size(candidates) > 0",
        holds="forall(sequence(0, size(candidates) - 1), i -> coalesce(candidates[i].group, 0) not between 1 and 6 or "
        + _fits("candidates[i]", "candidates[i].group")
        + f" and not exists(slice(candidates, i + 2, size(candidates)), d -> {_fits('d', 'candidates[i].group')}"
        + f" and {_place('d', 'candidates[i].group')} < {_place('candidates[i]', 'candidates[i].group')}))",
        words=(
            "concat(node, ' asked ', array_join(chosen, ', '), ' for a status, but another store comes first in one"
            " of the six steps')"
        ),
    ),
    Check(
        id="changes that a status shows are recorded",
        rules=("ST-5", "BF-1"),
        table="status_claims",
        says=(
            "If a status claims a change that its receiver lacks,"
            " the change is in the receiver's backfill array or in its queue."
        ),
        about="true",
        holds="noted",
        words=(
            "concat(node, ' lacks ', number, ' of ', folder, ', which a status of ', sender,"
            " ' claimed, but does not wait for it')"
        ),
    ),
    Check(
        id="5.5 sends its hierarchy status each night",
        rules=("ST-6",),
        table="nightly_statuses",
        says="Before SP4, a 5.5 store sends the status of the hierarchy to all others at the first check of each day.",
        about="punctual",
        holds="sent",
        words="concat(node, ' did not send the status of the hierarchy that night')",
    ),
    Check(
        id="5.5 reports its own changes",
        rules=("ST-6",),
        table="statuses",
        says=(
            "From SP4 on, the status of a folder in a 5.5 store is due only if the store changed the folder since"
            " its last status."
        ),
        about="what = 'due' and own_only and steady",
        holds="coalesce(last_made_at >= coalesce(last_due_at, 0), false)",
        words="concat(node, ' found a status of ', folder, ' due, but had not changed the folder')",
    ),
    Check(
        id="repeats are answered",
        rules=("ST-7",),
        table="repeats",
        says=(
            "A store answers a repeat at once with a status to its sender only,"
            " if both have an address. The answer is not a repeat."
        ),
        about="what = 'received' and array_contains(holders, node) and not dead and answerable",
        holds="answered",
        words="concat(node, ' did not answer the repeat <', mail, '> of ', sender, ' for ', folder)",
    ),
    Check(
        id="repeats are a day apart",
        rules=("ST-7",),
        table="repeats",
        says="A status is repeated to a store at most once in 24 hours.",
        about="plain and what = 'sent' and message_type = 16 and before_at is not null",
        holds=f"at - before_at >= {DAY_US}",
        words="concat(node, ' repeated its status of ', folder, ' to ', store, ' within a day')",
    ),
    Check(
        id="only silent stores are asked again",
        rules=("ST-7",),
        table="repeats",
        says=(
            "A status request is repeated only to a store that was asked before,"
            " and from which no later mail has arrived."
        ),
        about="what = 'sent' and message_type = 32",
        holds="before_at is not null and not answered_since",
        words=(
            "concat(node, ' asked ', store, ' again for ', folder, if(answered_since, ', which had answered',"
            " ', which it had not asked before'))"
        ),
    ),
    Check(
        id="a repeat follows its status",
        rules=("ST-7", "ST-1"),
        table="statuses",
        says="A status is repeated at least a day after it was sent, if there was no update since.",
        about="plain and what = 'repeat'",
        holds=f"at - last_due_at >= {DAY_US} and coalesce(last_update_at <= last_due_at, true)",
        words=(
            "concat(node, ' repeated a status of ', folder, ' that it had not sent a day before, or that is older"
            " than an update')"
        ),
    ),
)
