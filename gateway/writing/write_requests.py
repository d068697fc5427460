"""Handles requests that write documents: documents of attached indices get winnow's fields on the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from logging import getLogger
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_plus

import msgspec
from aiohttp import ClientResponse, web
from multidict import CIMultiDict

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.activity import Activity
from opensearch_winnow.gateway.attached import ClientIndices, find_all
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.engine_connection import Body, EngineConnection
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.filter_path import filtered_apart
from opensearch_winnow.gateway.headers import NOT_SENT, passed_headers, warning
from opensearch_winnow.gateway.limits import MEMORY_PER_BODY, MEMORY_PER_DOCUMENT, Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget, Reservation
from opensearch_winnow.gateway.missing_fields import MissingFields
from opensearch_winnow.gateway.passing import pass_on, send_answer, send_on, streamed_body
from opensearch_winnow.gateway.request_body import NO_MEMORY, BodyStream, UnreadError, decompressed, read_body
from opensearch_winnow.gateway.routes import Write
from opensearch_winnow.gateway.writing.bulk_body import BulkItem
from opensearch_winnow.gateway.writing.sent_writes import Line, send_bulk, send_document
from opensearch_winnow.gateway.writing.writes import Missing, Prepared, Rejected, prepare, prepare_bulk

NOT_ACCEPTED = "the engine does not accept the client's credentials for GET /, or fails"
TOO_LARGE = "with fields, the request would be larger than engines accept (--max-body)"
OTHER_ANSWER = "the client asks for an answer in another form than JSON, which the gateway cannot read"
CHANGING = "the attached index keeps changing"
MAX_PREPARATIONS = 3  # of a request, while its indices change
OTHER_FORMS = ("cbor", "smile", "yaml")  # of answers, by the header `accept` or the parameter `format`

log = getLogger("winnow.gateway")


class WarnedAnswer(NamedTuple):
    """An answer of the engine that is still to be read, and further headers for the client."""

    answer: ClientResponse
    warnings: CIMultiDict[str]


class WriteRequests:
    """Passes requests that write documents on to the engine, with fields where they belong."""

    def __init__(
        self,
        engine: EngineConnection,
        indices_of: Callable[[web.BaseRequest], ClientIndices],
        activity: Activity,
        limits: Limits,
        budget: MemoryBudget,
    ) -> None:
        self._engine = engine
        self._indices_of = indices_of
        self._activity = activity
        self._limits = limits
        self._budget = budget

    async def handle(self, request: web.BaseRequest, write: Write) -> web.StreamResponse:
        """Answer a request."""
        indices = self._indices_of(request)
        if write.kind != "bulk" and write.name is not None and await indices.find_to_write(write.name) is None:
            return await pass_on(request, self._engine, streamed_body(request))
        with self._budget.reservation() as memory:  # which ends before the client reads the answer: it may be slow
            answer = await self._answered(request, write, indices, memory)
        if isinstance(answer, EngineAnswer):
            return await send_answer(request, answer)
        return await send_on(request, *answer)

    async def _answered(
        self, request: web.BaseRequest, write: Write, indices: ClientIndices, memory: Reservation
    ) -> EngineAnswer | WarnedAnswer:
        max_body = self._limits.max_body
        sent = await read_body(request.content, max_body, memory)
        try:
            plain = await self._plain(request, sent, memory)
        except UnreadError as error:
            prepared = await self._unread(request, write, indices, str(error))
        else:
            assert isinstance(sent, bytes)
            send = self._engine.send_for(request.raw_headers, memory)
            preparation = _Preparation(request, write, plain, indices, send)
            prepared = await preparation.prepare()
            if prepared.body is not None and len(prepared.body) > max(max_body, len(plain)):
                prepared = prepared.without_fields(TOO_LARGE)
            if prepared.attached and preparation.wants_another_form:
                prepared = prepared.without_fields(OTHER_ANSWER)
            if write.kind == "bulk" and prepared.missing and preparation.wants_another_form:
                told = await self._searchable({each.name for each in prepared.missing.values()}, send)
                prepared.missing = {number: each for number, each in prepared.missing.items() if each.name in told}
            elif prepared.attached or (write.kind == "bulk" and prepared.missing):
                return await self._checked_answer(request, preparation, prepared, sent, memory)
        path, headers = request.raw_path, passed_headers(request.raw_headers, NOT_SENT)
        if write.kind == "bulk" and self._engine.credentials:
            headers.popall("accept-encoding", None)  # as for an attached index: clients cannot see the difference
        body: Body = sent
        if prepared.body is not None:
            path, headers, body = prepared.path, _headers_for(request, prepared.body), prepared.body
        return self._warned(await self._engine.open(request.method, path, headers, body), prepared)

    async def _plain(self, request: web.BaseRequest, sent: bytes | BodyStream, memory: Reservation) -> bytes:
        """Return the decompressed body, and reserve memory. Raises UnreadError if its documents get no fields."""
        if isinstance(sent, BodyStream):
            raise UnreadError(sent.reason)
        plain = await decompressed(request.headers, sent, self._limits.max_body, self._limits, memory)
        documents = plain.count(b"\n") // 2 + 1
        if documents > self._limits.max_documents:
            raise UnreadError(f"the request has more than {self._limits.max_documents:,} documents")
        if not memory.grow((MEMORY_PER_BODY - 2) * len(plain) + MEMORY_PER_DOCUMENT * documents):
            raise UnreadError(NO_MEMORY)
        return plain

    async def pass_unread(self, request: web.BaseRequest, write: Write) -> web.StreamResponse:
        """Pass on a request of a client that the engine does not accept, so that the engine refuses it."""
        headers = passed_headers(request.raw_headers, NOT_SENT)
        answer = await self._engine.open(request.method, request.raw_path, headers, streamed_body(request))
        prepared = Prepared(request.raw_path, unread=True, problem=Missing(write.name, NOT_ACCEPTED))
        return await send_on(request, *self._warned(answer, prepared))

    async def _unread(self, request: web.BaseRequest, write: Write, indices: ClientIndices, reason: str) -> Prepared:
        """Return a request that passes unread, with a warning unless its path names an index that is not attached."""
        is_told = write.name is None or await indices.find_to_write(write.name) is not None
        if is_told and write.kind == "bulk" and write.name is not None:
            is_told = write.name in await self._searchable({write.name}, self._engine.send_for(request.raw_headers))
        return Prepared(request.raw_path, unread=True, problem=Missing(write.name, reason) if is_told else None)

    async def _searchable(self, names: Collection[str | None], send: Send) -> Collection[str | None]:
        """Return the names that the client may search, for answers that do not show which it may write.

        Clients must not learn facts that the gateway has found with its own credentials.
        """
        if not self._engine.credentials:
            return names
        listed = [name for name in names if name is not None]
        lines = b"".join(msgspec.json.encode({"index": name}) + b'\n{"size":0}\n' for name in listed)
        try:
            answer = await send("POST", "/_msearch", lines)
            responses = answer.json()["responses"] if answer.status == HTTPStatus.OK else []
            return {name for name, each in zip(listed, responses, strict=False) if each["status"] == HTTPStatus.OK}
        except Exception:  # of any kind: the documents are sent in any case
            return ()

    def _warned(self, answer: ClientResponse, prepared: Prepared) -> WarnedAnswer:
        """Count documents that were written without fields; return the engine's answer, with a warning about them."""
        warnings: CIMultiDict[str] = CIMultiDict()
        if answer.status < 300:  # a failed request gets its error only
            missing = prepared.missing_fields()
            self._activity.count_documents(0, missing, unread=prepared.unread, notes=prepared.notes)
            warnings.extend(_warnings(missing))
        return WarnedAnswer(answer, warnings)

    async def _checked_answer(
        self, request: web.BaseRequest, preparation: _Preparation, prepared: Prepared, sent: bytes, memory: Reservation
    ) -> EngineAnswer:
        """Send a request, read the engine's answer, and return the answer for the client."""

        async def send(path: str, body: bytes | None) -> EngineAnswer:
            headers = passed_headers(request.raw_headers, NOT_SENT) if body is None else _headers_for(request, body)
            headers.popall("accept-encoding", None)  # the answer is read here, and every client accepts it uncompressed
            content = sent if body is None else body
            opened = await self._engine.open(request.method, _unfiltered(path), headers, content)
            return await self._engine.whole(opened, memory, is_limited=False)

        async def send_as_it_came() -> EngineAnswer:
            headers = passed_headers(request.raw_headers, NOT_SENT)
            opened = await self._engine.open(request.method, request.raw_path, headers, sent)
            return await self._engine.whole(opened, memory, is_limited=False)

        indices = preparation.indices
        line = Line(send, send_as_it_came, len(sent), indices.find, indices.forget)
        if preparation.write.kind == "bulk":
            answered = await send_bulk(prepared, preparation.prepare_items, line)
        else:
            answered = await send_document(prepared, preparation.prepare, line)
        answer, prepared = answered.answer, answered.prepared
        headers = CIMultiDict(answer.headers)
        if answer.status < 300:
            unread = prepared.unread
            self._activity.count_documents(answered.with_fields, answered.missing, unread=unread, notes=prepared.notes)
            headers.extend(_warnings(answered.missing))
            filter_path = preparation.query.get("filter_path")
            if filter_path and not answered.as_it_came:
                with suppress(QuestionError):  # the documents are written: the whole answer is better than none
                    answer = answer._replace(body=await filtered_apart(answer.body, filter_path))
        memory.shrink(len(answer.body))
        return answer._replace(headers=headers)


class _Preparation:
    """Prepares one request, as often as its indices change on the way."""

    def __init__(self, request: web.BaseRequest, write: Write, body: bytes, indices: ClientIndices, send: Send) -> None:
        self.write = write
        self.indices = indices
        self.query = dict(parse_qsl(request.raw_path.partition("?")[2], keep_blank_values=True))
        self._path = request.raw_path
        self._accept = request.headers.get("accept", "")
        self._body = body
        self._send = send

    @property
    def wants_another_form(self) -> bool:
        """True if the engine will answer in another form than JSON."""
        form = self.query.get("format") or self._accept
        return any(each in form.lower() for each in OTHER_FORMS)

    async def prepare(self) -> Prepared:
        """Return the whole request with fields."""
        find, send = self.indices.find_to_write, self._send
        return await self._up_to_date(lambda: prepare(self.write, self._path, self.query, self._body, find, send))

    async def prepare_items(self, items: Sequence[BulkItem], rejected: Mapping[int, Rejected]) -> Prepared:
        """Return some operations of a bulk request, of which the engine has `rejected` some before."""
        find, send, default = self.indices.find_to_write, self._send, self.write.name
        return await self._up_to_date(
            lambda: prepare_bulk(items, default, self._path, self.query, find, send, rejected), items
        )

    async def _up_to_date(self, work: Callable[[], Awaitable[Prepared]], items: Sequence[BulkItem] = ()) -> Prepared:
        """Return the result of `work`. If the indices have changed meanwhile, `work` is done again."""
        try:
            for tries_left in reversed(range(MAX_PREPARATIONS)):
                prepared = await work()
                used = {each.name: each for each in prepared.attached.values()}
                if await find_all(used, self.indices.find_to_write) == used:
                    return prepared
                if not tries_left:
                    return prepared.without_fields(CHANGING)
            raise AssertionError("the last try returns")
        except Exception as error:  # no error here may keep a document from being written
            reason = str(error)
            if not isinstance(error, GatewayError):
                log.exception("A request passes without fields.")
                reason = "a bug of winnow gateway; its log has the details"
            return Prepared(self._path, items=list(items), unread=True, problem=Missing(self.write.name, reason))


def _headers_for(request: web.BaseRequest, body: bytes) -> CIMultiDict[str]:
    """Return the headers of a request for a body that the gateway has made."""
    headers = passed_headers(request.raw_headers, NOT_SENT)
    headers.popall("content-encoding", None)
    headers["content-length"] = str(len(body))
    return headers


def _unfiltered(path: str) -> str:
    """Return a path whose answer is complete, without `filter_path`."""
    path, _, query = path.partition("?")
    kept = [each for each in query.split("&") if unquote_plus(each.partition("=")[0]) != "filter_path"]
    return f"{path}?{'&'.join(kept)}" if any(kept) else path


def _warnings(missing: MissingFields) -> CIMultiDict[str]:
    sentence = missing.sentence()
    return CIMultiDict({"Warning": warning(sentence)} if sentence else {})
