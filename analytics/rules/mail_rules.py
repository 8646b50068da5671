"""Checks of mail: what goes into it, who gets it, what becomes of it on its way."""

from __future__ import annotations

from typing import Final

from analytics.evidence.organization import STANDS_SUSPENDED
from analytics.rules.rule import DAY_US, MINUTE_US, Check

TARGET_BYTES: Final = 300 * 1024
"""Of a mail's items (OUT-3); a mail is bigger by its envelope, and by a third where it is text."""

_CONTENT: Final = "(message_type in (4, 2147483652) or message_type = 8 and exists(says, f -> f.folder != '1-1'))"

HOP_LIMIT: Final = 30
"""Received lines that a mail may bring along."""

_TOO_BIG: Final = r"(^|[^0-9.])(552|5[.]3[.]4|5[.]2[.]3|4[.]3[.]1|452)($|[^0-9.])"
"""SMTP's ways to say that a mail, or what is in a store, is too big."""

# spec: OUT-3, OUT-7, OUT-8, IN-5, RP-5, RP-6, RT-2, ML-1, ML-3, ML-5, ML-7
CHECKS: Final = (
    Check(
        "a bigger item goes alone", ("OUT-3",), "sent", "A mail of several messages holds not much more than 300 KB.",
        "plain and message_type in (4, 2147483652) and says[0].updates > 1",
        f"size <= {TARGET_BYTES * 3 // 2} + 1024 * says[0].updates",
        "concat(node, ' packed ', says[0].updates, ' messages into <', mail, '> of ', size, ' bytes')",
    ),
    Check(
        "what fits goes in one mail", ("OUT-3",), "cycles", "Two mails of one broadcast would not have fitted into one.",
        "plain and size(sizes) > 1 and (message_type = 4 or version in ('2003', '2007'))",
        f"forall(sequence(1, size(sizes) - 1), i -> sizes[i - 1] + sizes[i] + 200 * (updates[i - 1] + updates[i]) > {TARGET_BYTES})",
        "concat(node, ' sent ', size(sizes), ' mails of ', folder, ' at once, two of which had room in one')",
    ),
    Check(
        "only stores of the organization are heard", ("IN-5", "RP-6"), "received", "A mail is taken only from a store that the directory lists.",
        "directory is not null", "exists(map_values(directory), e -> e.store = sender and e.first < seq and not coalesce(e.gone > e.last and e.gone < seq, false))",
        "concat(node, ' took <', mail, '> of ', sender, ', which its directory does not list')",
    ),
    Check(
        "nobody is written to unstamped", ("ML-1",), "sent", "A mail goes only to addresses that the directory has stamped.",
        "directory is not null", "forall(recipients, r -> coalesce(try_element_at(directory, r).first < seq, false))",
        "concat(node, ' sent <', mail, '> to an address that nobody had stamped')",
    ),
    Check(
        "who is deleted is not written to", ("RP-6",), "sent", "No mail goes to a store that is deleted from the directory.",
        "directory is not null and exists(map_values(directory), e -> coalesce(e.gone < seq, false))",
        "not exists(recipients, r -> coalesce(try_element_at(directory, r).gone between try_element_at(directory, r).last and seq, false))",
        "concat(node, ' sent <', mail, '> to a store that was deleted')",
    ),
    Check(
        "suspended content stays", ("RP-5",), "sent", "While content is suspended, 2003 and 2007 send no content, no response with content and no request for it.",
        f"directory is not null and {STANDS_SUSPENDED}", f"not {_CONTENT}",
        "concat(node, ' sent <', mail, '> of type ', message_type, ' while content was suspended')",
    ),
    Check(
        "no limit of users binds replication", ("OUT-7",), "tries",
        "A replication mail is refused for its size by nobody but a connector that has a limit.",
        "system and what in ('hop.failed', 'hop.expired')",
        f"not coalesce(reason, '') rlike '{_TOO_BIG}' or array_contains(limited, regexp_extract(reason, 'connector (.+) takes', 1))",
        "concat(node, ' could not pass <', mail, '> on: ', reason)",
    ),
    Check(
        "a retry waits", ("RT-2",), "tries", "A copy is tried again by the same way 10 minutes after it failed, or when it expires.",
        "plain and what in ('hop.sent', 'hop.failed') and before.what = 'hop.failed' and before.next_hop = next_hop and before.connector <=> connector",
        f"at >= before.at + {10 * MINUTE_US} or at >= queued_at + {2 * DAY_US}",
        "concat(node, ' tried <', mail, '> again at once')",
    ),
    Check(
        "what is given up goes back", ("RT-2",), "tries", "A copy that is not tried again goes back to its sender.",
        "what = 'hop.failed' and retry_at is null", "returned", "concat(node, ' gave <', mail, '> up and sent it to nobody')",
    ),
    Check(
        "mails expire after two days", ("RT-2",), "tries", "A mail that expired was in the queue for two days.",
        "plain and what = 'hop.expired' and reason like '%before it expired%'", f"at >= queued_at + {2 * DAY_US}",
        "concat(node, ' let <', mail, '> expire before its time')",
    ),
    Check(
        "the urgent overtake", ("OUT-8", "RT-2"), "overtakings",
        "On a slow line a mail of an urgent folder waits for one of the less urgent that were queued with it, and for none queued later.",
        "others > 0", "before <= 1 and after = 0", "concat(node, ' sent <', mail, '>, ', priority, ', after ', before + after, ' that are less urgent')",
    ),
    Check(
        "ordinary mail replicates nothing", ("ML-3",), "ordinary", "What comes as ordinary mail, without XEXCH50, is not read as a replication mail.",
        "true", "not read", "concat(next_hop, ' read <', mail, '>, which ', node, ' had sent as ordinary mail')",
    ),
    Check(
        "one mail is one post", ("ML-5",), "posts", "A mail becomes a post at once, and not again in that folder within a day.",
        "true", f"made and coalesce(at - before_at >= {DAY_US}, true)",
        "concat(node, if(made, ' posted <', ' made no post of <'), coalesce(mail, ''), '>', if(made, ' again', ''))",
    ),
    Check(
        "no mail goes in circles", ("ML-7",), "hops", "A mail comes to a server no more often than the hop limit allows.",
        "arrivals > 0", f"arrivals <= {HOP_LIMIT}", "concat('<', mail, '> came to ', node, ' ', arrivals, ' times')",
    ),
    Check(
        "no open relay", ("ML-7",), "strangers", "From a stranger only mail to addresses of the organization is taken.",
        "true", "forall(recipients, r -> lower(r) like concat('%@', lower(domain)))",
        "concat(node, ' took <', coalesce(mail, ''), '> of the stranger ', peer, ' to ', array_join(recipients, ', '))",
    ),
)  # fmt: skip
