"""The pages that are made from the code when the site is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import client_calls
import command_line
import file_keys
import http_api
import lesson_list
import pytest_plugin
import setting_list

GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "reference/command-line.md": command_line.render,
    "reference/http-api.md": http_api.render,
    "reference/client.md": client_calls.render,
    "reference/pytest-plugin.md": pytest_plugin.render,
    "reference/file-keys.md": file_keys.render,
    "reference/settings.md": setting_list.render,
    "reference/lessons.md": lesson_list.render,
}
