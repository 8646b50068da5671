"""What all tests share: Hypothesis profiles, the project's root folder, time limits, signals and proxies."""

import gc
import os
import signal
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from tests.support.durations import Durations
from tests.support.samples import Share
from tests.support.time_limits import LIMITS_S

# "steady" draws the same examples on every run, so that a red build is the fault of the change in hand;
# "explore" draws new ones. Neither has a deadline: no test may fail for a slow machine.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("PFLAB_HYPOTHESIS", "steady"))

_LOOPBACK: Final = "127.0.0.1,localhost,::1"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that plays a share of the tests marked `rest`."""
    parser.addoption("--share", metavar="N:TEXT", help="play one in N of the tests marked rest; TEXT draws them")


def pytest_configure(config: pytest.Config) -> None:
    """Let requests of tests to this machine pass no proxy, and note how long tests take."""
    gc.disable()  # a fifth of the time in which tests are collected; `pytest_collection_finish` ends this
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), _LOOPBACK)))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that no share has (`--share`), and give each test the time limit of its marker. A test's own limit
    comes first.

    The tests that share a fixture of their module have one worker: otherwise each worker makes the fixture, often a lab.
    """
    if (text := config.getoption("share")) is not None:
        share = Share.parse(text)
        absent = {item for item in items if item.get_closest_marker("rest") is not None and not share.has(item.nodeid)}
        config.hook.pytest_deselected(items=list(absent))
        items[:] = [item for item in items if item not in absent]
    for item in items:
        if _shares_a_fixture(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
        for name, limit_s in LIMITS_S.items():
            if item.get_closest_marker(name) is not None:
                item.add_marker(pytest.mark.timeout(limit_s))


def _shares_a_fixture(item: pytest.Item) -> bool:
    # pytest has no public name for a test's fixtures with their scopes.
    definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return any(found[-1].scope == "module" for found in definitions.values())


def pytest_collection_finish() -> None:
    """Let the garbage collector no longer look through what all tests share: every module, and every test."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # DuckDB would report at the end what was never collected


@pytest.fixture(scope="session", autouse=True)
def _signals() -> None:
    """Let SIGINT and SIGHUP act as usual in tests and in the processes that they start.

    Commands in the background ignore SIGINT, and after nohup SIGHUP: make test started so, or by many CI systems.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # The tests still ignore it, but new processes do not: they inherit no handler.
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder of pyproject.toml."""
    return Path(__file__).resolve().parents[1]
