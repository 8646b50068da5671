"""Print what pyproject.toml (the first argument) needs to run, with these extras (the others), a requirement a line."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))["project"]
extras = [project["optional-dependencies"][name] for name in sys.argv[2:]]
print("\n".join(sum(extras, project["dependencies"])))
