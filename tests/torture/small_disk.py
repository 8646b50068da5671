"""A small disk in memory, mounted for one command alone, that a file fills."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

MB = 1_000_000


def fill(disk: Path) -> Path:
    """Write a file until nothing more fits on the disk; return the file."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (MB, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    return ballast


def small_disk(at: Path, size_mb: int) -> list[str]:
    """Return the beginning of a command that runs with an empty disk of this size, mounted at `at` for that command alone."""
    mount = f'mount -t tmpfs -o size={size_mb}m torture "{at}" && exec "$@"'
    return ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c", mount, "sh"]


def why_no_disk() -> str:
    """Return why this machine cannot mount a small disk, or ''."""
    with tempfile.TemporaryDirectory() as at:
        try:
            done = subprocess.run([*small_disk(Path(at), 1), "true"], capture_output=True, text=True, check=False)
        except OSError as error:
            return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"
