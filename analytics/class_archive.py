"""An archive of Spark's classes for Java, so that each session need not find, read and check them one by one.

Over small traces that is a third of the time of a check. Java takes the archive if it fits, and does without where it does
not, as after an update. `make install` makes it once; by hand: python -m analytics.class_archive
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
"""Of the trace that is judged to see which classes that takes."""


def make() -> Path:
    """Judges a small trace and has Java write down which classes that took. Takes a minute.

    Raises AnalyticsError without Java, OSError where the place cannot be written, CalledProcessError if the check fails.
    """
    path = archive_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="making-") as folder:
        made = Path(folder) / path.name
        # A process of its own: Java writes when it ends.
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
        java_process.stdin.close()  # the end of its input is the end of it
        java_process.wait()


def main() -> int:

    if sys.argv[1:2] == ["--judge"]:
        _judge(*map(Path, sys.argv[2:4]))
        return 0
    try:
        print(f"{make()}: Spark's classes, for a quicker start of pflab check")
    except (AnalyticsError, OSError) as error:
        print(f"no archive of Spark's classes: {error}")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"]
        print(f"no archive of Spark's classes: {said[-1]}")
    return 0  # everything works without


if __name__ == "__main__":
    sys.exit(main())
