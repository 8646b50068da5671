"""`python -m node NAME ...` runs one store as a process."""

import gc
import sys
from collections.abc import Callable


def imported() -> Callable[[], int]:
    """Import all that a store needs, and return the function that runs it."""
    # Imported objects live as long as the process, so the garbage collector need not search them. When it searched
    # them, the start took a tenth longer, and each later full collection stopped the store for 60 ms.
    gc.disable()
    _import_fastapi()
    from node.process.main import main  # noqa: PLC0415 - see above

    gc.freeze()
    gc.enable()
    return main


def _import_fastapi() -> None:
    """Import FastAPI without building its OpenAPI models. The first request for /docs builds them."""
    from pydantic import BaseModel  # noqa: PLC0415 - see above

    BaseModel.model_config["defer_build"] = True
    try:
        import fastapi  # noqa: F401, PLC0415 - see above
    finally:
        del BaseModel.model_config["defer_build"]


if __name__ == "__main__":
    sys.exit(imported()())
