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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from analytics.errors import AnalyticsError, JavaMissing, PackageMissing
from analytics.ingest.java_end import end_with_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_FROM: Final = 17
"""The oldest Java that Spark 4 runs on."""

LOCAL: Final = "local[*]"
CONNECT: Final = "sc://"
"""Begins the URL of a server of Spark Connect."""

_JAVA_ANSWERS_WITHIN_S: Final = 60
_ENDS_WITHIN_S: Final = 10
_STOPS_WITHIN_S: Final = 3
"""How long a session may take to stop after Ctrl-C before Java is ended."""
_SEEN_WITHIN_S: Final = 1
"""How long after its connections Java's process may end."""
_JAVA_SAYS: Final = re.compile(r": [\w.$]+: (.+)$")
"""Matches the line with Java's error message. Above it is a line in which Python says that Java failed."""
_JAVA_CAUSES: Final = re.compile(r"^Caused by: (?!py4j)[\w.$]+: (.+)$", re.MULTILINE)
_STREAM_SAYS: Final = re.compile(r"^\[STREAM_FAILED\] .* terminated with exception: (.+?)(?: SQLSTATE: \w+)?$")
"""Matches the message of a streaming query. The cause stands behind two identifiers that help nobody."""
_VERSION: Final = re.compile(r'version "(\d+)')

JAVA: Final = "spark.driver.extraJavaOptions"
MEMORY: Final = "spark.driver.memory"
_JAVA_OPTIONS: Final = "-XX:+DisplayVMOutputToStderr -XX:ReservedCodeCacheSize=256m"
"""Java's own messages go to stderr. The code cache is larger than the default of 48 MB for one compiler: a few hundred plans
fill that, and then Java stops compiling with a warning."""

_LOGGING: Final = Path(__file__).with_name("log4j2.properties")
"""The logging configuration. Without it Spark prints warnings before the session can set its log level."""

_SETTINGS: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    # This file system writes no checksum file beside each file. Writing one starts a process (chmod).
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # The default is a type of timestamps that has no zone in the files, and that other programs no longer write.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A task that writes a table in parts has a writer for each family of events. Otherwise it sorts all rows by family first.
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    # Segments are many and small. Without this each of them becomes a task.
    "spark.sql.files.openCostInBytes": "65536",
    # A trace may have any content. A value that cannot be computed is null, and null violates a check. In ANSI mode, one such
    # value would end the check of all traces.
    "spark.sql.ansi.enabled": "false",
    # A list with one GUID twice is wrong too, but must not end the check of all traces.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # From the constraints of a plan's columns Spark derives further constraints. Our plans have hundreds of columns that are
    # computed from each other: with this on, the planning of a check fills any heap and does not end.
    "spark.sql.constraintPropagation.enabled": "false",
    # Otherwise each call asks Java several times where in the code it is; only messages that nobody sees use the answer.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
DRIVER_MEMORY: Final = "2g"
"""The memory of the process that plans, and on this machine also computes. Large traces use sort pages of up to 64 MB (QUICK:
1 MB). With Spark's default of 1 GB, Java would only collect garbage. Beside this heap, Java needs 0.7 GB, and Python 0.3 GB."""

LOCAL_JAVA: Final = f"{_JAVA_OPTIONS} -XX:+UseParallelGC"
_LOCAL_SETTINGS: Final[Mapping[str, str]] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    JAVA: LOCAL_JAVA,
}
_SHORT_JAVA: Final = f"{_JAVA_OPTIONS} -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""For a Java that ends before most of its code has run often: optimizing this code takes as long as all the rest."""

BATCHES: Final[Mapping[str, str]] = {JAVA: _SHORT_JAVA}
"""For a session that only has Python workers judge batches of runs."""

_QUICK_JAVA: Final = f"{_SHORT_JAVA} -Xms768m -Xmn512m -XX:MetaspaceSize=256m"
QUICK: Final[Mapping[str, str]] = {
    # For a few megabytes of traces nearly all time is spent on compiling code that runs once. Interpreting the plans takes less
    # than half of this time, and one partition needs no shuffle (Tables.whole). Two threads plan and run at the same time.
    "spark.sql.shuffle.partitions": "1",
    # Every sort takes a page, by default of 64 MB: two gigabytes in total for a few thousand rows.
    "spark.buffer.pageSize": "1m",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    JAVA: _QUICK_JAVA,
    # Optimizing, checking and describing plans costs more here than it saves.
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.maxPlanStringLength": "100",
    "spark.sql.parquet.compression.codec": "uncompressed",
    "spark.shuffle.compress": "false",
    "spark.broadcast.compress": "false",
}


def java_version() -> int | None:
    """Return the major version of the Java that Spark would start; None if there is none."""
    java = _java()
    if java is None:
        return None
    try:
        output = subprocess.run(
            [java, "-version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_JAVA_ANSWERS_WITHIN_S,
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(output)
    return int(match[1]) if match else None


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        return str(java) if java.is_file() else None
    return shutil.which("java")


def need_packages(*names: str) -> None:
    """Raise PackageMissing, which names the package, if one of these is not installed."""
    for name in names:
        if not is_installed(name):
            raise PackageMissing(name)


def is_installed(package: str) -> bool:
    """Return whether a package can be imported."""
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def need_spark() -> None:
    """Raise PackageMissing or JavaMissing, which say what is missing, if Spark cannot run here."""
    need_packages("pyspark")
    version = java_version()
    if version is not None and version >= JAVA_FROM:
        return
    java = "no Java was found" if version is None else f"Java {version} was found"
    raise JavaMissing(
        f"Spark needs Java {JAVA_FROM} or newer, but {java}; install a JRE (openjdk-17-jre-headless, or set JAVA_HOME)."
        " Everything else in pflab works without Java"
    )


def new_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a session on `master` (a Spark URL; by default this machine's cores).

    Raises PackageMissing, JavaMissing, and AnalyticsError if the master cannot be reached.
    """
    need_spark()
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an optional dependency
    from pyspark.sql import SparkSession  # noqa: PLC0415

    # Tasks run with this Python, whatever python3 is on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    where = master or LOCAL
    spark_settings = settings_on(where, settings or {})
    spark_settings[JAVA] = f'{spark_settings.get(JAVA, _JAVA_OPTIONS)} -Dlog4j2.configurationFile="{_LOGGING.as_uri()}"'
    try:
        builder = SparkSession.builder.appName("pflab check").master(where)
        for name, value in spark_settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        java = _java_process(spark)
        if java is not None:
            end_with_python(java.pid)
    except (PySparkException, OSError) as error:
        line = str(error).strip().partition("\n")[0]
        raise AnalyticsError(f"cannot start Spark on {where}: {line}") from error
    return spark


def for_plans(spark: SparkSession) -> SparkSession:
    """Return a session beside somebody else's session, with the settings that Spark's plans of the tables need.

    Raises AnalyticsError for a session of Spark Connect, which has no other session beside it.
    """
    try:
        session = spark.newSession()
    except (AttributeError, NotImplementedError) as error:
        raise AnalyticsError(
            "a run that is too large for a task is judged in a classic session, not over Spark Connect"
        ) from error
    for name, value in _SETTINGS.items():
        if name.startswith("spark.sql."):
            session.conf.set(name, value)
    return session


def settings_on(master: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return all settings of a session on a master: those of every session, and `settings` above them."""
    local = _LOCAL_SETTINGS if _is_local(master) else {}
    memory = {} if not local and _chosen_by_user(MEMORY) else {MEMORY: DRIVER_MEMORY}
    return {**_SETTINGS, **local, **memory, **settings}


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _chosen_by_user(setting: str) -> bool:
    """Return whether the user of a cluster has chosen this setting, in spark-defaults.conf or in PYSPARK_SUBMIT_ARGS."""
    home = os.environ.get("SPARK_HOME")
    conf = os.environ.get("SPARK_CONF_DIR") or (home and f"{home}/conf")
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if conf:
        with suppress(OSError, UnicodeError):
            arguments += "\n" + (Path(conf) / "spark-defaults.conf").read_text("utf-8")
    option = f"--{setting.removeprefix('spark.').replace('.', '-')}"
    return (
        re.search(rf"(?m)^\s*{re.escape(setting)}[\s=:]|[\s'\"]{re.escape(setting)}=|{option}\b", arguments) is not None
    )


@contextmanager
def session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Open a session as `new_session` does, and stop it at the end. Ctrl-C, SIGTERM and SIGHUP end Java first, without output
    from Java, and then raise KeyboardInterrupt as usual.

    master: also a server of Spark Connect, for which Java and settings are not needed here; by default that of SPARK_REMOTE.

    Raises AnalyticsError with one line of text if Spark fails in the session.
    """
    server = os.environ.get("SPARK_REMOTE") if master is None else master if master.startswith(CONNECT) else None
    with _connected(server) if server else _classic(master, settings) as spark:
        yield spark


@contextmanager
def _connected(server: str) -> Iterator[SparkSession]:
    """Open a session at a server of Spark Connect, as `session` does."""
    need_packages("pyspark", "grpc")
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an optional dependency
    from pyspark.sql import SparkSession  # noqa: PLC0415

    try:
        spark = SparkSession.builder.appName("pflab check").remote(server).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()
    except (PySparkException, ImportError) as error:
        raise AnalyticsError(f"Spark failed: {server}: {in_a_line(error)}") from error


@contextmanager
def _classic(master: str | None, settings: Mapping[str, str] | None) -> Iterator[SparkSession]:
    """Open a session as `session` does."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    spark = new_session(master, settings)
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415 - installed, because the session exists
    from pyspark.errors import PySparkException  # noqa: PLC0415 - as above

    ended = threading.Event()

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        if not ended.is_set():
            ended.set()
            _end_java(spark)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        # pyspark's own handler sends Java a request during another request, which fails with a long traceback.
        for number, handler in before.items():
            signal.signal(
                number, interrupted if callable(handler) else handler
            )  # others are ignored, or end this process
    try:
        yield spark
    except (PySparkException, Py4JError, ConnectionError) as error:
        if _has_ended(spark):
            ended.set()
            raise AnalyticsError(
                "Spark failed: Java has ended, as it does when its memory is full; judge fewer traces at a time, or use"
                " --engine embedded"
            ) from error
        raise AnalyticsError(f"Spark failed: {in_a_line(error)}") from error
    finally:
        if not ended.is_set():
            spark.stop()
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)


def in_a_line(error: Exception) -> str:
    """Return the message of the Java error inside a Python error (if there is none, the first line), with its first cause. The
    cause says for example that the disk is full."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    within = (_JAVA_SAYS.match(line) for line in lines)
    line = _STREAM_SAYS.sub(r"\1", next((match[1] for match in within if match), lines[0]))
    causes = _JAVA_CAUSES.findall(getattr(error, "_stackTrace", None) or str(error))
    return line if not causes or causes[-1] in line else f"{line}: {causes[-1]}"


def _has_ended(spark: SparkSession) -> bool:
    """Return whether the Java process that this process started for the session has ended, by itself or killed."""
    java = _java_process(spark)
    if java is None:
        return False
    try:
        java.wait(_SEEN_WITHIN_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _java_process(spark: SparkSession) -> subprocess.Popen[bytes] | None:
    """Return the Java process that this process started for the session, if it did."""
    java: subprocess.Popen[bytes] | None = getattr(spark.sparkContext._gateway, "proc", None)
    return java


def _end_java(spark: SparkSession) -> None:
    """End the Java process of this session, so that every open request to it ends too."""
    logging.disable(logging.CRITICAL)  # otherwise each request that is cut off logs a traceback
    java = _java_process(spark)
    # Each thread has its own connection to Java, and the main thread's may be in use.
    stop = threading.Thread(target=_stop_quietly, args=(spark,), daemon=True)
    stop.start()
    stop.join(_STOPS_WITHIN_S)
    if java is None:
        return
    java.terminate()
    try:
        java.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        java.kill()


def _stop_quietly(spark: SparkSession) -> None:
    with suppress(Exception):  # if this fails, Java ends next anyway
        spark.sparkContext.setLogLevel("OFF")
        spark.stop()  # which also stops what pyspark reads from Java: it would tell of Java's end with a traceback
