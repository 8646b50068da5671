"""Print the dependencies in pyproject.toml (the first argument) with these extras (the other arguments), one on each line."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))["project"]
extras = [project["optional-dependencies"][name] for name in sys.argv[2:]]
print("\n".join(sum(extras, project["dependencies"])))
