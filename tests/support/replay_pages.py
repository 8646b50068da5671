"""What the file of a replay has."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any


def document_in(page: str) -> dict[str, Any]:
    packed = re.search(r'id="run">([^<]*)<', page)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))
