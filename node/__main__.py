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
    """Import FastAPI without building its OpenAPI models. The first request for /docs builds them.

    FastAPI also imports the whole of Pydantic 1, to find out whether a model is one of its models. None is, and FastAPI
    manages without Pydantic 1 where it is missing.
    """
    sys.modules["pydantic.v1"] = None  # type: ignore[assignment] # this is how Python notes that there is no such module
    from pydantic import BaseModel  # noqa: PLC0415 - see above

    BaseModel.model_config["defer_build"] = True
    try:
        import fastapi  # noqa: F401, PLC0415 - see above
    finally:
        del BaseModel.model_config["defer_build"]


if __name__ == "__main__":
    sys.exit(imported()())
