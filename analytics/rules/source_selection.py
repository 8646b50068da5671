"""Checks of the sources that a store asks for backfill: their order, and what the store knows of each."""

from typing import Final

from analytics.evidence.conditions import SORTED_LIST, unreached
from analytics.rules.check import Check

_OF_SOURCES: Final = "type = 'sources.considered'"

# spec: BF-1, BF-3, BF-4, BF-7, BF-9, RP-2, RT-1, RT-3, RT-4, ST-4
CHECKS: Final = (
    Check(
        id="backfill sources are sorted",
        rules=("BF-3", "BF-4"),
        table="decisions",
        says=(
            "Candidates are sorted by state (up before down), whether they are leaving the folder, preference, cost,"
            " version, and how many changes they have."
        ),
        about=f"{_OF_SOURCES} and size(candidates) > 1 and {SORTED_LIST}",
        holds=(
            "forall(sequence(1, size(candidates) - 1), i -> struct(candidates[i - 1].down,"
            " coalesce(candidates[i - 1].leaving, false), not candidates[i - 1].preferred,"
            " coalesce(candidates[i - 1].cost, 9223372036854775807), -cast(candidates[i - 1].version as double),"
            " -candidates[i - 1].has) <="
            " struct(candidates[i].down, coalesce(candidates[i].leaving, false), not candidates[i].preferred,"
            " coalesce(candidates[i].cost, 9223372036854775807),"
            " -cast(candidates[i].version as double), -candidates[i].has))"
        ),
        words="concat(node, ' sorted the sources of entry ', entry, ' wrongly')",
    ),
    Check(
        id="the first useful source is chosen",
        rules=("BF-3",),
        table="decisions",
        says="The first candidate that has some of the missing changes is chosen.",
        about=(
            f"{_OF_SOURCES} and {SORTED_LIST} and exists(candidates, c -> c.has > 0"
            f" and not {unreached('c.passed_over')} and c.cost is not null)"
        ),
        holds=(
            f"chosen[0] = filter(candidates, c -> c.has > 0 and not {unreached('c.passed_over')}"
            " and c.cost is not null)[0].store"
        ),
        words="concat(node, ' did not choose the first useful source of entry ', entry)",
    ),
    Check(
        id="2000 asks the first complete source",
        rules=("BF-3", "BF-9", "RT-3", "RT-4"),
        table="turns",
        says=(
            "2000 asks the first candidate that is up and has everything. The order is by group, then by turn,"
            " affinity or transmission time."
        ),
        about="true",
        holds="array_contains(first, chosen)",
        words=(
            "concat(node, ' asked ', chosen, ' for entry ', entry, ', but ', array_join(first, ' or '),"
            " ' comes first and has everything')"
        ),
    ),
    Check(
        id="no better source is passed over",
        rules=("BF-3",),
        table="requests_made",
        says=(
            "If one candidate precedes another by state, preference, cost"
            " and version, the other is not asked for changes that the first has."
        ),
        about="row is not null and sorted",
        holds="size(better) = 0",
        words=(
            "concat(node, ' asked ', source, ' for entry ', entry, ', but ', array_join(better, ' and '),"
            " ' come first and have it')"
        ),
    ),
    Check(
        id="leaving stores are asked last",
        rules=("BF-3", "RP-2"),
        table="requests_made",
        says="A store that left the replica list is asked only for changes that no holder which is up claims.",
        about="leaving",
        holds="size(held) = 0",
        words=(
            "concat(node, ' asked ', source, ', which left the folder, for entry ', entry, ', but ',"
            " array_join(held, ' and '), ' had it')"
        ),
    ),
    Check(
        id="sources are asked for what they claim",
        rules=("BF-1", "BF-3"),
        table="requests_made",
        says="A source is asked only for numbers that its row had at that time.",
        about="row is not null",
        holds="claimed",
        words="concat(node, ' asked ', source, ' for numbers that its row does not claim, for entry ', entry)",
    ),
    Check(
        id="candidates match the configuration",
        rules=("BF-3", "BF-7"),
        table="candidates",
        says="A candidate has the version of the topology, and the preferred source is the one in the settings.",
        about="true",
        holds="stated.version = version and stated.preferred = preferred",
        words=(
            "concat(node, ' treated ', store, if(stated.version != version, concat(' as version ', stated.version,"
            " ', but it is ', version),"
            " if(stated.preferred, ' as its preferred source, but its settings do not say so',"
            " ' as not preferred, but its settings prefer it')))"
        ),
    ),
    Check(
        id="costs match the routes",
        rules=("BF-3", "RT-1"),
        table="candidates",
        says="The cost of a candidate follows from the connectors.",
        about="stated.cost is not null or cost is not null",
        holds="stated.cost <=> cost",
        words=(
            "concat(node, ' used the cost ', coalesce(cast(stated.cost as string), 'none'), ' for ', store,"
            " ', but it is ', coalesce(cast(cost as string), 'none'))"
        ),
    ),
    Check(
        id="affinities match the connectors",
        rules=("RT-4",),
        table="candidates",
        says="A candidate's affinity is the least sum over connectors that allow referrals.",
        about="method = 'six groups'",
        holds="stated.affinity <=> affinity",
        words=(
            "concat(node, ' used the affinity ', coalesce(cast(stated.affinity as string), 'none'), ' for ', store,"
            " ', but it is ', coalesce(cast(affinity as string), 'none'))"
        ),
    ),
    Check(
        id="transmission times match the mails",
        rules=("RT-3",),
        table="candidates",
        says=(
            "A candidate's transmission time is the running mean of arrival minus sending of its mails; the newest"
            " mail has a weight of one quarter."
        ),
        about="coalesce(method, '') != '' and (stated.transit_us is not null or transit is not null)",
        holds="abs(stated.transit_us - transit) < 10000",
        words=(
            "concat(node, ' used ', coalesce(cast(stated.transit_us as string), 'unknown'),"
            " ' us as the transmission time from ', store, ', but it is ', coalesce(cast(transit as string),"
            " 'unknown'), ' us')"
        ),
    ),
    Check(
        id="the time of the last request is known",
        rules=("BF-9", "ST-4"),
        table="candidates",
        says=(
            "The recorded time of the last request to a candidate is the time of that request in the trace,"
            " or the time when the first of the six steps listed the candidate."
        ),
        about="coalesce(method, '') != '' and (stated.backfilled_at > 0 or asked_at is not null)",
        holds="stated.backfilled_at = coalesce(asked_at, 0)",
        words=(
            "concat(node, ' used ', stated.backfilled_at, ' as the time of its last request to ', store,"
            " ', but it is ', coalesce(asked_at, 0))"
        ),
    ),
    Check(
        id="silent candidates are down",
        rules=("BF-4",),
        table="candidates",
        says="A candidate is down if a request to it timed out and no newer mail from it arrived since.",
        about="true",
        holds="stated.down = down",
        words=(
            "concat(node, ' treated ', store, ' as ', if(stated.down, 'down', 'up'), ' in the choice for entry ',"
            " entry)"
        ),
    ),
    Check(
        id="only silent sources are marked down",
        rules=("BF-4",),
        table="marks_down",
        says="A source is marked down only after the retry time-out of a request to it.",
        about="true",
        holds="overdue",
        words="concat(node, ' marked ', store, ' down, but no request to it had timed out')",
    ),
)
