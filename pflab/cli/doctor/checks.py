"""The checks of `pflab doctor`. Each looks for one thing that pflab needs, and says how to get it if it is missing.

This module imports only the standard library. It also avoids syntax that Python 3.9 does not have, because it must tell the
user of an old Python to install another one.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPException
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from pflab.cli.doctor.extras import how_to_install, pip_install
from pflab.home import HOME
from pflab.systems import ELSEWHERE, is_supported, system

OK: Final = "ok"
MISSING: Final = "missing"
"""pflab itself does not work without it."""
OPTIONAL: Final = "optional"
"""It is missing, but only some verbs or tests need it."""

NOTE: Final = "note"
"""It works, but the next `pflab up` will not work as usual."""

PYTHON_FROM: Final = (3, 11)
SQLITE_FROM: Final = (3, 35)
"""RETURNING is newer than in any older SQLite."""
JAVA_FROM: Final = (17,)
NODE_FROM: Final = (20, 19)
COMPOSE_FROM: Final = (2, 20)
DISK_FROM_MB: Final = 200
HANDLES_FROM: Final = 256
MANY_HANDLES: Final = 1024
PORT: Final = 8025
"""The port of `pflab up`."""

PACKAGES: Final = {
    "aiosmtpd": "aiosmtpd",
    "aiosmtplib": "aiosmtplib",
    "sqlalchemy": "SQLAlchemy",
    "yaml": "PyYAML",
    "pydantic": "pydantic",
    "msgspec": "msgspec",
    "typer": "typer",
    "rich": "rich",
    "cryptography": "cryptography",
    "uvicorn": "uvicorn",
}
"""The packages that pflab itself needs: the names with which Python imports them, and with which pip installs them."""

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
LAB_FILE: Final = Path("runs") / "lab.json"
LAB_ANSWERS_WITHIN_S: Final = 5
ANSWERS_WITHIN_S: Final = 20
"""Real time that a lab gets to answer, and a program to print its version."""

_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)*")


class Finding(NamedTuple):
    """What a check has found.

    status: OK, NOTE, OPTIONAL or MISSING.
    what: one line, with what to do if it is not OK.
    """

    name: str
    status: str
    what: str


def findings() -> Iterator[Finding]:
    """Yield what each check finds."""
    for check in CHECKS:
        yield from check()


def failed(finding: Finding) -> bool:
    """Return whether pflab itself does not work because of this finding."""
    return finding.status == MISSING


# --- what pflab itself needs


def _system() -> Iterator[Finding]:
    if is_supported():
        yield Finding("system", OK, system())
    else:
        yield Finding("system", MISSING, f"{system()}; {ELSEWHERE}")


def _python() -> Iterator[Finding]:
    here = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= PYTHON_FROM:
        yield Finding("Python", OK, here)
    else:
        yield Finding("Python", MISSING, f"{here} is too old; install Python {_text(PYTHON_FROM)} or newer")


def _packages() -> Iterator[Finding]:
    absent, broken = [], {}
    for name, distribution in PACKAGES.items():
        try:
            importlib.import_module(name)
        except Exception as error:  # a package can be broken in any way
            if isinstance(error, ModuleNotFoundError) and error.name == name:
                absent.append(distribution)
            else:
                broken[distribution] = " ".join(str(error).split()) or type(error).__name__
    if absent:
        get = f"install them: {pip_install(absent)}"
        yield Finding("packages", MISSING, f"{', '.join(absent)} cannot be found; {get}")
    for distribution, why in broken.items():
        get = f"install it again: {pip_install(['--force-reinstall', distribution])}"
        yield Finding(f"package {distribution}", MISSING, f"it is broken: {why}; {get}")
    if not absent and not broken:
        yield Finding("packages", OK, f"all {len(PACKAGES)} that pflab needs are there")


def _sqlite() -> Iterator[Finding]:
    version = sqlite3.sqlite_version_info
    if version < SQLITE_FROM:
        yield Finding(
            "SQLite", MISSING, f"{_text(version)} is too old; install a Python with {_text(SQLITE_FROM)} or newer"
        )
    elif not hasattr(sqlite3.Connection, "serialize"):
        yield Finding(
            "SQLite", MISSING, "it cannot copy databases in memory; install a Python of python.org or your system"
        )
    else:
        yield Finding("SQLite", OK, _text(version))


def _current_folder() -> Iterator[Finding]:
    """Check that databases with a write-ahead log work in the current folder, where `pflab up` writes its runs."""
    here = "current folder"
    try:
        with tempfile.TemporaryDirectory(prefix=".pflab-doctor-", dir=Path.cwd()) as folder:  # noqa: TID251 - of the standard library
            mode = _journal_mode(Path(folder) / "try.sqlite")
    except (OSError, sqlite3.Error) as error:
        why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        yield Finding(here, MISSING, f"pflab cannot write here: {why.lower()}; change to a folder that you can write")
        return
    if mode == "wal":
        yield Finding(here, OK, "can be written; SQLite's write-ahead log works")
    else:
        yield Finding(here, MISSING, "SQLite's write-ahead log does not work here; change to a folder on a local disk")


def _journal_mode(path: Path) -> str:
    """Write into a new database with a write-ahead log; return the mode that it has."""
    with closing(sqlite3.connect(path)) as opened:
        (mode,) = opened.execute("PRAGMA journal_mode = WAL").fetchone()
        opened.execute("CREATE TABLE t (x)")
    return str(mode)


def _disk() -> Iterator[Finding]:
    try:
        free_mb = shutil.disk_usage(Path.cwd()).free // 1_000_000
    except OSError:
        return  # the check of the current folder says why
    if free_mb < DISK_FROM_MB:
        yield Finding("free disk", MISSING, f"{free_mb} MB; free space until there are {DISK_FROM_MB} MB")
    else:
        yield Finding("free disk", OK, f"{free_mb} MB" if free_mb < 10_000 else f"{free_mb // 1000} GB")


def _handles() -> Iterator[Finding]:
    if not is_supported():
        return
    import resource  # noqa: PLC0415 - Windows does not have it

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    name, raise_it = "file handles", f"raise the limit: ulimit -n {4 * MANY_HANDLES}"
    if soft == resource.RLIM_INFINITY:
        yield Finding(name, OK, "no limit")
    elif soft < HANDLES_FROM:
        yield Finding(name, MISSING, f"{soft}; a lab needs {HANDLES_FROM}; {raise_it}")
    elif soft < MANY_HANDLES:
        yield Finding(name, OPTIONAL, f"{soft}; {MANY_HANDLES} are needed for labs with many servers; {raise_it}")
    else:
        yield Finding(name, OK, str(soft))


def _loopback() -> Iterator[Finding]:
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            socket.create_connection(listening.getsockname(), timeout=ANSWERS_WITHIN_S).close()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        yield Finding(
            "loopback", MISSING, f"127.0.0.1: {why}; allow connections of this user on the loopback interface"
        )
        return
    yield Finding("loopback", OK, "ports of 127.0.0.1 can be bound")


def _lab_here() -> Iterator[Finding]:
    """Look for a lab that `pflab up` started in this folder, and for another program at its port."""
    try:
        url = str(json.loads(LAB_FILE.read_text("utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError):
        url = ""
    if url and _answers(url):
        yield Finding("lab", NOTE, f"{url} runs in this folder; to start another one here, stop it with Ctrl-C")
        return
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", PORT))
    except OSError:
        lab = _answers(f"http://127.0.0.1:{PORT}")
        who = "a lab of another folder" if lab else "another program"
        yield Finding("lab", NOTE, f"{who} uses port {PORT}; start a lab at a free port: pflab up --port 0")
        return
    yield Finding("lab", OK, f"none in this folder; port {PORT} is free")


def _answers(url: str) -> bool:
    """Return whether a lab answers at a URL."""
    try:
        with build_opener(ProxyHandler({})).open(f"{url}/livez", timeout=LAB_ANSWERS_WITHIN_S) as answer:
            return b"alive" in answer.read(100)
    except HTTPError as error:
        return error.code == HTTPStatus.UNAUTHORIZED
    except (OSError, ValueError, HTTPException):
        return False


# --- what some verbs need


def _java() -> Iterator[Finding]:
    home = os.environ.get("JAVA_HOME")
    version = _version([str(Path(home) / "bin" / "java") if home else "java", "-version"])
    get = "install a JRE, for example the package openjdk-17-jre-headless, or set JAVA_HOME"
    yield _program("Java", version, JAVA_FROM, "pflab follow, and pflab check with Spark", get)


_IMPORTED_AS: Final = {"pillow": "PIL"}
"""The module of a package whose name is another."""


def _extras() -> Iterator[Finding]:
    for package, extra, use in (
        ("duckdb", "analytics", "pflab check"),
        ("pyarrow", "analytics", "pflab check"),
        ("jinja2", "analytics", "pflab check --report"),
        ("pyspark", "spark", "pflab follow, and pflab check with Spark"),
        ("pandas", "spark", "pflab follow, and pflab check with Spark"),
        ("pymap", "imap", "pflab up --imap"),
        ("pillow", "clip", "pflab replay --clip"),
        ("segno", "class", "the QR code of pflab class"),
    ):
        try:
            is_installed = find_spec(_IMPORTED_AS.get(package, package)) is not None
        except (ImportError, ValueError):
            is_installed = False
        if is_installed:
            yield Finding(package, OK, metadata.version(package))
        else:
            yield Finding(package, OPTIONAL, f"not installed; needed for {use}; {how_to_install(extra)}")


def _docker() -> Iterator[Finding]:
    get = "install Docker Engine with its Compose plugin: https://docs.docker.com/engine/install/"
    version = _version(["docker", "compose", "version", "--short"])
    yield _program("Docker Compose", version, COMPOSE_FROM, "the lab in containers", get)
    if version and _run(["docker", "version", "--format", "{{.Server.Version}}"]) is None:
        what = "it does not answer; needed for the lab in containers; start it, and let this user use it: docker info"
        yield Finding("Docker daemon", OPTIONAL, what)


def _source_tree() -> Iterator[Finding]:
    """Check what only the developers of pflab need."""
    if not (HOME / "pyproject.toml").is_file():
        return
    browser = next((command for command in BROWSERS if shutil.which(command)), None)
    use = "tests that use a browser"
    if browser:
        yield Finding("Chromium", OK, str(shutil.which(browser)))
    else:
        yield Finding(
            "Chromium", OPTIONAL, f"not found; needed for {use}; install it, for example the package chromium"
        )
    get = "install the packages nodejs and npm"
    yield _program("node", _version(["node", "--version"]), NODE_FROM, "the checks of the console", get)
    if not shutil.which("npm"):
        yield Finding("npm", OPTIONAL, f"not found; needed for the checks of the console; {get}")


def _program(name: str, version: tuple[int, ...] | None, least: tuple[int, ...], use: str, get: str) -> Finding:
    if version is not None and version >= least:
        return Finding(name, OK, _text(version))
    problem = "not found" if version is None else f"{_text(version)} is too old, {_text(least)} or newer is"
    return Finding(name, OPTIONAL, f"{problem}{';' if version is None else ''} needed for {use}; {get}")


def _version(order: list[str]) -> tuple[int, ...] | None:
    """Return the version that a program prints; None if there is no such program, or if it fails."""
    printed = _run(order)
    match = None if printed is None else _NUMBERS.search(printed)
    return None if match is None else tuple(map(int, match[0].split(".")))


def _run(order: list[str]) -> str | None:
    """Return what a program prints; None if it cannot be run or fails."""
    try:
        process = subprocess.run(
            order, capture_output=True, encoding="utf-8", errors="replace", check=True, timeout=ANSWERS_WITHIN_S
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return process.stdout + process.stderr


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


CHECKS: Final[tuple[Callable[[], Iterator[Finding]], ...]] = (
    _system,
    _python,
    _packages,
    _sqlite,
    _current_folder,
    _disk,
    _handles,
    _loopback,
    _lab_here,
    _java,
    _extras,
    _docker,
    _source_tree,
)
