"""The page of the lab in a tab: the page of the console with another start, and with a policy of its own."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final

from pflab.server.console import POLICY

_NOT_LOADED: Final = (
    'const loading = document.querySelector(".loading");'
    'addEventListener("error", () => { loading.textContent = location.protocol === "file:"'
    ' ? "This page needs a web server, because browsers run no programs from a disk. '
    'In the folder of the site: python3 -m http.server --bind 127.0.0.1"'
    ' : "A program of this page could not be loaded. Is there a network? Load the page again."; }, true);'
)
"""What the page does if a module of the console is not loaded, as if the page is opened as a file, the network ends, or the
site changes meanwhile. It is in the page, before the first module. Once the console has begun, what it changes is not shown."""

_STARTS: Final = '    <script type="module" src="./console/main.js"></script>\n'
_WITHOUT_SCRIPTS: Final = ("<noscript>", "</noscript>")


def of_lab(console: str) -> str:
    """Return the page.

    console: the page of the console. Raises ValueError if it does not have what is replaced.
    """
    page = _replaced(console, _STARTS, "")
    page = _replaced(
        page, "<title>", f'<meta http-equiv="Content-Security-Policy" content="{policy()}" />\n    <title>'
    )
    start, rest = _split(page, _WITHOUT_SCRIPTS[0])
    _, end = _split(rest, _WITHOUT_SCRIPTS[1])
    return _replaced(
        f"{start}<noscript><p>The lab runs in this browser, so it needs JavaScript.</p></noscript>{end}",
        "</body>",
        f'  <script>{_NOT_LOADED}</script>\n    <script type="module" src="./console/tab/start.js"></script>\n  </body>',
    )


def policy() -> str:
    """Return the policy of the page and its workers: they load their own files, and Python as WebAssembly."""
    script = b64encode(sha256(_NOT_LOADED.encode()).digest()).decode()
    # A page cannot say who may frame it; only a server can.
    kinds = [kind for kind in POLICY.split("; ") if not kind.startswith("frame-ancestors")]
    kinds = [
        f"{kind} 'wasm-unsafe-eval' 'sha256-{script}'" if kind.startswith("script-src") else kind for kind in kinds
    ]
    return "; ".join([*kinds, "worker-src 'self'"])


def _replaced(page: str, old: str, new: str) -> str:
    start, end = _split(page, old)
    return f"{start}{new}{end}"


def _split(page: str, at: str) -> tuple[str, str]:
    if page.count(at) != 1:
        raise ValueError(f"the console's page has {at!r} {page.count(at)} times")
    start, _, end = page.partition(at)
    return start, end
