"""Checks of change numbers: how a store assigns them, and what it claims to have."""

from typing import Final

from analytics.rules.check import Check

_CLAIMED: Final = "filter(own, r -> r.high > claimed_before)"

# spec: CF-3, CN-1, CN-2, CN-3, CN-6, CN-7, CN-8, CV-1, IN-1, RP-4, RST-1
CHECKS: Final = (
    Check(
        "numbers are never reissued", ("CN-1", "RP-4"), "changes", "No two changes have the same number.",
        "true", "same = 1", "concat(node, ' gave the number ', number, ' to more than one change')",
    ),
    Check(
        "numbers have the GUID of their store", ("CN-1",), "changes", "A store numbers its changes under a replica GUID of its own.",
        "true", "author = node", "concat(node, ' gave a change of ', subject, if(author is null, ' a number whose GUID no store has', concat(' the number ', number, ', with the GUID of ', author)))",
    ),
    Check(
        "changes do what they say", ("CN-2", "CN-3"), "changes",
        "A change that replaces no version creates something. A change that leaves no content deletes it. Every other change modifies it.",
        "true", "operation = if(size(supersedes) = 0, 'create', if(digest = '', 'delete', 'modify'))",
        "concat(node, ' calls ', number, ' ', if(operation = 'create', 'a creation', if(operation = 'delete', 'a deletion', 'an edit')), ', but it is none')",
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
        "replaced_at is not null", "modified_at > replaced_at", "concat(node, ' made ', number, ' with a time that is not later than the time of the version that it replaced')",
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
        "holes are closed", ("CN-6",), "cycles",
        "A broadcast claims every number of its sender after the last that was broadcast for the folder, up to the highest number of its changes.",
        f"size({_CLAIMED}) > 0 and untouched and size(holders) > 1",
        f"size({_CLAIMED}) = 1 and {_CLAIMED}[0].low <= claimed_before + 1",
        "concat(node, ' left a hole in its own numbers after ', claimed_before, ' in its broadcast of ', folder)",
    ),
    Check(
        "no claims beyond the last change", ("CN-6",), "cycles", "A broadcast claims no own number above the store's last change in the folder.",
        "size(own) > 0", "array_max(transform(own, r -> r.high)) <= made",
        "concat(node, ' claimed own numbers of ', folder, ' above ', made, ', its last change there')",
    ),
)  # fmt: skip
