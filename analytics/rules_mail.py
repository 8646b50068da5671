"""Checks of mail: what goes into it, who gets it, what becomes of it on its way."""

from __future__ import annotations

from typing import Final

from analytics.rule import Check
from analytics.standing import STANDS_SUSPENDED

TARGET_BYTES: Final = 300 * 1024
"""Of a mail's items (OUT-3); a mail is bigger by its envelope, and by a third where it is text."""

_CONTENT: Final = "(message_type in (4, 2147483652) or message_type = 8 and exists(says, f -> f.folder != '1-1'))"

# spec: OUT-3, IN-5, RP-5, RP-6, ML-1
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
)  # fmt: skip
