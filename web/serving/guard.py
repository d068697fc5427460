"""Decides which requests are let in, and limits what a browser may do with the answers."""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opensearch_winnow.web.serving.body_memory import BodyMemory, HeldMemory
from opensearch_winnow.web.serving.refusal import Refuse

# Load and run only files of this server, nothing inline, and let no other site embed our pages.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # linked sites do not learn the words of a search
    "x-content-type-options": "nosniff",
}
COOKIE = "winnow-token"
# A browser shows the answer to a form only after it has sent all of it, so this much of a long one is read and dropped.
MAX_DROPPED_BYTES = 200_000_000
MAX_IDLE_SECONDS = 2  # without a byte of it


class Guard:
    """ASGI middleware that rejects unwanted requests and adds security headers to every response.

    A request must name one of `hosts` (otherwise a foreign site could point its own name at this server and read the
    answers), carry the token if there is one, and, if it is a POST, come from our own pages or from no page at all.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str] | None,
        token: str | None,
        max_body_bytes: int,
        bodies: BodyMemory,
        refuse: Refuse,
    ) -> None:
        """With `hosts` None any host name is accepted. `bodies` limits the memory for the bodies of all requests.
        `refuse` makes the answer to an unwanted request."""
        self._app = app
        self._hosts = hosts
        self._token = token
        self._max_body_bytes = max_body_bytes
        self._bodies = bodies
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**HEADERS, "cache-control": "private, no-cache"}.items():
                    headers.setdefault(name, value)
            await send(message)

        rejection = self._reject(scope)
        if rejection is not None:
            await rejection(scope, receive, _dropping_body(receive, send_guarded))
            return
        held = self._bodies.hold(scope)
        try:
            await self._app(scope, _bounded(receive, self._max_body_bytes, held), send_guarded)
        finally:
            held.give_back()

    def _reject(self, scope: Scope) -> Response | None:
        """Return the response to an unwanted request, or None to let it in."""
        headers = Headers(scope=scope)
        if self._hosts is not None and _host(headers.get("host", "")) not in self._hosts:
            sentence = "This server does not answer to that host name: see winnow serve --host."
            return self._refuse(scope, 421, sentence, {})
        if self._token is not None and (response := self._check_token(scope, headers)) is not None:
            return response
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and _is_cross_site(headers):
            return self._refuse(scope, 403, "Only pages of this server may send forms to it.", {})
        if int(headers.get("content-length") or 0) > self._max_body_bytes:
            return self._refuse(scope, 413, too_large(self._max_body_bytes), {})
        return None

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Return None if the request carries the token, and otherwise the response to send.

        The first visit has the token in its address: it becomes a cookie, and a redirect removes it from the address.
        """
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == "token"]
        if scope["method"] == "GET" and tokens and self._is_token(tokens[0]):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            path = "/" + scope["path"].lstrip("/\\")  # with two slashes it would be the address of another host
            response = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            response.set_cookie(COOKIE, tokens[0], httponly=True, samesite="strict", secure=scope["scheme"] == "https")
            return response
        if self._has_token(headers):
            return None
        sentence = "A token is required: open the address that winnow serve printed, or send it as a bearer token."
        return self._refuse(scope, 401, sentence, {"www-authenticate": "Bearer"})

    def _has_token(self, headers: Headers) -> bool:
        authorization = headers.get("authorization", "")
        if authorization[:7].lower() == "bearer ":
            return self._is_token(authorization[7:].strip())
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, candidate: str) -> bool:
        return self._token is not None and hmac.compare_digest(candidate.encode(), self._token.encode())


def too_large(max_body_bytes: int) -> str:
    return f"At most {max_body_bytes / 1_000_000:g} MB can be sent at once: send a part of the text, or a smaller file."


def _host(header: str) -> str:
    """Return the host name of a Host header, without the port."""
    name, separator, port = header.rpartition(":")
    return (name if separator and port.isdigit() else header).lower()


def _is_cross_site(headers: Headers) -> bool:
    """Return whether a browser sent this from a page of another site. Programs send no origin and pass."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


def _bounded(receive: Receive, max_bytes: int, held: HeldMemory) -> Receive:
    """Wrap `receive` to disconnect after `max_bytes`: a body without a content length may turn out too long. Received
    bytes are held."""
    left = max_bytes

    async def receive_bounded() -> Message:
        nonlocal left
        message = await receive()
        size = len(message.get("body", b""))
        left -= size
        held.take(size)
        return message if left >= 0 else {"type": "http.disconnect"}

    return receive_bounded


def _dropping_body(receive: Receive, send: Send) -> Send:
    """Wrap `send` to read and drop the body of the request before the response ends, which closes the connection."""

    async def send_before_end(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        left, more = MAX_DROPPED_BYTES, True
        while more and left > 0:
            more = False
            with anyio.move_on_after(MAX_IDLE_SECONDS):
                received = await receive()
                left -= len(received.get("body", b""))
                more = received.get("more_body", False)
        await send({"type": "http.response.body", "body": b""})

    return send_before_end
