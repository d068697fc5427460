"""Builds the web application: lists its screens, redirects and actions, and answers their requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cached_property, partial
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.page_finder import PageNotFoundError
from opensearch_winnow.web.form import MAX_BODY_BYTES, FormError, read_form
from opensearch_winnow.web.openapi import openapi
from opensearch_winnow.web.pages import STATIC, Pages
from opensearch_winnow.web.screen import Action, NotFoundError, Redirect, Screen, SuggestedLink
from opensearch_winnow.web.screen_request import Fault, ScreenRequest, ServerState
from opensearch_winnow.web.screens.asking import (
    compare,
    differences,
    history,
    locate,
    page,
    paste,
    versions,
    watch_log,
    watches,
)
from opensearch_winnow.web.screens.clusters import cluster, clusters
from opensearch_winnow.web.screens.crawls import changes
from opensearch_winnow.web.screens.own_index import fields, sent_texts
from opensearch_winnow.web.screens.searching import home, search
from opensearch_winnow.web.screens.upkeep import api, health, statistics
from opensearch_winnow.web.sent_json import read_json
from opensearch_winnow.web.served import HasScheme, OnlyScheme, ServedStore
from opensearch_winnow.web.server_options import ServerOptions
from opensearch_winnow.web.server_threads import ServerThreads
from opensearch_winnow.web.serving.batch import Batch
from opensearch_winnow.web.serving.body_memory import BodyMemory, held_memory
from opensearch_winnow.web.serving.error_status import STOPPING, capitalized, status_and_message
from opensearch_winnow.web.serving.formats import Format, encode_answer, encode_json
from opensearch_winnow.web.serving.guard import Guard
from opensearch_winnow.web.serving.pieces_response import PiecesResponse
from opensearch_winnow.web.serving.refusal import is_for_programs, refusals

API = "/api/v1"
# Of all requests that are being read or answered: 20 of the largest. Most bodies are texts of some kilobytes.
MAX_BODIES_BYTES = 20 * MAX_BODY_BYTES
MAX_WHOLE_BYTES = 64_000_000  # of an answer to a batch for a client that cannot be sent it in pieces
MIN_COMPRESSED_BYTES = 1_000  # a smaller answer fits into one packet anyway
COMPRESSION_LEVEL = 5  # higher ones take longer, for hardly fewer bytes
THREADS = 4  # requests answered at a time: most of the work is native code, which releases the GIL
MAX_WAITING_REQUESTS = 200
CLIENT_GONE = 499  # nginx's number for it; no client receives it
READ_ONLY = "This server is read-only: start it with winnow serve --write to allow changes to the store."
LOG = logging.getLogger("opensearch_winnow.web")

STATELESS: tuple[Screen[HasScheme], ...] = (fields.SCREEN, sent_texts.WITHOUT_STORE, health.SCREEN)
ANSWERING: tuple[Screen[Index], ...] = (
    home.SCREEN,
    search.SCREEN,
    search.SUGGEST,
    page.SCREEN,
    page.BY_URL,
    page.SIMILAR,
    differences.SCREEN,
    history.SCREEN,
    versions.SCREEN,
    versions.BY_URL,
    versions.OF_TEXT,
    locate.SCREEN,
    locate.BY_URL,
    compare.SCREEN,
    compare.BY_URL,
    paste.FORM,
    paste.SCREEN,
    paste.QUOTES,
    clusters.SCREEN,
    cluster.SCREEN,
    changes.SCREEN,
    statistics.SCREEN,
    watches.SCREEN,
    watch_log.SCREEN,
    fields.SCREEN,
    sent_texts.SCREEN,
    health.SCREEN,
)
SCREENS: tuple[Screen[Index], ...] = (*ANSWERING, api.api_screen(ANSWERING, API))
REDIRECTS: tuple[Redirect, ...] = (page.REDIRECT, compare.REDIRECT)
ACTIONS: tuple[Action, ...] = (
    *compare.ACTIONS,
    paste.PASTE,
    clusters.START,
    clusters.STOP,
    statistics.COUNT_AGAIN,
    *watches.ACTIONS,
)

Endpoint = Callable[[Request], Awaitable[Response]]
Result = TypeVar("Result")
Served = TypeVar("Served")  # the index, or only the scheme, that screens answer from


class UnexpectedError(Exception):
    """A bug in this program, raised while a request was answered."""


DEFAULT_OPTIONS = ServerOptions()


class ImmutableFiles(StaticFiles):
    """Static files that a browser may cache forever: their addresses contain their version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def make_app(store: ServedStore, options: ServerOptions = DEFAULT_OPTIONS) -> Starlette:
    """Return the ASGI application that serves a store."""
    name = store.shown_name
    return _app(
        StoreEndpoints(
            SCREENS,
            _threads(store.open_index, store.name),
            Pages(store=name, may_write=options.write, needs_token=options.token is not None),
            ServerState.of(store, options.max_seconds),
            may_write=options.write,
        ),
        options,
    )


def make_stateless_app(scheme: Scheme, options: ServerOptions = DEFAULT_OPTIONS) -> Starlette:
    """Return the ASGI application that computes with a scheme, and serves no store."""
    pages = Pages(store="no store", may_write=False, needs_token=options.token is not None)
    return _app(Endpoints(STATELESS, _threads(lambda: nullcontext(OnlyScheme(scheme))), pages), options)


def _threads(open_: Callable[[], AbstractContextManager[Served]], store: str | None = None) -> ServerThreads[Served]:
    return ServerThreads(open_, store=store, threads=THREADS, max_waiting=MAX_WAITING_REQUESTS)


def _app(endpoints: Endpoints[Any], options: ServerOptions) -> Starlette:
    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(endpoints.close)

    app = Starlette(
        routes=[*endpoints.routes(), Mount("/static", ImmutableFiles(directory=STATIC))],
        lifespan=lifespan,
        middleware=[
            Middleware(
                Guard,
                hosts=options.hosts,
                token=options.token,
                max_body_bytes=MAX_BODY_BYTES,
                bodies=BodyMemory(MAX_BODIES_BYTES),
                refuse=refusals(endpoints.pages),
            ),
            Middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=COMPRESSION_LEVEL),
        ],
        exception_handlers=dict.fromkeys((WinnowError, HTTPException, UnexpectedError), endpoints.report_error),
    )
    app.state.cancel_questions = endpoints.threads.cancel
    return app


class Endpoints(Generic[Served]):
    """Parses requests, runs them in the server's threads, and encodes the answers."""

    def __init__(
        self,
        screens: Sequence[Screen[Served]],
        threads: ServerThreads[Served],
        pages: Pages,
        state: ServerState | None = None,
    ) -> None:
        self.threads = threads
        self.pages = pages
        self._screens = screens
        self._has_pages = any(screen.path for screen in screens)
        self._state = state

    def routes(self) -> Iterator[BaseRoute]:
        for screen in self._screens:
            show = partial(self._show, screen)
            method = screen.method
            if screen.api:
                yield route(f"{API}{screen.api}", partial(show, "json", api=True), method)
            if screen.path:
                yield route(f"{screen.path}.json", partial(show, "json"), method)
            if screen.has_table:
                yield route(f"{screen.path}.csv", partial(show, "csv"), method)
            if screen.path:  # last: the pattern {id} also matches "ID.json"
                yield route(screen.path, partial(show, "html"), method)
        yield route(f"{API}/openapi.json", self._describe)
        if not self._has_pages:
            yield route("/", self._describe)  # there is no screen to open

    async def _show(self, screen: Screen[Served], form: Format, request: Request, *, api: bool = False) -> Response:
        sent: dict[str, str | bytes] = {}
        if screen.sends:
            sent = await (read_json(request) if screen.sends_json else read_form(request))
        try:
            whole_limit = screen.whole_limit if form == "csv" else None
            parsed = self._parse(screen, request, sent, strict=api, whole_limit=whole_limit)
            return await self._show_parsed(screen, form, request, parsed)
        except WinnowError as error:
            status, sentence = status_and_message(error)
            if status != 400 or form != "html" or not screen.keeps_form:
                raise
            fault = Fault(capitalized(error, sentence))
        return await self._show_again(screen, request, self._parse(screen, request, sent, fault=fault))

    async def _show_again(self, screen: Screen[Served], request: Request, parsed: ScreenRequest) -> Response:
        """Show a screen again, with the typed values of its refused form."""
        response = await self._show_parsed(screen, "html", request, parsed)
        if response.status_code == 200:
            response.status_code = 400
        return response

    async def _show_parsed(
        self, screen: Screen[Served], form: Format, request: Request, parsed: ScreenRequest
    ) -> Response:
        def answer(served: Served) -> Response | Batch[Served]:
            instead = self._instead(screen, served, parsed) if form == "html" else None
            if instead is not None:
                return RedirectResponse(instead, 303)
            answered = screen.answer(served, parsed)
            if isinstance(answered.document, Batch):
                return answered.document
            return encode_answer(screen, form, answered, parsed, self.pages)

        answered = await self._run(request, answer, heavy=screen.heavy)
        return answered if isinstance(answered, Response) else await self._answer_each(request, answered)

    async def _answer_each(self, request: Request, batch: Batch[Served]) -> Response:
        """Answer a batch. An error before the first piece has its own status."""
        held_memory(request.scope).take(batch.size)  # held until the client has read all answers
        pieces = self._pieces(request, batch)
        first = await anext(pieces)
        if batch.is_answered:
            return Response(first, media_type=batch.media_type)
        if request.scope["http_version"] == "1.0":
            # The client could not tell a broken-off answer from a complete one, so only a complete one is sent.
            whole = bytearray(first)
            async for piece in pieces:
                whole += piece
                if len(whole) > MAX_WHOLE_BYTES:
                    raise FormError("The answer is too long for HTTP/1.0: use HTTP/1.1, or send fewer at once.")
            return Response(bytes(whole), media_type=batch.media_type)
        return PiecesResponse(first, pieces, media_type=batch.media_type)

    async def _pieces(self, request: Request, batch: Batch[Served]) -> AsyncIterator[bytes]:
        while not batch.is_answered:
            yield await self._run(request, batch.next_piece, heavy=True, goes_on=True)

    async def _run(
        self, request: Request, function: Callable[[Served], Result], *, heavy: bool = False, goes_on: bool = False
    ) -> Result:
        """Run `function` in a thread until it ends or the client is gone. All of the request must have been read."""
        running = asyncio.ensure_future(self.threads.run(function, heavy=heavy, goes_on=goes_on))
        gone = asyncio.ensure_future(disconnected(request))
        try:
            await asyncio.wait((running, gone), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            raise HTTPException(503, STOPPING) from None
        finally:
            gone.cancel()
            left = running.cancel()  # false if it has ended
        if left:
            raise HTTPException(CLIENT_GONE, "The client has closed the connection.")
        return await running

    def _instead(self, screen: Screen[Served], served: Served, request: ScreenRequest) -> str | None:
        """Return the address to redirect a browser to: another screen, or this request without needless parameters."""
        meant = screen.instead(served, request) if screen.instead else None
        return request.link() if meant is None and not request.is_clean else meant

    def _parse(
        self,
        screen: Screen[Served] | Redirect,
        request: Request,
        form: dict[str, str | bytes],
        *,
        strict: bool = False,
        fault: Fault | None = None,
        whole_limit: int | None = None,
    ) -> ScreenRequest:
        path = request.url.path.removesuffix(".json").removesuffix(".csv")
        if fault is not None:  # the form was sent to another address than that of its screen
            path = screen.path.format(**{name: quote(value, safe="") for name, value in request.path_params.items()})
        return ScreenRequest.parse(
            path,
            screen.parameters,
            path_values=request.path_params,
            query=request.query_params,
            strict=strict,
            form=form,
            state=self._state,
            fault=fault,
            repeated=request.query_params.multi_items(),
            origin=str(request.base_url).rstrip("/"),
            whole_limit=whole_limit,
        )

    async def _describe(self, _request: Request) -> Response:
        return Response(self._openapi, media_type="application/json")

    @cached_property
    def _openapi(self) -> bytes:
        return openapi(self._screens, API)

    async def report_error(self, request: Request, error: Exception) -> Response:
        """Answer a failed request with a page or a JSON object that gives the reason."""
        status, sentence = status_and_message(error)
        if status == 500:
            LOG.error("could not answer %s", request.url.path, exc_info=error.__cause__ or error)
        headers = {"retry-after": "2"} if status == 503 else {}
        if is_for_programs(request.url.path) or not self._has_pages:
            return Response(encode_json({"error": sentence}), status, headers, "application/json")
        links = suggested_links(error)
        sentence = capitalized(error, sentence)
        html = self.pages.render("error", status=status, sentence=sentence, links=links, retry=str(request.url))
        return Response(html, status, headers, "text/html")

    def close(self) -> None:
        self.threads.close()


class StoreEndpoints(Endpoints[Index]):
    """Serves a store: redirects and actions, besides screens."""

    def __init__(
        self,
        screens: Sequence[Screen[Index]],
        threads: ServerThreads[Index],
        pages: Pages,
        state: ServerState,
        *,
        may_write: bool,
    ) -> None:
        super().__init__(screens, threads, pages, state)
        self._clustering = state.clustering
        self._may_write = may_write

    def routes(self) -> Iterator[BaseRoute]:
        yield from super().routes()
        for redirect in REDIRECTS:
            yield route(redirect.path, partial(self._redirect, redirect))
        for action in ACTIONS:
            yield route(action.path, partial(self._act, action), "POST")

    async def _redirect(self, redirect: Redirect, request: Request) -> Response:
        screen_request = self._parse(redirect, request, {})
        return RedirectResponse(await self._run(request, lambda index: redirect.target(index, screen_request)), 303)

    async def _act(self, action: Action, request: Request) -> Response:
        if action.writes and not self._may_write:
            raise HTTPException(403, READ_ONLY)
        form = await read_form(request)
        screen_request = ScreenRequest(action.path, request.path_params, {}, form, self._state)
        try:
            target = await self._run(request, lambda index: action.act(index, screen_request), heavy=action.heavy)
            return RedirectResponse(target, 303)
        except WinnowError as error:
            status, sentence = status_and_message(error)
            if action.screen is None or status != 400:
                raise
            fault = Fault(capitalized(error, sentence), error.field if isinstance(error, FormError) else "")
        return await self._show_again(action.screen, request, self._parse(action.screen, request, form, fault=fault))

    def close(self) -> None:
        self._clustering.close()
        super().close()


async def disconnected(request: Request) -> None:
    """Wait until the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def route(path: str, endpoint: Endpoint, method: str = "GET") -> Route:
    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (WinnowError, HTTPException):
            raise
        except Exception as error:  # a bug; Starlette would answer it outside of Guard, without the security headers
            raise UnexpectedError from error

    return Route(path, guarded, methods=[method])


def suggested_links(error: Exception) -> Sequence[SuggestedLink]:
    """Return links to offer instead of a page that was not found."""
    if isinstance(error, PageNotFoundError) and error.known is not None:
        return [SuggestedLink(f"/page?{urlencode({'url': error.known})}", error.known)]
    return error.links if isinstance(error, NotFoundError) else ()
