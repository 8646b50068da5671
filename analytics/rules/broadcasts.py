"""Checks of broadcasts: when they are sent, what they say, who gets them, and how items share mails."""

from typing import Final

from analytics.evidence.conditions import IS_SUSPENDED, RESENT
from analytics.rules.check import HOUR_US, MINUTE_US, UPDATES, Check

_IN_ROW: Final = "forall(f.numbers, c -> exists(f.row, r -> r.guid = c.guid and r.low <= c.low and c.high <= r.high))"

TARGET_BYTES: Final = 300 * 1024
"""The size of a mail's items (OUT-3). The envelope adds to it, and the encoding as text adds a third."""

_CONTENT: Final = "(message_type in (4, 2147483652) or message_type = 8 and exists(says, f -> f.folder != '1-1'))"

# spec: CN-7, HI-3, OUT-1, OUT-3, OUT-4, OUT-5, RP-5
CHECKS: Final = (
    Check(
        id="hierarchy is broadcast on schedule",
        rules=("HI-3", "OUT-1"),
        table="sent",
        says="The hierarchy is broadcast at multiples of 15 minutes, or when the store starts.",
        about=f"message_type = 2 and not {RESENT} and plain and punctual",
        holds=f"at % {15 * MINUTE_US} = 0 or at = started_at",
        words="concat(node, ' broadcast the hierarchy outside the cycle in <', mail, '>')",
    ),
    Check(
        id="content is broadcast on schedule",
        rules=("OUT-1",),
        table="mailed_folders",
        says="Content is broadcast at the times of its folder's schedule, or when the store starts.",
        about=f"message_type = 4 and not {RESENT} and plain and punctual and untouched and schedule is not null",
        holds=(
            "case when at = started_at then true when schedule = 'never' then false"
            " when schedule rlike '^every [0-9]+ h$' then at % (cast(regexp_extract(schedule, '[0-9]+',"
            f" 0) as bigint) * {HOUR_US}) = 0"
            f" else at % {15 * MINUTE_US} = 0 end"
        ),
        words="concat(node, ' broadcast <', mail, '> outside the schedule of ', folder)",
    ),
    Check(
        id="broadcasts go to all other holders",
        rules=("OUT-5",),
        table="mailed_folders",
        says="A broadcast is one mail to all other holders that have an address.",
        about=f"message_type in (2, 4) and not {RESENT}",
        holds="to = array_sort(filter(reached, h -> h != node))",
        words=(
            "concat(node, ' sent <', mail, '> to ', array_join(to, ', '), ', but the holders are ',"
            " array_join(reached, ', '))"
        ),
    ),
    Check(
        id="mails name what the sender has",
        rules=("OUT-4", "CN-7"),
        table="sent",
        says="The set of a mail with updates is part of its sender's row.",
        about=f"message_type in {UPDATES}",
        holds=f"forall(says, f -> {_IN_ROW})",
        words="concat(node, ' named in <', mail, '> numbers that its own row does not have')",
    ),
    Check(
        id="suspended content is not sent",
        rules=("RP-5",),
        table="sent",
        says=(
            "While content is suspended, 2003 and 2007 send no content, no response with content,"
            " and no request for content."
        ),
        about=f"directory is not null and {IS_SUSPENDED}",
        holds=f"not {_CONTENT}",
        words="concat(node, ' sent <', mail, '> of type ', message_type, ' while content was suspended')",
    ),
    Check(
        id="big items are sent alone",
        rules=("OUT-3",),
        table="sent",
        says="A mail with several messages is not much bigger than 300 KB.",
        about="plain and message_type in (4, 2147483652) and says[0].updates > 1",
        holds=f"size <= {TARGET_BYTES * 3 // 2} + 1024 * says[0].updates",
        words="concat(node, ' put ', says[0].updates, ' messages into <', mail, '> of ', size, ' bytes')",
    ),
    Check(
        id="items that fit share a mail",
        rules=("OUT-3",),
        table="cycles",
        says="Two mails of one broadcast would not have fitted into one.",
        about="plain and size(sizes) > 1 and (message_type = 4 or version in ('2003', '2007'))",
        holds=(
            "forall(sequence(1, size(sizes) - 1), i -> sizes[i - 1] + sizes[i] + 200 * (updates[i - 1] + updates[i])"
            f" > {TARGET_BYTES})"
        ),
        words="concat(node, ' sent ', size(sizes), ' mails of ', folder, ' at once, two of which fit into one')",
    ),
)
