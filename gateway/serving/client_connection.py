"""A client's connection that knows how long the gateway has been waiting for the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import RequestHandler, _ErrInfo

from opensearch_winnow.foundation.client_pace import is_too_slow
from opensearch_winnow.gateway.limits import MAX_HEAD_BYTES, MEMORY_PER_HEAD_BYTE, Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget

UNREAD_SECONDS = 0.5  # without reading or sending, after which a client's connection may be closed to make room


class ClientConnection(RequestHandler):
    """An HTTP connection that can tell whether its client is late. A slow engine is never the client's fault."""

    def __init__(
        self,
        *arguments: Any,
        limits: Limits,
        budget: MemoryBudget,
        closed: Callable[[ClientConnection], None],
        **options: Any,
    ) -> None:
        super().__init__(*arguments, keepalive_timeout=limits.idle_seconds, **options)
        now = self._loop.time()
        self._limits = limits
        self._closed = closed
        self._head_bytes = 0
        self._head = budget.reservation()  # for a head that comes in pieces
        # When a head began to arrive, or should have; None: the next one need not come yet.
        self._head_since: float | None = now
        self._idle_since = now  # when the last answer ended, or the connection was made
        self._received = 0
        self._received_at = now
        self._unread_since: float | None = None  # when the client stopped reading
        self._looked_at: tuple[object, int, int, int] | None = None  # the state at the last check

    # --- events -------------------------------------------------------------------------------------------------------

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._head.shrink()
        self._closed(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._received += len(data)
        self._received_at = self._loop.time()
        if self._has_request:
            if self._head_since is not None:
                self._head_since = None
                self._head.shrink()
            return
        if self._head_since is None:
            self._head_since = self._received_at
            self._head_bytes = 0
        # Usually all of the head comes at once. The parser limits each header, but not all of them together.
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse_head()
        elif not self._head.grow(MEMORY_PER_HEAD_BYTE * len(data)):
            self.abort()

    def _refuse_head(self) -> None:
        """Let the request be refused as if the parser had refused it."""
        error = LineTooLong("the headers", MAX_HEAD_BYTES)
        self._request_count += 1
        self._messages.append((_ErrInfo(400, error, f"more than {MAX_HEAD_BYTES:,} bytes of headers"), EMPTY_PAYLOAD))
        if self._waiter is not None:
            self._waiter.set_result(None)

    def resume_reading(self, resume_parser: bool = True) -> None:
        self._looked_at = None  # it had to wait for the engine: its time begins anew
        self._received_at = self._loop.time()
        super().resume_reading(resume_parser)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_since = self._loop.time()

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._idle_since = self._loop.time()
            self._head_since = None

    def abort(self) -> None:
        """Close the connection at once; unsent bytes are lost."""
        if self.transport is not None:
            self.transport.abort()

    # --- late clients -------------------------------------------------------------------------------------------------

    @property
    def _has_request(self) -> bool:
        """True if a request has arrived, or at least its head."""
        return self._request_count > 0 and (self._waiter is None or self._waiter.done())

    @property
    def _sends_body(self) -> bool:
        """True if a part of a body is missing, and only the client delays it."""
        request = self._current_request
        return request is not None and not request.content.is_eof() and not self._reading_paused

    def waiting_since(self, now: float) -> float | None:
        """Return the time since when the gateway has waited for the client; None while it answers a request."""
        if not self._has_request:
            return self._idle_since
        late = self._received_at if self._sends_body else self._unread_since
        return late if late is not None and now - late >= UNREAD_SECONDS else None

    def is_late(self, now: float) -> bool:
        """Return whether the client takes too long. Call it every `check_seconds`."""
        before, self._looked_at = self._looked_at, None
        if not self._has_request and not self._unsent:
            return self._head_since is not None and now - self._head_since > self._limits.head_seconds
        request = self._current_request
        sent = 0 if request is None else request.writer.output_size
        self._looked_at = (request, self._received, sent, self._unsent)
        if before is None or before[0] is not request:
            return False
        _, received_before, sent_before, unsent_before = before
        if unsent_before:
            return is_too_slow(unsent_before + sent - sent_before - self._unsent, left=unsent_before)
        if not self._sends_body:
            return False
        if sent:  # a stream in both directions, such as _bulk/stream, whose client sends at its own pace
            return now - self._received_at > self._limits.idle_seconds
        return is_too_slow(self._received - received_before)

    @property
    def _unsent(self) -> int:
        transport = self.transport
        return 0 if transport is None else transport.get_write_buffer_size()
