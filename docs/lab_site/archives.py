"""An archive that depends on nothing but the names and contents of its files."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Mapping
from typing import Final

_FILE_MODE: Final = 0o644
_DICTIONARY_BYTES: Final = 16 << 20
"""How far back repeated bytes are found. The browser needs as much memory to unpack; all modules together are smaller."""


def tarred(files: Mapping[str, bytes]) -> bytes:
    """Return a tar archive that is compressed by xz.

    It is a third smaller than a zip archive, because files share what they repeat.
    """
    result = io.BytesIO()
    with tarfile.open(fileobj=result, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = _FILE_MODE
            archive.addfile(entry, io.BytesIO(content))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": _DICTIONARY_BYTES}]
    return lzma.compress(result.getvalue(), check=lzma.CHECK_CRC32, filters=filters)
