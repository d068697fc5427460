"""The screen that shows where a page is now: the later pages that have its text or a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearch_winnow.answers.asking.locate import located_summary
from opensearch_winnow.answers.asking.page_answer import page_facts
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.locate import Located, LostPage
from opensearch_winnow.web.page_header import LOCATE, other_page_tabs, page_subject
from opensearch_winnow.web.parameters import of_options
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.asking.page import URL_AND_TIME, page_by_url

MAX_FOUND = 1_000


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, request["id"])


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, page_by_url(index, request).id)


def _answer(index: Index, request: ScreenRequest, id_: str) -> ScreenAnswer:
    located = index.locate(request.options(LostPage, id=id_, at=None, max_seconds=request.state.max_seconds))
    return ScreenAnswer(located, lambda: _template_values(index, located))


def _template_values(index: Index, located: Located) -> Mapping[str, Any]:
    page = located.page
    (latest,) = index.captures(page.url, limit=1)
    return {
        "subject": page_subject(page_facts(page, index.scheme), index.scheme, latest.id),
        "tabs": other_page_tabs(page.id, LOCATE),
        "heading": located_summary(located),
    }


PARAMETERS = of_options(LostPage, "limit", at_most={"limit": MAX_FOUND})
SCREEN = Screen(
    name="locate",
    path="/page/{id}/locate",
    api="/pages/{id}/locate",
    summary="The later pages that have the text of a page or a part of it",
    answer=answer,
    returns=Located,
    heavy=True,
    left_out=lambda located: more_than_listed(located.total - len(located), "page"),
    parameters=PARAMETERS,
)
BY_URL = Screen(
    name="locate_url",
    path="",
    api="/locate",
    summary="The later pages that have the text of the page of a URL or a part of it",
    answer=answer_by_url,
    returns=Located,
    heavy=True,
    parameters=(*URL_AND_TIME, *PARAMETERS),
)
