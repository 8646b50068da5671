"""The browser libraries in console/vendor are the ones that vendor.json records."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

OWN = {"vendor.json", "make.mjs"} | {
    f"{name}.{end}" for name in ("preact", "d3", "ed25519") for end in ("entry.mjs", "d.ts")
}


@pytest.fixture(scope="module")
def vendor(project_root: Path) -> Path:
    return project_root / "console" / "vendor"


@pytest.fixture(scope="module")
def record(vendor: Path) -> dict[str, Any]:
    return dict(json.loads((vendor / "vendor.json").read_text("utf-8")))


def test_the_files_are_the_recorded_ones(vendor: Path, record: dict[str, Any]) -> None:
    """vendor.json has the SHA-256 of each file that `make vendor` makes, and the folder has no other files but our own."""
    found = {path.relative_to(vendor).as_posix(): path for path in vendor.rglob("*") if path.is_file()}
    made = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items() if name not in OWN}
    assert made == record["files"]


def test_every_package_is_pinned_by_its_integrity(record: dict[str, Any]) -> None:
    """Each package has an exact version and the SHA-512 of its archive."""
    for package in (*record["packages"], record["bundler"]):
        assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"]), package
        kind, _, value = package["integrity"].partition("-")
        assert kind == "sha512"
        assert len(base64.b64decode(value, validate=True)) == hashlib.sha512().digest_size


def test_every_licence_is_kept(record: dict[str, Any]) -> None:
    """Each package that is a part of a file has its licence beside the file."""
    names = {package["name"].removeprefix("@").replace("/", "-") for package in record["packages"]}
    assert {f"LICENSES/{name}.txt" for name in names} == {name for name in record["files"] if "/" in name}


def test_types_are_checked_with_the_same_versions(project_root: Path, record: dict[str, Any]) -> None:
    """Each tool of package.json has an exact version, and a library that is a part of a file has the version of the file."""
    tools = json.loads((project_root / "package.json").read_text("utf-8"))["devDependencies"]
    for name, version in tools.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
    parts = {package["name"]: package["version"] for package in record["packages"]}
    assert {name: tools[name] for name in tools.keys() & parts.keys()} == {
        name: parts[name] for name in ("preact", "htm", "@preact/signals")
    }


def test_nothing_says_where_packages_come_from(vendor: Path, record: dict[str, Any]) -> None:
    """No file names a package registry, and the libraries contain no address but the names of XML namespaces."""
    assert "http" not in (vendor / "vendor.json").read_text("utf-8") + (vendor / "make.mjs").read_text("utf-8")
    for name in (name for name in record["files"] if name.endswith(".js")):
        hosts = set(re.findall(r"https?://([\w.-]+)", (vendor / name).read_text("utf-8")))
        assert hosts <= {"www.w3.org"}
