"""Builds the web application: lists its screens, redirects and actions, and answers their requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar
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

from opensearch_winnow.foundation.cancellation import CancelledError
from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.page_finder import PageNotFoundError
from opensearch_winnow.operations.watches import WatchError
from opensearch_winnow.queries.boilerplate import BoilerplateError
from opensearch_winnow.stores.store import StoreError
from opensearch_winnow.web.form import FormError, read_form
from opensearch_winnow.web.formats import Format, encode_answer, encode_json
from opensearch_winnow.web.guard import LOOPBACK, Guard, too_large
from opensearch_winnow.web.index_threads import BusyError, IndexThreads
from opensearch_winnow.web.openapi import openapi
from opensearch_winnow.web.pages import STATIC, Pages
from opensearch_winnow.web.parameters import ParameterError
from opensearch_winnow.web.refusal import is_for_programs, refusals
from opensearch_winnow.web.screen import Action, NotFoundError, Redirect, Screen, SuggestedLink
from opensearch_winnow.web.screen_request import Fault, ScreenRequest, ServerState
from opensearch_winnow.web.screens import (
    api,
    changes,
    cluster,
    clusters,
    compare,
    differences,
    fields,
    health,
    history,
    home,
    locate,
    page,
    paste,
    search,
    sent_texts,
    statistics,
    versions,
    watch_log,
    watches,
)
from opensearch_winnow.web.sent_json import read_json
from opensearch_winnow.web.store_name import StoreName

API = "/api/v1"
MAX_BODY_BYTES = 16_000_000  # of a pasted text or an uploaded file
MIN_COMPRESSED_BYTES = 1_000  # a smaller answer fits into one packet anyway
COMPRESSION_LEVEL = 5  # higher ones take longer, for hardly fewer bytes
THREADS = 4  # requests answered at a time: most of the work is native code, which releases the GIL
MAX_WAITING_REQUESTS = 200
MAX_SECONDS = 30.0  # for the comparisons of one question; then the answer is what was found until then
STOPPING = "The server is stopping."
CLIENT_GONE = 499  # as nginx calls it; nobody sees this status
READ_ONLY = "This server is read-only: start it with winnow serve --write to allow changes to the store."
LOG = logging.getLogger("opensearch_winnow.web")

STATELESS: tuple[Screen, ...] = (fields.SCREEN, sent_texts.SCREEN, health.SCREEN)  # they need no store
ANSWERING: tuple[Screen, ...] = (
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
    *STATELESS,
)
SCREENS: tuple[Screen, ...] = (*ANSWERING, api.api_screen(ANSWERING, API))
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


class UnexpectedError(Exception):
    """A bug in this program, raised while a request was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Which store is served, and who may use it."""

    open_index: Callable[[], Index]
    store: str  # its full name; visitors see a shorter one
    screens: tuple[Screen, ...] = SCREENS  # without a store: STATELESS
    may_write: bool = False
    token: str | None = None  # required from everybody, if set
    max_seconds: float = MAX_SECONDS
    hosts: frozenset[str] | None = LOOPBACK  # host names that the server answers to; None: any


class ImmutableFiles(StaticFiles):
    """Static files that a browser may cache forever: their addresses contain their version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def make_app(options: ServerOptions) -> Starlette:
    """Return the ASGI application that serves the store."""
    store = StoreName.of(options.store)

    def open_index() -> Index:
        index = options.open_index()
        index.name = store.shown  # in messages
        return index

    threads = IndexThreads(open_index, store=store.full, threads=THREADS, max_waiting=MAX_WAITING_REQUESTS)
    pages = Pages(store=store.shown, may_write=options.may_write, needs_token=options.token is not None)
    endpoints = Endpoints(options, store, threads, pages)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(endpoints.close)
        await run_in_threadpool(threads.close)

    app = Starlette(
        routes=[*endpoints.routes(), Mount("/static", ImmutableFiles(directory=STATIC))],
        lifespan=lifespan,
        middleware=[
            Middleware(
                Guard,
                hosts=options.hosts,
                token=options.token,
                max_body_bytes=MAX_BODY_BYTES,
                refuse=refusals(pages),
            ),
            Middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=COMPRESSION_LEVEL),
        ],
        exception_handlers=dict.fromkeys((WinnowError, HTTPException, UnexpectedError), endpoints.report_error),
    )
    app.state.cancel_questions = threads.cancel
    return app


class Endpoints:
    """Parses requests, runs them in the index threads, and encodes the answers."""

    def __init__(self, options: ServerOptions, store: StoreName, threads: IndexThreads, pages: Pages) -> None:
        self._threads = threads
        self._may_write = options.may_write
        self._state = ServerState.of(options.open_index, store, options.max_seconds)
        self._pages = pages
        self._screens = options.screens
        self._has_store = options.screens is SCREENS

    def routes(self) -> Iterator[BaseRoute]:
        for screen in self._screens:
            show = partial(self._show, screen)
            method = screen.method
            if screen.api:
                yield route(f"{API}{screen.api}", partial(show, "json", api=True), method)
            if screen.path:
                yield route(f"{screen.path}.json", partial(show, "json"), method)
            if screen.table is not None:
                yield route(f"{screen.path}.csv", partial(show, "csv"), method)
            if screen.path:  # last: the pattern {id} also matches "ID.json"
                yield route(screen.path, partial(show, "html"), method)
        for redirect in REDIRECTS if self._has_store else ():
            yield route(redirect.path, partial(self._redirect, redirect))
        for action in ACTIONS if self._has_store else ():
            yield route(action.path, partial(self._act, action), "POST")
        yield route(f"{API}/openapi.json", self._describe)
        if not self._has_store:
            yield route("/", self._describe)  # there is no screen to open

    async def _show(self, screen: Screen, form: Format, request: Request, *, api: bool = False) -> Response:
        sent: dict[str, str | bytes] = {}
        if screen.sends:
            sent = await (read_json(request, MAX_BODY_BYTES) if screen.sends_json else read_form(request))
        return await self._show_parsed(screen, form, request, self._parse(screen, request, sent, strict=api))

    async def _show_parsed(self, screen: Screen, form: Format, request: Request, parsed: ScreenRequest) -> Response:
        def answer(index: Index) -> Response:
            instead = self._instead(screen, index, parsed) if form == "html" else None
            if instead is not None:
                return RedirectResponse(instead, 303)
            return encode_answer(screen, form, screen.answer(index, parsed), parsed, self._pages)

        return await self._run(request, answer, heavy=screen.heavy)

    async def _run(self, request: Request, function: Callable[[Index], Result], *, heavy: bool = False) -> Result:
        """Run `function` in a thread until it ends or the client is gone. All of the request must have been read."""
        running = asyncio.ensure_future(self._threads.run(function, heavy=heavy))
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

    def _instead(self, screen: Screen, index: Index, request: ScreenRequest) -> str | None:
        """Return where to send a browser: to what was meant, or to this request without needless parameters."""
        meant = screen.instead(index, request) if screen.instead else None
        return request.link() if meant is None and not request.is_clean else meant

    async def _redirect(self, redirect: Redirect, request: Request) -> Response:
        screen_request = self._parse(redirect, request, {})
        return RedirectResponse(await self._run(request, lambda index: redirect.target(index, screen_request)), 303)

    def _parse(
        self,
        screen: Screen | Redirect,
        request: Request,
        form: dict[str, str | bytes],
        *,
        strict: bool = False,
        fault: Fault | None = None,
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
        )

    def close(self) -> None:
        self._state.clustering.close()

    async def _act(self, action: Action, request: Request) -> Response:
        if action.writes and not self._may_write:
            raise HTTPException(403, READ_ONLY)
        form = await read_form(request)
        screen_request = ScreenRequest(action.path, request.path_params, {}, form, self._state)
        try:
            target = await self._run(request, lambda index: action.act(index, screen_request), heavy=action.heavy)
            return RedirectResponse(target, 303)
        except WinnowError as error:
            status, sentence = self._status_and_message(error)
            if action.screen is None or status != 400:
                raise
            fault = Fault(sentence, error.field if isinstance(error, FormError) else "")
        response = await self._show_parsed(
            action.screen, "html", request, self._parse(action.screen, request, form, fault=fault)
        )
        response.status_code = status
        return response

    async def _describe(self, _request: Request) -> Response:
        return Response(self._openapi, media_type="application/json")

    @cached_property
    def _openapi(self) -> bytes:
        return openapi(self._screens, API)

    async def report_error(self, request: Request, error: Exception) -> Response:
        """Answer a request that failed, with a page or a JSON object that says why."""
        status, sentence = self._status_and_message(error)
        if status == 500:
            LOG.error("could not answer %s", request.url.path, exc_info=error.__cause__ or error)
        headers = {"retry-after": "2"} if status == 503 else {}
        if is_for_programs(request.url.path) or not self._has_store:
            return Response(encode_json({"error": sentence}), status, headers, "application/json")
        links = suggested_links(error)
        html = self._pages.render("error", status=status, sentence=sentence, links=links, retry=str(request.url))
        return Response(html, status, headers, "text/html")

    def _status_and_message(self, error: Exception) -> tuple[int, str]:
        status, message = status_and_message(error)
        return status, self._state.store.shorten(message)


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
    """Return where to go instead of what was not found."""
    if isinstance(error, PageNotFoundError) and error.known is not None:
        return [SuggestedLink(f"/page?{urlencode({'url': error.known})}", error.known)]
    return error.links if isinstance(error, NotFoundError) else ()


def status_and_message(error: Exception) -> tuple[int, str]:
    """Return the HTTP status for an error, and the message to show."""
    match error:
        case HTTPException():
            messages = {
                404: "There is no page at this address.",
                405: "This address does not support that method.",
                413: too_large(MAX_BODY_BYTES),
            }
            return error.status_code, messages.get(error.status_code, error.detail)
        case NotFoundError() | PageNotFoundError():
            return 404, str(error)
        case ParameterError() | QuestionError() | BoilerplateError() | FormError() | WatchError():
            return 400, str(error)
        case BusyError() | StoreError():
            return 503, str(error)
        case CancelledError():
            return 503, STOPPING
        case WinnowError():
            return 500, str(error)
    return 500, "This is a bug in winnow. The log of winnow serve has the details."
