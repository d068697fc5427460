"""The screen that tells where a page is now: the later pages that have its text or a part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.asking.locate import LocatedDocument, located_document, located_summary
from opensearch_winnow.answers.asking.page_answer import page_facts
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.locate import Located
from opensearch_winnow.web.page_header import LOCATE, other_page_tabs, page_subject
from opensearch_winnow.web.parameters import integer
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.asking.page import URL_AND_TIME, page_by_url

MAX_FOUND = 1_000


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, request["id"])


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, page_by_url(index, request).id)


def _answer(index: Index, request: ScreenRequest, id_: str) -> ScreenAnswer:
    located = index.locate(id=id_, limit=request["limit"], max_seconds=request.state.max_seconds)
    document = located_document(index, located)
    return ScreenAnswer(document, lambda: _template_values(index, located, document))


def _template_values(index: Index, located: Located, document: LocatedDocument) -> Mapping[str, Any]:
    page = located.page
    (latest,) = index.captures(page.url, limit=1)
    return {
        "subject": page_subject(page_facts(page, index.scheme), index.scheme, latest.id),
        "tabs": other_page_tabs(page.id, LOCATE),
        "heading": located_summary(document),
    }


def left_out(document: LocatedDocument) -> str:
    return more_than_listed(document["total"] - len(document["found"]), "page")


def table(document: LocatedDocument) -> Iterator[Sequence[Cell]]:
    names = ("change", "resemblance", "containment", "contained", "kind", "error", "fetched_at", "first_seen", "crawl")
    columns = (*names, "url", "title", "id")
    yield columns
    for each in document["found"]:
        yield [each[name] for name in columns]  # type: ignore[literal-required]


PARAMETERS = (integer("limit", "number of pages, the best", default=20, minimum=1, maximum=MAX_FOUND),)
SCREEN = Screen(
    name="locate",
    path="/page/{id}/locate",
    api="/pages/{id}/locate",
    summary="Where a page is now: the later pages that have its text or a part of it",
    answer=answer,
    returns=LocatedDocument,
    heavy=True,
    table=table,
    left_out=left_out,
    parameters=PARAMETERS,
)
BY_URL = Screen(
    name="locate_url",
    path="",
    api="/locate",
    summary="Where the page of a URL is now: the later pages that have its text or a part of it",
    answer=answer_by_url,
    returns=LocatedDocument,
    heavy=True,
    parameters=(*URL_AND_TIME, *PARAMETERS),
)
