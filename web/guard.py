"""Who may ask, and what a browser may do with the answer."""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing from anywhere else is loaded or run, nothing inline, and nobody shows our pages in theirs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # a site that is visited from here learns nothing of what was asked
    "x-content-type-options": "nosniff",
}
COOKIE = "winnow-token"
LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))


class Guard:
    """Around the application. A request is let in that names a host of ours (else a page of somebody else could have
    its name lead here, and read), comes with the token where there is one, and, if it sends something, from our own
    pages or from no page at all."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] | None, token: str | None, most: int) -> None:
        """`hosts` None: any. `most`: bytes of a body."""
        self._app = app
        self._hosts = hosts
        self._token = token
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "private, no-cache")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _bounded(receive, self._most), send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._hosts is not None and _host(headers.get("host", "")) not in self._hosts:
            return PlainTextResponse("This server is not asked by that name: see --host of winnow serve.\n", 421)
        if int(headers.get("content-length") or 0) > self._most:
            return PlainTextResponse(f"At most {self._most:,} bytes can be sent.\n", 413)
        if self._token is not None and (refusal := self._admission(scope, headers)) is not None:
            return refusal
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and _is_from_elsewhere(headers):
            return PlainTextResponse("Only pages of this server may send something to it.\n", 403)
        return None

    def _admission(self, scope: Scope, headers: Headers) -> Response | None:
        """The address with the token is for the first visit: it becomes a cookie, and is not seen again."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if scope["method"] == "GET" and given and self._is_token(given[0]):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            path = "/" + scope["path"].lstrip("/\\")  # with more slashes it would be an address elsewhere
            response = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            response.set_cookie(COOKIE, given[0], httponly=True, samesite="strict")
            return response
        if self._is_known(headers):
            return None
        message = "A token is needed: open the address that winnow serve has printed, or send it as a bearer token.\n"
        return PlainTextResponse(message, 401, {"www-authenticate": "Bearer"})

    def _is_known(self, headers: Headers) -> bool:
        given = headers.get("authorization", "")
        if given[:7].lower() == "bearer ":
            return self._is_token(given[7:].strip())
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())


def _host(header: str) -> str:
    """Without its port."""
    name, separator, port = header.rpartition(":")
    return (name if separator and port.isdigit() else header).lower()


def _is_from_elsewhere(headers: Headers) -> bool:
    """Browsers say where a form is from; programs do not, and are no danger to somebody's browser."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


def _bounded(receive: Receive, most: int) -> Receive:
    """A body without a length may turn out too long: it then ends as if the sender had gone."""
    left = most

    async def receive_bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return receive_bounded
