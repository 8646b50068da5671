"""`python -m node NAME ...` runs one store as a process."""

import gc
import sys
from collections.abc import Callable
from typing import Final

NEW_OBJECTS: Final = 10_000
"""After so many new objects the garbage collector looks for garbage among them. A request with a hundred messages makes
thousands, which all live until its commit; with Python's default of 700 they were searched in vain several times."""


def imported() -> Callable[[], int]:
    """Import all that a store needs, and return the function that runs it."""
    # Imported objects live as long as the process, so the garbage collector need not search them. When it searched
    # them, the start took a tenth longer, and each later full collection stopped the store for 60 ms.
    gc.disable()
    from node.process.main import main  # noqa: PLC0415 - see above

    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()
    return main


if __name__ == "__main__":
    sys.exit(imported()())
