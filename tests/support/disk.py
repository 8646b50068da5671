"""Full disks, and no file handles or memory, simulated by limits of this process."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def no_file_grows(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size` bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_new_files() -> Iterator[None]:
    """Let this process open no more files."""
    with few_handles(3):
        yield


@contextmanager
def few_handles(most: int) -> Iterator[None]:
    """Let this process open files only while it has fewer than `most`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def no_more_memory() -> Iterator[None]:
    """Let this process get no more memory than it has. Skip the test where the system does not say how much this is."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc/self/statm")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
