"""The folder ids that are the same in every organization."""

from typing import Final

HIERARCHY: Final = "1-1"
"""The id of the hierarchy, which replicates as a folder does (spec: HI-1)."""

HIERARCHY_NAME: Final = "the hierarchy"
"""What people call it."""
