"""Checks of change numbers: how a store assigns them, and what it claims to have."""

from typing import Final

from analytics.rules.check import Check

_CLAIMED: Final = "filter(own, r -> r.high > claimed_before)"

# spec: CF-3, CN-1, CN-2, CN-3, CN-6, CN-7, CN-8, CV-1, IN-1, RP-4, RST-1
CHECKS: Final = (
    Check(
        id="numbers are never reissued",
        rules=("CN-1", "RP-4"),
        table="changes",
        says="No two changes have the same number.",
        about="true",
        holds="same = 1",
        words="concat(node, ' gave the number ', number, ' to more than one change')",
    ),
    Check(
        id="numbers have the GUID of their store",
        rules=("CN-1",),
        table="changes",
        says="A store numbers its changes under a replica GUID of its own.",
        about="true",
        holds="author = node",
        words=(
            "concat(node, ' gave a change of ', subject, if(author is null, ' a number whose GUID no store has',"
            " concat(' the number ', number, ', with the GUID of ', author)))"
        ),
    ),
    Check(
        id="changes do what they say",
        rules=("CN-2", "CN-3"),
        table="changes",
        says=(
            "A change that replaces no version creates something. A change that leaves no content deletes it. Every"
            " other change modifies it."
        ),
        about="true",
        holds="operation = if(size(supersedes) = 0, 'create', if(digest = '', 'delete', 'modify'))",
        words=(
            "concat(node, ' calls ', number, ' ', if(operation = 'create', 'a creation', if(operation = 'delete',"
            " 'a deletion', 'an edit')), ', but it is none')"
        ),
    ),
    Check(
        id="each change takes the next number",
        rules=("CN-2",),
        table="changes",
        says="The change numbers of a store follow each other without a gap.",
        about="before is not null",
        holds="counter = before + 1",
        words="concat(node, ' gave the number ', number, ' directly after ', before)",
    ),
    Check(
        id="predecessor lists are complete",
        rules=("CN-3", "CF-3"),
        table="changes",
        says=(
            "A version's predecessor list has its own number and the lists of the versions that it replaced, and"
            " nothing else."
        ),
        about="size(supersedes) = 0 or replaced_known = size(supersedes)",
        holds=(
            "forall(map_entries(list), e -> (e.key = guid and e.value = counter)"
            " or exists(replaced_lists, o -> o.key = e.key and o.value >= e.value))"
            " and coalesce(forall(replaced_lists, o -> coalesce(try_element_at(list, o.key) >= o.value, false)),"
            " true)"
        ),
        words=(
            "concat(node, ' made ', number, ' with a predecessor list that does not match the versions that it"
            " replaced')"
        ),
    ),
    Check(
        id="modification times increase",
        rules=("CN-8",),
        table="changes",
        says="A version has a later time than the versions that it replaces.",
        about="replaced_at is not null",
        holds="modified_at > replaced_at",
        words=(
            "concat(node, ' made ', number, ' with a time that is not later than the time of the version that it"
            " replaced')"
        ),
    ),
    Check(
        id="claimed changes are in the store",
        rules=("CN-7", "RST-1", "CV-1"),
        table="claims",
        says="A store made or applied each change that its row claims, or has a version that includes it.",
        about="claimed",
        holds="had",
        words="concat(node, ' claims ', number, ' in its last mail of ', folder, ', but never received it')",
    ),
    Check(
        id="applied changes are claimed",
        rules=("IN-1", "RST-1", "CV-1"),
        table="claims",
        says="The row that a store sends claims each version that the store applied.",
        about="applied",
        holds="claimed",
        words="concat(node, ' applied ', number, ' of ', folder, ' but does not claim it')",
    ),
    Check(
        id="holes are closed",
        rules=("CN-6",),
        table="cycles",
        says=(
            "A broadcast claims every number of its sender after the last that was broadcast for the folder,"
            " up to the highest number of its changes."
        ),
        about=f"size({_CLAIMED}) > 0 and untouched and size(holders) > 1",
        holds=f"size({_CLAIMED}) = 1 and {_CLAIMED}[0].low <= claimed_before + 1",
        words="concat(node, ' left a hole in its own numbers after ', claimed_before, ' in its broadcast of ', folder)",
    ),
    Check(
        id="no claims beyond the last change",
        rules=("CN-6",),
        table="cycles",
        says="A broadcast claims no own number above the store's last change in the folder.",
        about="size(own) > 0",
        holds="array_max(transform(own, r -> r.high)) <= made",
        words="concat(node, ' claimed own numbers of ', folder, ' above ', made, ', its last change there')",
    ),
)
