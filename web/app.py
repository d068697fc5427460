"""The application: screens and actions at their addresses."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.page_finder import PageNotFoundError
from opensearch_winnow.operations.watches import WatchError
from opensearch_winnow.queries.boilerplate import BoilerplateError
from opensearch_winnow.stores.store import StoreError
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.clustering_run import ClusteringRun
from opensearch_winnow.web.form import FormError, form_of
from opensearch_winnow.web.formats import Format, as_json, encoded
from opensearch_winnow.web.guard import LOOPBACK, Guard
from opensearch_winnow.web.index_threads import BusyError, IndexThreads
from opensearch_winnow.web.kept import Kept
from opensearch_winnow.web.openapi import openapi
from opensearch_winnow.web.pages import STATIC, Pages
from opensearch_winnow.web.parameters import ParameterError
from opensearch_winnow.web.screen import Action, NotFoundError, Offer, Screen, Signpost
from opensearch_winnow.web.screens.every import ACTIONS, SCREENS, SIGNPOSTS

API = "/api/v1"
LARGEST = 16_000_000  # bytes of a text that is pasted or sent
THREADS = (
    4  # questions that are answered at a time: most of the work is native code, which other threads need not wait for
)
WAITING = 200  # that may wait besides
READ_ONLY = "This server only reads: start it with winnow serve --write to let it change the store."
LOG = logging.getLogger("opensearch_winnow.web")


Endpoint = Callable[[Request], Awaitable[Response]]


class UnexpectedError(Exception):
    """A fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, and to whom."""

    open_index: Callable[[], Index]
    store: str  # its name, as it is shown
    may_write: bool = False
    token: str | None = None  # that everybody needs
    hosts: frozenset[str] | None = LOOPBACK  # by which it may be asked; None: any


class KeptStatic(StaticFiles):
    """Their addresses have their versions in them: a browser may keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def make_app(serving: Serving) -> Starlette:
    threads = IndexThreads(serving.open_index, threads=THREADS, waiting=WAITING)
    desk = Desk(serving, threads)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(desk.close)
        await run_in_threadpool(threads.close)

    return Starlette(
        routes=[*desk.routes(), Mount("/static", KeptStatic(directory=STATIC))],
        lifespan=lifespan,
        middleware=[Middleware(Guard, hosts=serving.hosts, token=serving.token, most=LARGEST)],
        exception_handlers={WinnowError: desk.refuse, HTTPException: desk.refuse, UnexpectedError: desk.refuse},
    )


class Desk:
    """Takes requests, has them answered, and gives the answer in the form that is wanted."""

    def __init__(self, serving: Serving, threads: IndexThreads) -> None:
        self._threads = threads
        self._may_write = serving.may_write
        self._kept = Kept(ClusteringRun(serving.open_index))
        self._pages = Pages(store=serving.store, may_write=serving.may_write)

    def routes(self) -> Iterator[BaseRoute]:
        for screen in SCREENS:
            show = partial(self._show, screen)
            method = screen.method
            yield route(f"{API}{screen.api}", partial(show, "json", api=True), method)
            if screen.path:
                yield route(f"{screen.path}.json", partial(show, "json"), method)
            if screen.table is not None:
                yield route(f"{screen.path}.csv", partial(show, "csv"), method)
            if screen.path:  # last, since an id would match with its ending, too
                yield route(screen.path, partial(show, "html"), method)
        yield route("/", partial(self._show, SCREENS[0], "html"))
        for signpost in SIGNPOSTS:
            yield route(signpost.path, partial(self._lead, signpost))
        for action in ACTIONS:
            yield route(action.path, partial(self._act, action), "POST")
        yield route(f"{API}/openapi.json", self._describe)

    async def _show(self, screen: Screen, form: Format, request: Request, *, api: bool = False) -> Response:
        asked = self._asked(screen, request, await form_of(request) if screen.sends else {}, strict=api)

        def answer(index: Index) -> Response:
            return encoded(screen, form, screen.answer(index, asked), asked, self._pages)

        return await self._threads.ask(answer)

    async def _lead(self, signpost: Signpost, request: Request) -> Response:
        asked = self._asked(signpost, request, {}, strict=False)
        return RedirectResponse(await self._threads.ask(lambda index: signpost.leads_to(index, asked)), 303)

    def _asked(
        self, screen: Screen | Signpost, request: Request, form: dict[str, str | bytes], *, strict: bool
    ) -> Asked:
        path = request.url.path.removesuffix(".json").removesuffix(".csv")
        return Asked.of(
            path,
            screen.parameters,
            in_path=request.path_params,
            query=request.query_params,
            strict=strict,
            form=form,
            kept=self._kept,
        )

    def close(self) -> None:
        self._kept.clustering.close()

    async def _act(self, action: Action, request: Request) -> Response:
        if action.writes and not self._may_write:
            raise HTTPException(403, READ_ONLY)
        form = await form_of(request)
        asked = Asked(action.path, request.path_params, {}, form, self._kept)
        return RedirectResponse(await self._threads.ask(lambda index: action.act(index, asked)), 303)

    async def _describe(self, _request: Request) -> Response:
        return Response(self._openapi, media_type="application/json")

    @cached_property
    def _openapi(self) -> bytes:
        return openapi(SCREENS, API)

    async def refuse(self, request: Request, error: Exception) -> Response:
        status, sentence = refusal(error)
        if status == 500:
            LOG.error("could not answer %s", request.url.path, exc_info=error.__cause__ or error)
        headers = {"retry-after": "2"} if status == 503 else {}
        if request.url.path.startswith(API) or request.url.path.endswith((".json", ".csv")):
            return Response(as_json({"error": sentence}), status, headers, "application/json")
        offers = offered(error)
        page = self._pages.render("error", status=status, sentence=sentence, offers=offers, again=str(request.url))
        return Response(page, status, headers, "text/html")


def route(path: str, endpoint: Endpoint, method: str = "GET") -> Route:
    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (WinnowError, HTTPException):
            raise
        except Exception as error:  # a fault of ours; left alone, it would be answered outside of the guard
            raise UnexpectedError from error

    return Route(path, guarded, methods=[method])


def offered(error: Exception) -> Sequence[Offer]:
    """What is there, where something else is not."""
    if isinstance(error, PageNotFoundError) and error.known is not None:
        return [Offer(f"/page?{urlencode({'url': error.known})}", error.known)]
    return error.offers if isinstance(error, NotFoundError) else ()


def refusal(error: Exception) -> tuple[int, str]:
    """The status, and what to say."""
    match error:
        case HTTPException():
            said = {404: "There is nothing at this address.", 405: "This cannot be asked in that way."}
            return error.status_code, said.get(error.status_code, error.detail)
        case NotFoundError() | PageNotFoundError():
            return 404, str(error)
        case ParameterError() | QuestionError() | BoilerplateError() | FormError() | WatchError():
            return 400, str(error)
        case BusyError() | StoreError():
            return 503, str(error)
        case WinnowError():
            return 500, str(error)
    return 500, "Something went wrong here; the log of winnow serve has it."
