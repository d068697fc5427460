"""Finds the few words that tell a page from each of its near-duplicates: for the groups of search results."""

from __future__ import annotations

from opensearch_winnow.answers.asking.few_words import PageDifference, PageDifferences, few_words
from opensearch_winnow.index import Index
from opensearch_winnow.web.parameters import string
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_OTHERS = 50
MAX_TEXT_CHARS = 100_000  # of each text that are compared


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"]).text[:MAX_TEXT_CHARS]
    texts = index.texts(request["others"].split(",")[:MAX_OTHERS]) if page else {}
    found = [PageDifference(id_, few_words(page, text[:MAX_TEXT_CHARS])) for id_, text in texts.items() if text]
    return ScreenAnswer(PageDifferences(found))


SCREEN = Screen(
    name="differences",
    path="",
    api="/pages/{id}/differences",
    summary="The differences between a page and others, in a few words each",
    answer=answer,
    returns=PageDifferences,
    heavy=True,
    parameters=(
        string(
            "others",
            f"the ids of up to {MAX_OTHERS} pages, separated by commas",
            max_chars=40 * MAX_OTHERS,
            required=True,
        ),
    ),
)
