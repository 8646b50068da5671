"""Print what pyproject.toml (the argument) needs to run, a requirement a line."""

import sys
import tomllib
from pathlib import Path

print("\n".join(tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))["project"]["dependencies"]))
