"""Checks of the hierarchy: how folders are shown, and that it is kept apart from content."""

from typing import Final

from analytics.rules.check import UPDATES, Check

# spec: HI-1, HI-7, OUT-2
CHECKS: Final = (
    Check(
        id="folders are shown under their names",
        rules=("HI-7",),
        table="shown_folders",
        says=(
            "A folder is shown under the name in its version, with a suffix only if another folder has the same"
            " name, and at the top if its parent is the top."
        ),
        about="true",
        holds=(
            "(element_at(split(path, '/'), -1) = name or namesakes > 0"
            " and startswith(element_at(split(path, '/'), -1), name))"
            " and (parent != '1-1' or not path like '%/%')"
        ),
        words="concat(node, ' shows ', name, ' as ', path)",
    ),
    Check(
        id="hierarchy and content are not mixed",
        rules=("OUT-2", "OUT-6", "HI-1"),
        table="sent",
        says=(
            "A mail with updates is about the hierarchy only, or about the content of one folder. Requests"
            " and statuses have no updates."
        ),
        about="true",
        holds=(
            f"case when message_type in {UPDATES} then size(says) = 1"
            " and (says[0].folder = '1-1') = (message_type in (2, 2147483650))"
            " when message_type in (8, 16, 32) then forall(says, f -> f.updates = 0) else false end"
        ),
        words="concat(node, ' put ', size(says), ' folders into <', mail, '> of type ', message_type)",
    ),
)
