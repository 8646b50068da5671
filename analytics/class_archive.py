"""An archive of Spark's classes for Java, so that a session does not find, read and verify the classes one by one.

For small traces this saves a third of the time of a check. Java uses the archive if it fits; otherwise, for example after an
update, it ignores the archive. `make install` writes it once. To write it by hand: python -m analytics.class_archive
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from analytics.errors import AnalyticsError
from analytics.generate import Shape, generate
from analytics.ingest.session import JAVA, SILENT, TINY, archive_path, new_session
from analytics.ingest.tables import Tables
from analytics.pipeline import judge_traces

_EVENTS: Final = 500
"""How many events the trace has that is judged to find the classes that a check uses."""


def make() -> Path:
    """Judge a small trace, and let Java write an archive of the classes that the check used. Takes a minute.

    Raises AnalyticsError if there is no Java, OSError if the archive cannot be written, and CalledProcessError if the
    check fails.
    """
    path = archive_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="making-") as folder:
        made = Path(folder) / path.name
        # This runs in another process, because Java writes the archive when it ends.
        subprocess.run(
            [sys.executable, "-m", "analytics.class_archive", "--judge", folder, str(made)],
            check=True,
            capture_output=True,
        )
        made.replace(path)
    return path


def _judge(folder: Path, made: Path) -> None:
    writes = f'{TINY[JAVA]} -XX:ArchiveClassesAtExit="{made}" {SILENT}'
    spark = new_session(None, {**TINY, JAVA: writes}, archive=False)
    generate(spark, Shape.of_events(_EVENTS, fault_every=_EVENTS // 4), folder / "trace")
    judge_traces([str(folder / "trace")], Tables(spark, str(folder / "tables")))
    java_process: subprocess.Popen[bytes] | None = getattr(spark.sparkContext._gateway, "proc", None)
    spark.stop()
    if java_process is not None and java_process.stdin is not None:
        java_process.stdin.close()  # Java exits when its input ends
        java_process.wait()


def main() -> int:
    if sys.argv[1:2] == ["--judge"]:
        _judge(*map(Path, sys.argv[2:4]))
        return 0
    try:
        print(f"{make()}: archive of Spark's classes, for a faster start of pflab check")
    except (AnalyticsError, OSError) as error:
        print(f"no archive of Spark's classes: {error}")
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a message"]
        print(f"no archive of Spark's classes: {lines[-1]}")
    return 0  # everything works without the archive


if __name__ == "__main__":
    sys.exit(main())
