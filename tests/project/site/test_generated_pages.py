"""The pages of the reference that are made from the code have everything that the code has."""

from __future__ import annotations

import inspect
import re

import pytest

import pflab.testing
from pflab.cli.app import VERBS
from pflab.client import Client
from pflab.testing import plugin
from tests.support.generated_pages import generated_pages
from tests.support.named_commands import commands_of
from topology.file.model import ConnectorEntry, FolderEntry, ServerEntry, TopologyFile
from topology.settings.catalogue import SPECS


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {uri.removeprefix("reference/"): render() for uri, render in generated_pages().items()}


def test_the_command_line_has_every_verb_and_option(pages: dict[str, str]) -> None:
    """The page has a heading for each verb and each action, and below it each option."""
    page = pages["command-line.md"]
    for verb in VERBS:
        for words, command in commands_of(verb).items():
            section = re.split(r"^##", page.partition(f"# pflab {words}\n")[2], flags=re.MULTILINE)[0]
            shown = [param for param in command.params if param.name != "__" and not getattr(param, "hidden", False)]
            options = {name for param in shown for name in param.opts if name.startswith("-")}
            assert section, words
            assert [option for option in options if option not in section] == [], words


def test_the_http_api_has_every_request_of_the_client(pages: dict[str, str]) -> None:
    """The page has requests of the lab, of a node, of the clock and of faults, each with its method and path."""
    requests = re.findall(r"^### (GET|POST|PUT|PATCH|DELETE) (/\S+)$", pages["http-api.md"], re.MULTILINE)
    assert len(requests) == len(set(requests)) > 60
    assert {("POST", "/lab/faults"), ("POST", "/lab/clock/until"), ("POST", "/nodes/{name}/messages")} <= set(requests)


def test_the_page_of_the_client_has_every_method(pages: dict[str, str]) -> None:
    """The page has each public method of the client, and its first sentence."""
    page = pages["client.md"]
    public = [name for name in dir(Client) if not name.startswith("_") and callable(getattr(Client, name))]
    assert [name for name in public if f"\n### {name}\n" not in page] == []


def test_the_page_of_files_has_every_key_of_a_topology(pages: dict[str, str]) -> None:
    """The page has each key of a topology, in the table of its part."""
    page = pages["file-keys.md"]
    for title, model in (
        ("## Topology", TopologyFile),
        ("### topology: connector", ConnectorEntry),
        ("### topology: folder", FolderEntry),
        ("### topology: server", ServerEntry),
    ):
        section = page.partition(f"\n{title}\n")[2].partition("\n##")[0]
        assert [key for key in model.model_fields if f"| `{key}`" not in section] == [], title


def test_the_page_of_settings_has_every_setting(pages: dict[str, str]) -> None:
    """The page has each setting once."""
    assert sorted(re.findall(r"^### (.*)$", pages["settings.md"], re.MULTILINE)) == sorted(spec.name for spec in SPECS)


def test_the_page_of_the_plugin_has_every_public_name(pages: dict[str, str]) -> None:
    """The page has each name of pflab.testing and each method of its classes, and each fixture, option and setting."""
    page = pages["pytest-plugin.md"]
    for name in pflab.testing.__all__:
        section = re.split(r"^## (?!Lab: )", page.partition(f"\n## {name}\n")[2], flags=re.MULTILINE)[0]
        assert len(section.split()) > 5, name
        own = getattr(getattr(pflab.testing, name), "__dict__", {})
        public = [each for each, what in own.items() if inspect.isfunction(what) and not each.startswith("_")]
        if name != "AsyncLab":  # which refers to Lab
            assert [each for each in public if f"\n### {each}\n" not in section] == [], name
    source = inspect.getsource(plugin)
    for name in re.findall(r"^@pytest\.fixture.*\ndef ([a-z]\w*)", source, re.MULTILINE):
        assert f"\n### {name}\n" in page, name
    assert [each for each in re.findall(r'"(--pflab-\w+)"', source) if f"| `{each}" not in page] == []
    assert "| `pflab_topology` |" in page
