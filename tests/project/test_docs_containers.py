"""docs/how-to/containers.md agrees with the project: services, settings, commands, and an example that runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from pflab.cli.app import VERBS
from tests.support.http_examples import example, play
from tests.support.running_lab import lab_up


@pytest.fixture
def page(project_root: Path) -> Path:
    return project_root / "docs" / "how-to" / "containers.md"


def test_the_table_of_settings_agrees_with_the_compose_file(project_root: Path, page: Path) -> None:
    """The table of settings has all that docker-compose.yml reads, with the same defaults. Of the ports of the servers, it has
    those of server A."""
    file = (project_root / "docker-compose.yml").read_text("utf-8")
    read = dict(re.findall(r"\$\{(PFLAB_\w+):-([^}]*)\}", file))
    read = {name: default for name, default in read.items() if not re.fullmatch(r"PFLAB_(SMTP|IMAP)_[B-E]", name)}
    told: dict[str, str] = {}
    for names, default in re.findall(r"^\| (`PFLAB_[^|]+) \| ([^|]+) \|", page.read_text("utf-8"), re.MULTILINE):
        told.update(dict.fromkeys(re.findall(r"`(\w+)`", names), default))
    assert told == {name: "none" if default == "/dev/null" else default for name, default in read.items()}


def test_every_service_is_listed(project_root: Path, page: Path) -> None:
    """The table of services has all of docker-compose.yml; the stores are covered by their naming rule."""
    services = yaml.safe_load((project_root / "docker-compose.yml").read_text("utf-8"))["services"]
    table = re.search(r"^\| service .*?\n\n", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert table is not None
    told = set(re.findall(r"`([a-z0-9-]+)`", "".join(line.split(" | ")[0] for line in table[0].splitlines())))
    stores = {name for name, each in services.items() if "hostname" in each and each["command"][0] == "node"}
    assert told == set(services) - stores


def test_every_command_on_the_page_exists(page: Path) -> None:
    """The verbs of pflab on the page exist, and so do their options."""
    lines = re.findall(r"^(pflab .*)$", page.read_text("utf-8"), re.MULTILINE)
    assert lines
    assert {shlex.split(line)[1] for line in lines} <= VERBS.keys()


@pytest.mark.live
def test_the_example_in_plain_http_runs(page: Path, tmp_path: Path) -> None:
    """Each request of the page's example gets the answer on the page."""
    with lab_up(tmp_path) as url:
        assert play(page, url) == len(example(page)) > 10
