"""`python -m node NAME ...` runs one store as a process."""

import gc
import sys
from collections.abc import Callable


def imported() -> Callable[[], int]:
    """Import all that a store needs, and return the function that runs it."""
    # Imported objects live as long as the process, so the garbage collector need not search them. When it searched
    # them, the start took a tenth longer, and each later full collection stopped the store for 60 ms.
    gc.disable()
    from node.process.main import main  # noqa: PLC0415 - see above

    gc.freeze()
    gc.enable()
    return main


if __name__ == "__main__":
    sys.exit(imported()())
