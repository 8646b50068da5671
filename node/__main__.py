"""`python -m node NAME ...`: one store as a process."""

import gc
import sys


def run() -> int:
    """The process; its exit code."""
    # What is imported stays: looking for garbage among it made the start a tenth longer, and each full collection later
    # stop the store for 60 ms.
    gc.disable()
    from node.process import main  # noqa: PLC0415 - see above

    gc.freeze()
    gc.enable()
    return main()


if __name__ == "__main__":
    sys.exit(run())
