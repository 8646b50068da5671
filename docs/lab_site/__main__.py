"""`python -m docs.lab_site FOLDER`: build the lab into a folder, and print its size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docs.lab_site import site


def main() -> int:
    match sys.argv[1:]:
        case [folder]:
            pass
        case _:
            print("usage: python -m docs.lab_site FOLDER", file=sys.stderr)
            return 2
    try:
        content = site.build(Path(folder))
    except FileNotFoundError as error:
        print(f"{error}; `make site` installs what the lab needs", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"building the lab has failed: {error}", file=sys.stderr)
        return 1
    sent = sum(file.sent_bytes for file in content.values())
    print(f"The lab is in {folder}: {len(content)} files, {sent / 1e6:.1f} MB compressed")
    return 0


sys.exit(main())
