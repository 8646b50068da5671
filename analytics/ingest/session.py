"""The Spark session of a check, and the Java that it needs."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from analytics.errors import AnalyticsError, JavaMissing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_FROM: Final = 17
"""The oldest Java that Spark 4 runs on."""

LOCAL: Final = "local[*]"
_JAVA_ANSWERS_WITHIN_S: Final = 60
_ENDS_WITHIN_S: Final = 10
_JAVA_SAYS: Final = re.compile(r": [\w.$]+: (.+)$")
"""The line below one of Python's that says that Java failed."""
_VERSION: Final = re.compile(r'version "(\d+)')

JAVA: Final = "spark.driver.extraJavaOptions"
_JAVA_OPTIONS: Final = "-XX:+DisplayVMOutputToStderr -XX:ReservedCodeCacheSize=256m"
"""What Java itself has to say is no part of our output. With one compiler alone it would keep 48 MB of code, which a few
hundred plans fill; then it compiles no more, and says so."""

_LOGGING: Final = Path(__file__).with_name("log4j2.properties")
"""Without it Spark would warn of this and that before anybody can tell it to be quiet."""

_SETTINGS: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    # Without the file of sums that Hadoop writes beside each of ours: to make one takes a process of the system, chmod.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # Segments are many and small: without this each of them would be a task of its own.
    "spark.sql.files.openCostInBytes": "65536",
    # A trace can say anything. What cannot be worked out from one of them is null, and no check holds for null; else it would
    # end the check of all.
    "spark.sql.ansi.enabled": "false",
    # For the same reason: a list that names one GUID twice is wrong, and nothing more.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # Else each call of ours would ask Java several times where in our code it stands, for messages that nobody sees.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
_LOCAL_SETTINGS: Final[Mapping[str, str]] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Large traces have sort pages of up to 64 MB (QUICK has small ones): a gigabyte of them, and Java only collects garbage.
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "8",
    JAVA: f"{_JAVA_OPTIONS} -XX:+UseParallelGC",
}
_QUICK_JAVA: Final = f"{_JAVA_OPTIONS} -XX:+UseSerialGC -Xms768m -Xmn512m -XX:MetaspaceSize=256m"
QUICK: Final[Mapping[str, str]] = {
    # For a few megabytes of traces nearly all time is spent on compiling what then runs once: interpreting the plans takes
    # well under half of it, and in one partition nothing is shuffled (Tables.whole). Two threads plan and run at once.
    "spark.sql.shuffle.partitions": "1",
    # Every sort takes a page, of 64 MB if nothing is said: two gigabytes, in sum, for a few thousand rows.
    "spark.buffer.pageSize": "1m",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    JAVA: _QUICK_JAVA,
    # What looks for better plans, checks them, or describes them costs more here than it can save.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.maxPlanStringLength": "100",
    "spark.sql.parquet.compression.codec": "uncompressed",
    "spark.shuffle.compress": "false",
    "spark.broadcast.compress": "false",
}
_QUICK_QUERIES: Final = {name: value for name, value in QUICK.items() if name.startswith("spark.sql.")}

TINY: Final[Mapping[str, str]] = {
    # Every task costs some milliseconds whatever it does, and what Java's second compiler makes comes too late.
    **QUICK,
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.files.openCostInBytes": "1024",
    JAVA: f"{_QUICK_JAVA} -XX:TieredStopAtLevel=1",
}
HELD_UP_TO_BYTES: Final = 1024 * 1024
"""Up to this size the tables of a check are not written unless somebody keeps them (`Tables.held`): of 174 events that spares a
quarter of the processor's time. What it does for larger traces is not measured, and each plan works on held rows anew."""
TINY_UP_TO_BYTES: Final = 12 * 1024 * 1024
QUICK_UP_TO_BYTES: Final = 64 * 1024 * 1024
"""Up to these sizes of the traces TINY, then QUICK, are the faster way on two cores (58 scenarios, 7 MB: 50 s against 56; 25 MB
of traces in 325 runs: 99 s with QUICK, 135 with TINY, and over 200 in two partitions)."""


SILENT: Final = "-Xlog:disable"
"""Java's option that keeps its messages about the class archive out of our output."""


def archive_path() -> Path:
    """Return the place of the class archive for this installation of pyspark, whether it exists or not."""
    try:
        number = version("pyspark")
    except PackageNotFoundError:
        number = "none"
    return Path(sys.prefix) / "share" / "pflab" / f"spark-{number}.jsa"


def archive_options() -> str:
    """Return the options that make Java use the class archive; '' where there is none."""
    path = archive_path()
    return f'-XX:SharedArchiveFile="{path}" {SILENT}' if path.is_file() else ""


def settings_for(size: int) -> Mapping[str, str]:
    """Spark's settings for so many bytes of traces on this machine."""
    if size <= TINY_UP_TO_BYTES:
        return TINY
    return QUICK if size <= QUICK_UP_TO_BYTES else {}


def fit_to(spark: SparkSession, size_bytes: int) -> None:
    """Let a session that stays go about small traces or large ones as suits them."""
    for name, value in _QUICK_QUERIES.items():
        if size_bytes <= QUICK_UP_TO_BYTES:
            spark.conf.set(name, value)
        else:
            spark.conf.unset(name)


def java_version() -> int | None:
    """The major version of the Java that Spark would start; None if there is none."""
    java = _java()
    if java is None:
        return None
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=_JAVA_ANSWERS_WITHIN_S
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(told)
    return int(found[1]) if found else None


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        return str(java) if java.is_file() else None
    return shutil.which("java")


def need_java() -> None:
    """Raises JavaMissing with what to install."""
    version = java_version()
    if version is not None and version >= JAVA_FROM:
        return
    found = "no Java was found" if version is None else f"Java {version} was found"
    raise JavaMissing(
        f"pflab check runs on Spark, which needs Java {JAVA_FROM} or newer, and {found}; install a JRE "
        "(openjdk-17-jre-headless, or set JAVA_HOME). Everything else of pflab works without"
    )


def new_session(
    master: str | None = None, settings: Mapping[str, str] | None = None, *, archive: bool = True
) -> SparkSession:
    """A session on `master` (a Spark URL; by default this machine's cores). archive: with the one of Spark's classes.

    Raises JavaMissing, and AnalyticsError where pyspark is not installed or the master cannot be reached.
    """
    need_java()
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra that not everybody installs
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise AnalyticsError("pflab check needs pyspark; pip install 'pflab[analytics]' brings it") from None
    where = master or LOCAL
    local = _LOCAL_SETTINGS if where.startswith("local") else {}
    builder = SparkSession.builder.appName("pflab check").master(where)
    given = {**_SETTINGS, **local, **(settings or {})}
    options = [given.get(JAVA, _JAVA_OPTIONS), f'-Dlog4j2.configurationFile="{_LOGGING.as_uri()}"']
    if archive and local:
        options.append(archive_options())
    given[JAVA] = " ".join(options)
    for name, value in given.items():
        builder = builder.config(name, value)
    try:
        return _knowing_names(builder.getOrCreate())
    except (PySparkException, OSError) as error:
        line = str(error).strip().partition("\n")[0]
        raise AnalyticsError(f"no Spark session on {where}: {line}") from error


_FUNCTIONS: Final = (
    "col", "lit", "expr", "when", "not", "struct", "array", "coalesce", "broadcast", "count_if", "min", "max", "explode",
)  # fmt: skip
_JAVA_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "functions": _FUNCTIONS,
    "PythonUtils": ("toSeq",),
    "PythonSQLUtils": ("fn", "lambdaFunction", "unresolvedNamedLambdaVariable"),
    "org.apache.spark.sql.functions": _FUNCTIONS,
    "org.apache.spark.api.python.PythonUtils": ("toSeq",),
}
"""Names in Java that pyspark uses most, and what it uses of them."""


def _knowing_names(spark: SparkSession) -> SparkSession:
    """Looks names up once. pyspark asks Java for them with every column that is written, some ten thousand times a check,
    and Java searches all of Spark's archives for some."""
    view = spark.sparkContext._jvm
    for name, members in _JAVA_NAMES.items():
        known = getattr(view, name)
        vars(known).update({each: getattr(known, each) for each in members})
        vars(view)[name] = known
    return spark


@contextmanager
def session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """As new_session, and the end of it. Ctrl-C ends Java first and without a word from it; KeyboardInterrupt comes as ever.

    Raises AnalyticsError, one line, for what Spark cannot do within it.
    """
    before = signal.getsignal(signal.SIGINT)
    spark = new_session(master, settings)
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415 - there, since the session is
    from pyspark.errors import PySparkException  # noqa: PLC0415 - as above

    ended = threading.Event()

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        if not ended.is_set():
            ended.set()
            _end_java(spark)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        # pyspark's own handler asks Java to give up, in the midst of another question: it can only fail, and at length.
        signal.signal(signal.SIGINT, interrupted)
    try:
        yield spark
    except (PySparkException, Py4JError) as error:
        raise AnalyticsError(f"Spark cannot judge these: {_in_a_line(error)}") from error
    finally:
        if not ended.is_set():
            spark.stop()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _in_a_line(error: Exception) -> str:
    """What an error of Java says, which may lie within one of Python's within another; else its first line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    within = (_JAVA_SAYS.match(line) for line in lines)
    return next((found[1] for found in within if found), lines[0])


def _end_java(spark: SparkSession) -> None:
    """Ends the Java of this session whatever it is about, so that every question to it ends too."""
    logging.disable(logging.CRITICAL)  # each question that is cut off would be told with where it stood
    # Each thread has a line of its own to Java, and that of the main one may be in use.
    hush = threading.Thread(target=_hush, args=(spark,), daemon=True)
    hush.start()
    hush.join(_ENDS_WITHIN_S / 10)
    java: subprocess.Popen[bytes] | None = getattr(spark.sparkContext._gateway, "proc", None)
    if java is None:
        return
    java.terminate()
    try:
        java.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        java.kill()


def _hush(spark: SparkSession) -> None:
    with suppress(Exception):  # whatever this comes to, Java ends next
        spark.sparkContext.setLogLevel("OFF")
