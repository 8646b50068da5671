"""The pages /login and /logout, by which a browser exchanges the token for a cookie and gives it back. They need no scripts.

The cookie is HttpOnly, so no script reads it; SameSite=Strict, so other sites cannot use it; and it ends with the browser's
session. A browser sends cookies to all ports of a host. So the cookie's name contains the port, and two labs on one machine do
not log each other's users out.
"""

from __future__ import annotations

import base64
import hashlib
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from node.api.access.requests import is_foreign
from node.api.access.tokens import Tokens, TooManyTokens
from node.api.asgi import Headers, Receive, Response, Scope
from node.api.docs_page import STYLE
from node.api.values import not_supported, problem

LOGIN: Final = "/login"
LOGOUT: Final = "/logout"
PATHS: Final = (LOGIN, LOGOUT)

FORM_BYTES: Final = 4096
"""The largest form with a token."""

FOREIGN: Final = "requests from web pages of another origin are refused"

_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_HEADERS: Final = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",  # with no-referrer, the browser would send the form with `Origin: null`
    "Cache-Control": "no-store",
}
_FORM: Final = "application/x-www-form-urlencoded"

_LOGIN_FORM: Final = """\
<form method="post" action="/login">
<p><label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label>
<button>Log in</button></p>
</form>
<p>The coordinator of the lab keeps its token in the file <code>token</code> of its folder of secrets. In containers, print it
with <code>docker compose exec lab cat /secrets/token</code>. The file <code>users-token</code> has the token for users.</p>"""

_LOGOUT_FORM: Final = """\
<form method="post" action="/logout"><p><button>Log out</button></p></form>"""


def cookie_name(headers: Headers) -> str:
    """Return the name of the cookie at the host and port that the browser asked for."""
    try:
        port = urlsplit(f"//{headers.get('host', '')}").port
    except ValueError:
        port = None
    return "pflab" if port is None else f"pflab-{port}"


async def login_answer(tokens: Tokens, scope: Scope, headers: Headers, receive: Receive) -> Response:
    """Return the answer to a request for one of PATHS. `receive` must limit the body to FORM_BYTES."""
    path, method = scope["path"], scope["method"]
    if method == "GET":
        return _page("Log in", _LOGIN_FORM) if path == LOGIN else _page("Log out", _LOGOUT_FORM)
    if method != "POST":
        return not_supported(["GET", "POST"])
    if is_foreign(method, headers):
        return problem(HTTPStatus.FORBIDDEN, "Refused", FOREIGN)
    if path == LOGOUT:
        return _moved(LOGIN, f"{cookie_name(headers)}=; Max-Age=0; {_attributes(scope, headers)}")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Http", f"send the token as {_FORM}, in the field `token`")
    token = _token_in(await _body(receive))
    try:
        right = tokens.right_of(token, (scope.get("client") or ("",))[0])
    except TooManyTokens as error:
        page = _page("Log in", _LOGIN_FORM, f"{error}.", HTTPStatus.TOO_MANY_REQUESTS)
        page.headers["Retry-After"] = str(error.wait_s)
        return page
    if right is None:
        return _page("Log in", _LOGIN_FORM, "This is not a token of this lab.", HTTPStatus.FORBIDDEN)
    return _moved("/", f"{cookie_name(headers)}={tokens.cookie_for(right)}; {_attributes(scope, headers)}")


def to_login() -> Response:
    """Return the answer that leads a browser without a token to the log-in page."""
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": LOGIN, "Cache-Control": "no-store"})


def _moved(path: str, cookie: str) -> Response:
    headers = {"Location": path, "Set-Cookie": cookie, "Cache-Control": "no-store"}
    return Response(status=HTTPStatus.SEE_OTHER, headers=headers)


def _attributes(scope: Scope, headers: Headers) -> str:
    """Return the attributes of the cookie. Over TLS, also if another program ends the TLS, it never goes without."""
    is_tls = "https" in {scope.get("scheme"), headers.get("x-forwarded-proto")}
    return f"Path=/; HttpOnly; SameSite=Strict{'; Secure' if is_tls else ''}"


def _page(title: str, form: str, alert: str = "", status: int = HTTPStatus.OK) -> Response:
    alert_text = f'<p role="alert"><strong>{alert}</strong></p>' if alert else ""
    content = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>pflab: {title.lower()}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head>\n'
        f"<body><main><h1>{title}</h1>\n{alert_text}{form}\n</main></body></html>\n"
    )
    return Response(content, status, headers=_HEADERS, media_type="text/html; charset=utf-8")


async def _body(receive: Receive) -> bytes:
    content = bytearray()
    more = True
    while more:
        message = await receive()
        content += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(content)


def _token_in(form: bytes) -> str:
    """Return the field `token` of a form; '' if it has none."""
    try:
        fields = parse_qs(form.decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:
        return ""
    return fields.get("token", [""])[0].strip()
