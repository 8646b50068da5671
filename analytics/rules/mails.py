"""Checks of mails on their way: routes, retries, delivery, and what a receiver reads."""

from typing import Final

from analytics.rules.check import DAY_US, MINUTE_US, Check

HOP_LIMIT: Final = 30
"""How many Received lines a mail may have."""

_TOO_BIG: Final = r"(^|[^0-9.])(552|5[.]3[.]4|5[.]2[.]3|4[.]3[.]1|452)($|[^0-9.])"
"""SMTP codes that say that a mail or a mailbox is too big."""

# spec: IN-2, IN-5, ML-1, ML-3, ML-5, ML-6, ML-7, ML-8, OUT-5, OUT-7, OUT-8, OUT-9, RP-6, RST-2, RST-4, RT-1, RT-2, RT-5, RT-6
CHECKS: Final = (
    Check(
        id="mails go only to stamped addresses",
        rules=("ML-1",),
        table="sent",
        says="A mail goes only to addresses that are stamped in the directory, and only from a store that has one.",
        about="directory is not null",
        holds=(
            "forall(recipients, r -> coalesce(try_element_at(filter(try_element_at(directory, r).stamps,"
            " s -> s.seq < seq), -1).address = r, false))"
            " and exists(map_values(directory), e -> e.store = node"
            " and try_element_at(filter(e.stamps, s -> s.seq < seq), -1).address is not null)"
        ),
        words="concat(node, ' sent <', mail, '> to or from a store whose entry in the directory had no such address')",
    ),
    Check(
        id="mails go only where the objects name the tree",
        rules=("ML-8",),
        table="mailed_folders",
        says=(
            "While the object of a store names no tree, nothing about the hierarchy is sent to it, and nothing is sent to"
            " anybody about the folders that it holds."
        ),
        about="in_tree is not null",
        holds="in_tree",
        words="concat(node, ' sent <', mail, '> about ', folder, ' although the object of a holder names no tree')",
    ),
    Check(
        id="addresses are those of the recipient policies",
        rules=("ML-1",),
        table="stamps",
        says="The address of a store has the domain that the first recipient policy for this store gives it.",
        about="true",
        holds="given",
        words="concat(node, ' knows ', store, ' by the address ', address, ', which no recipient policy gave it then')",
    ),
    Check(
        id="mails come only from stores in the directory",
        rules=("IN-5", "RP-6"),
        table="received",
        says="A store accepts a mail only from a store that the directory lists.",
        about="directory is not null",
        holds=(
            "exists(map_values(directory), e -> e.store = sender and e.first < seq"
            " and not coalesce(e.deleted > e.last and e.deleted < seq, false))"
        ),
        words="concat(node, ' accepted <', mail, '> from ', sender, ', which its directory does not list')",
    ),
    Check(
        id="deleted stores get no mail",
        rules=("RP-6",),
        table="sent",
        says="No mail goes to a store that is deleted from the directory.",
        about="directory is not null and exists(map_values(directory), e -> coalesce(e.deleted < seq, false))",
        holds=(
            "not exists(recipients, r -> coalesce(try_element_at(directory,"
            " r).deleted between try_element_at(directory, r).last and seq, false))"
        ),
        words="concat(node, ' sent <', mail, '> to a store that was deleted')",
    ),
    Check(
        id="ordinary mail is not read as replication mail",
        rules=("ML-3",),
        table="ordinary_mails",
        says="A mail that arrives as ordinary mail, without XEXCH50, is not read as a replication mail.",
        about="true",
        holds="not read",
        words="concat(next_hop, ' read <', mail, '>, which ', node, ' had sent as ordinary mail')",
    ),
    Check(
        id="a mail becomes one post",
        rules=("ML-5",),
        table="posts",
        says="A mail becomes a post at once, and not again in the same folder within a day.",
        about="true",
        holds=f"made and coalesce(at - before_at >= {DAY_US}, true)",
        words=(
            "concat(node, if(made, ' posted <', ' made no post of <'), coalesce(mail, ''), '>', if(made, ' again', ''))"
        ),
    ),
    Check(
        id="mails are read as they were written",
        rules=("ML-6", "RST-4", "OUT-9"),
        table="received",
        says="A mail is read with the content that the named sender submitted.",
        about="true",
        holds="wrote = sender and wrote_folders = folders and wrote_number = number and wrote_type = message_type",
        words="concat(node, ' read in <', mail, '> what ', sender, ' did not write')",
    ),
    Check(
        id="rows of other stores are as sent",
        rules=("RST-2", "RST-4"),
        table="rows_replaced",
        says="The row that a store keeps of another store is the row that the other store sent in that mail.",
        about="true",
        holds="said_so",
        words="concat(node, ' keeps a row of ', store, ' that ', store, ' did not send in <', mail, '>')",
    ),
    Check(
        id="accepted mail is durable",
        rules=("IN-2", "OUT-9"),
        table="hops",
        says=(
            "An accepted mail is at the next server, or a fault lost it there. What a foreign relay accepts may vanish."
        ),
        about="not by_relay",
        holds="landed",
        words="concat(node, ' handed <', mail, '> to ', next_hop, ', which does not have it')",
    ),
    Check(
        id="one copy crosses a connector",
        rules=("RT-1", "OUT-5"),
        table="hops",
        says=(
            "One copy of a mail crosses a connector. More copies cross only if the mail arrived at the bridgehead"
            " again, had no other route, or met a fault that names a store."
        ),
        about="connector is not null",
        holds=(
            "copies <= greatest(coalesce(arrivals, 0), 1) + given_up + coalesce(named, 0)"
            " or coalesce(links_at <= last_at, false)"
        ),
        words="concat(copies, ' copies of <', mail, '> crossed ', connector)",
    ),
    Check(
        id="size limits for users do not apply to replication",
        rules=("OUT-7",),
        table="attempts",
        says=(
            "No server refuses a replication mail because of its size"
            " or its sender, except at an smtp-relay that has such a limit or is foreign,"
            " and a mail that lost its XEXCH50."
        ),
        about="system and not ordinary and what in ('hop.failed', 'hop.expired')",
        holds=(
            f"by_relay or not coalesce(reason, '') rlike '{_TOO_BIG}|takes no mail from'"
            " or array_contains(limited, regexp_extract(reason, 'connector (.+) takes', 1))"
        ),
        words="concat(node, ' could not relay <', mail, '>: ', reason)",
    ),
    Check(
        id="retries wait 10 minutes",
        rules=("RT-2",),
        table="attempts",
        says="A copy is tried again by the same route 10 minutes after it failed, or when it expires.",
        about=(
            "plain and what in ('hop.sent', 'hop.failed') and before.what = 'hop.failed'"
            " and before.next_hop = next_hop and before.connector <=> connector"
        ),
        holds=f"at >= before.at + {10 * MINUTE_US} or at >= queued_at + {2 * DAY_US}",
        words="concat(node, ' tried <', mail, '> again too early')",
    ),
    Check(
        id="failed mails are returned",
        rules=("RT-2",),
        table="attempts",
        says="A copy that is not tried again goes back to its sender.",
        about="what = 'hop.failed' and retry_at is null",
        holds="returned",
        words="concat(node, ' gave up <', mail, '> but did not return it')",
    ),
    Check(
        id="mails expire after two days",
        rules=("RT-2",),
        table="attempts",
        says="A mail that expired was in the queue for two days.",
        about="plain and what = 'hop.expired' and reason like '%before it expired%'",
        holds=f"at >= queued_at + {2 * DAY_US}",
        words="concat(node, ' let <', mail, '> expire too early')",
    ),
    Check(
        id="frozen mails are not tried",
        rules=("RT-5",),
        table="frozen_servers",
        says="A mail that is frozen, or whose queue is frozen, is not tried; only an attempt that had begun goes on.",
        about="true",
        holds="frozen_at is null or coalesce(begun_at, at) <= frozen_at",
        words="concat(node, ' tried <', coalesce(mail, ''), '> for ', next_hop, ', which is frozen')",
    ),
    Check(
        id="running stores read the organization",
        rules=("RT-6",),
        table="revisions",
        says=(
            "A store that runs knows a change of the organization at once, and another one when it starts. It knows no"
            " change that nobody has made."
        ),
        about="true",
        holds="made and late_at is null",
        words=(
            "if(made, concat(node, ' did not know change ', revision, ' of the organization'),"
            " concat(node, ' knows a change ', revision, ' of the organization, which nobody had made'))"
        ),
    ),
    Check(
        id="mails cross connectors that exist",
        rules=("RT-6", "RT-1"),
        table="crossings",
        says="An attempt to cross a connector begins only while the organization has it, as the server knows it.",
        about="true",
        holds="exists",
        words="concat(node, ' tried <', coalesce(mail, ''), '> over ', connector, ', which was removed or not added yet')",
    ),
    Check(
        id="urgent mails go first",
        rules=("OUT-8", "RT-2"),
        table="overtakings",
        says=(
            "On a slow line, a mail of a more urgent folder waits for at most one less urgent mail that was queued"
            " with it, and for none that was queued later."
        ),
        about="others > 0",
        holds="before <= 1 and after = 0",
        words="concat(node, ' sent <', mail, '>, ', priority, ', after ', before + after, ' less urgent mails')",
    ),
    Check(
        id="mails do not loop",
        rules=("ML-7",),
        table="hops",
        says=(
            "A mail arrives at a server no more often than the hop limit allows. Repeats after a lost connection do"
            " not count."
        ),
        about="arrivals > 0",
        holds=f"arrivals <= {HOP_LIMIT} + coalesce(cut, 0)",
        words="concat('<', mail, '> arrived at ', node, ' ', arrivals, ' times')",
    ),
    Check(
        id="no open relay",
        rules=("ML-7",),
        table="unknown_peers",
        says="From an unknown peer, a server accepts only mail to addresses of the organization.",
        about="true",
        holds="forall(recipients, r -> lower(r) like concat('%@', lower(domain)))",
        words=(
            "concat(node, ' accepted <', coalesce(mail, ''), '> from the unknown peer ', peer, ' to ',"
            " array_join(recipients, ', '))"
        ),
    ),
)
