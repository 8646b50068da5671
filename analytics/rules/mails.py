"""Checks of mails on their way: routes, retries, delivery, and what a receiver reads."""

from typing import Final

from analytics.rules.check import DAY_US, MINUTE_US, Check

HOP_LIMIT: Final = 30
"""How many Received lines a mail may have."""

_TOO_BIG: Final = r"(^|[^0-9.])(552|5[.]3[.]4|5[.]2[.]3|4[.]3[.]1|452)($|[^0-9.])"
"""SMTP codes that say that a mail or a mailbox is too big."""

# spec: IN-2, IN-5, ML-1, ML-3, ML-5, ML-6, ML-7, OUT-5, OUT-7, OUT-8, OUT-9, RP-6, RST-2, RST-4, RT-1, RT-2
CHECKS: Final = (
    Check(
        "mails go only to stamped addresses", ("ML-1",), "sent", "A mail goes only to addresses that are stamped in the directory, and only from a store that has one.",
        "directory is not null",
        "forall(recipients, r -> coalesce(try_element_at(filter(try_element_at(directory, r).stamps, s -> s.seq < seq), -1).address = r, false))"
        " and exists(map_values(directory), e -> e.store = node and try_element_at(filter(e.stamps, s -> s.seq < seq), -1).address is not null)",
        "concat(node, ' sent <', mail, '> to or from a store whose entry in the directory had no such address')",
    ),
    Check(
        "mails come only from stores in the directory", ("IN-5", "RP-6"), "received", "A store accepts a mail only from a store that the directory lists.",
        "directory is not null", "exists(map_values(directory), e -> e.store = sender and e.first < seq and not coalesce(e.deleted > e.last and e.deleted < seq, false))",
        "concat(node, ' accepted <', mail, '> from ', sender, ', which its directory does not list')",
    ),
    Check(
        "deleted stores get no mail", ("RP-6",), "sent", "No mail goes to a store that is deleted from the directory.",
        "directory is not null and exists(map_values(directory), e -> coalesce(e.deleted < seq, false))",
        "not exists(recipients, r -> coalesce(try_element_at(directory, r).deleted between try_element_at(directory, r).last and seq, false))",
        "concat(node, ' sent <', mail, '> to a store that was deleted')",
    ),
    Check(
        "ordinary mail is not read as replication mail", ("ML-3",), "ordinary_mails", "A mail that arrives as ordinary mail, without XEXCH50, is not read as a replication mail.",
        "true", "not read", "concat(next_hop, ' read <', mail, '>, which ', node, ' had sent as ordinary mail')",
    ),
    Check(
        "a mail becomes one post", ("ML-5",), "posts", "A mail becomes a post at once, and not again in the same folder within a day.",
        "true", f"made and coalesce(at - before_at >= {DAY_US}, true)",
        "concat(node, if(made, ' posted <', ' made no post of <'), coalesce(mail, ''), '>', if(made, ' again', ''))",
    ),
    Check(
        "mails are read as they were written", ("ML-6", "RST-4", "OUT-9"), "received", "A mail is read with the content that the named sender submitted.",
        "true", "wrote = sender and wrote_folders = folders and wrote_number = number and wrote_type = message_type",
        "concat(node, ' read in <', mail, '> what ', sender, ' did not write')",
    ),
    Check(
        "rows of other stores are as sent", ("RST-2", "RST-4"), "rows_replaced", "The row that a store keeps of another store is the row that the other store sent in that mail.",
        "true", "said_so", "concat(node, ' keeps a row of ', store, ' that ', store, ' did not send in <', mail, '>')",
    ),
    Check(
        "accepted mail is durable", ("IN-2", "OUT-9"), "hops", "An accepted mail is at the next server, or a fault lost it there. What a foreign relay accepts may vanish.",
        "not by_relay", "landed", "concat(node, ' handed <', mail, '> to ', next_hop, ', which does not have it')",
    ),
    Check(
        "one copy crosses a connector", ("RT-1", "OUT-5"), "hops", "One copy of a mail crosses a connector. More copies cross only if the mail arrived at the bridgehead again, had no other route, or met a fault that names a store.",
        "connector is not null", "copies <= greatest(coalesce(arrivals, 0), 1) + given_up + coalesce(named, 0) or coalesce(links_at <= last_at, false)", "concat(copies, ' copies of <', mail, '> crossed ', connector)",
    ),
    Check(
        "size limits for users do not apply to replication", ("OUT-7",), "attempts",
        "No server refuses a replication mail because of its size or its sender, except at an smtp-relay that has such a limit or is foreign, and a mail that lost its XEXCH50.",
        "system and not ordinary and what in ('hop.failed', 'hop.expired')",
        f"by_relay or not coalesce(reason, '') rlike '{_TOO_BIG}|takes no mail from' or array_contains(limited, regexp_extract(reason, 'connector (.+) takes', 1))",
        "concat(node, ' could not relay <', mail, '>: ', reason)",
    ),
    Check(
        "retries wait 10 minutes", ("RT-2",), "attempts", "A copy is tried again by the same route 10 minutes after it failed, or when it expires.",
        "plain and what in ('hop.sent', 'hop.failed') and before.what = 'hop.failed' and before.next_hop = next_hop and before.connector <=> connector",
        f"at >= before.at + {10 * MINUTE_US} or at >= queued_at + {2 * DAY_US}",
        "concat(node, ' tried <', mail, '> again too early')",
    ),
    Check(
        "failed mails are returned", ("RT-2",), "attempts", "A copy that is not tried again goes back to its sender.",
        "what = 'hop.failed' and retry_at is null", "returned", "concat(node, ' gave up <', mail, '> but did not return it')",
    ),
    Check(
        "mails expire after two days", ("RT-2",), "attempts", "A mail that expired was in the queue for two days.",
        "plain and what = 'hop.expired' and reason like '%before it expired%'", f"at >= queued_at + {2 * DAY_US}",
        "concat(node, ' let <', mail, '> expire too early')",
    ),
    Check(
        "urgent mails go first", ("OUT-8", "RT-2"), "overtakings",
        "On a slow line, a mail of a more urgent folder waits for at most one less urgent mail that was queued with it, and for none that was queued later.",
        "others > 0", "before <= 1 and after = 0", "concat(node, ' sent <', mail, '>, ', priority, ', after ', before + after, ' less urgent mails')",
    ),
    Check(
        "mails do not loop", ("ML-7",), "hops", "A mail arrives at a server no more often than the hop limit allows. Repeats after a lost connection do not count.",
        "arrivals > 0", f"arrivals <= {HOP_LIMIT} + coalesce(cut, 0)", "concat('<', mail, '> arrived at ', node, ' ', arrivals, ' times')",
    ),
    Check(
        "no open relay", ("ML-7",), "unknown_peers", "From an unknown peer, a server accepts only mail to addresses of the organization.",
        "true", "forall(recipients, r -> lower(r) like concat('%@', lower(domain)))",
        "concat(node, ' accepted <', coalesce(mail, ''), '> from the unknown peer ', peer, ' to ', array_join(recipients, ', '))",
    ),
)  # fmt: skip
