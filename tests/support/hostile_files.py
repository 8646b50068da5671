"""Files of strangers that must do nothing but be refused: one for each way in which a file can attack the lab that opens it."""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Mapping
from typing import Final
from zipfile import ZipInfo

from tests.support.lab_files import archive_of, with_database

DATABASE: Final = "databases/A.sqlite"


class _Runs:
    """What runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch owned",)


PICKLE: Final = pickle.dumps(_Runs())


def hostile_labs(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return lab files by what they try.

    files: those of a lab file that is right.
    """

    def after(statement: str) -> bytes:
        return archive_of({**files, DATABASE: with_database(files[DATABASE], lambda opened: opened.execute(statement))})

    link = ZipInfo("traces/C-1-1.jsonl")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return {
        "a pickle": PICKLE,
        "a pickle as the state": archive_of({**files, "lab.json": PICKLE}),
        "a page": b"<!doctype html><script>document.title = 'owned'</script>",
        "a bomb": archive_of({**files, "traces/A-1-1.jsonl": bytes(100_000_000)}),
        "a path out of the folder": archive_of({**files, "../outside": b"x"}),
        "an absolute path": archive_of({**files, "/lib/pflab/pflab/tab/tab.pyc": b"x"}),
        "a link": archive_of(files, link),
        "a module": archive_of({**files, "sitecustomize.py": b"raise SystemExit"}),
        "a trigger": after("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM message; END"),
        "a view": after("CREATE VIEW v AS SELECT load_extension('x')"),
        "an expression": after("CREATE INDEX i ON message (abs(ctr))"),
        "a huge number": after("UPDATE store_state SET last_at = 9223372036854775807, seq = 9223372036854775807"),
        "pages of another size": archive_of({**files, DATABASE: files[DATABASE][:16] + b"\0\1" + files[DATABASE][18:]}),
        "deep JSON": archive_of({**files, "lab.json": b'{"faults":' + b"[" * 100_000}),
        "a bomb as the topology": archive_of({**files, "topology.yaml": ALIAS_BOMB.encode()}),
    }


ALIAS_BOMB: Final = "\n".join(
    [
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)),
    ]
)

HOSTILE_TOPOLOGIES: Final = {
    "aliases that expand to gigabytes": ALIAS_BOMB,
    "deep nesting": "[" * 100_000,
    "an object of Python": 'organization: !!python/object/apply:os.system ["touch owned"]\nservers: {A: }\n',
    "markup as a name": "organization: '<img src=x onerror=\"document.title=1\">'\nservers: {A: }\n",
    "markup as a server": "servers: {'<script>document.title=1</script>': }\n",
    "an escape sequence": 'organization: "\\e[2J"\nservers: {A: }\n',
    "a pickle": PICKLE.decode("latin-1"),
}
"""Topologies by what they try."""

MARKUP: Final = (
    '<img src=x onerror="document.title=1"><a href="javascript:alert(1)">x</a><script>document.title=1</script>'
)
"""What a text may have, and a page must show as text."""
