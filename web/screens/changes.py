"""The changes screen: what became of the pages between two crawls, or two dates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.changes import (
    COLUMNS,
    KIND_NAMES,
    ChangeDocument,
    ChangesDocument,
    change_rows,
    changes_document,
    changes_summary,
)
from opensearch_winnow.answers.few_words import FewWords, few_words
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.changes import IN_LIST, KINDS, Change, Changes
from opensearch_winnow.operations.crawl_states import crawl_states
from opensearch_winnow.stores.store import Crawl, Text
from opensearch_winnow.web.kept_changes import MAX_PAGES, ComparedCrawls
from opensearch_winnow.web.parameters import ParameterError, choice, integer, string
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

WAIT_SECONDS = 20  # for the comparison of large crawls
MAX_IN_WORDS = 20  # pages whose changes are shown in a few words: each takes two texts, and about 20 ms
ALL, NEAR_REVISITS = "all", "near_revisits"


class ChangesPage(ChangesDocument):
    """A page of the list of changes.

    `found` counts the pages of the kind that is listed, and `more` says whether another page of the list follows.
    `reason` says why there is nothing to compare, if neither crawls nor dates were given; otherwise it is null.
    """

    found: int
    more: bool
    reason: str | None


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    crawls = index.store.crawls()
    before, after = request["from"].strip(), request["to"].strip()
    if bool(before) != bool(after):
        raise ParameterError("give both from and to, or neither of them to compare the two latest crawls")
    reason = None
    if not before:
        try:
            before, after = (state.name for state in crawl_states(index.store))
        except QuestionError as error:
            reason = request.state.store.shorten(str(error))
    site = request["site"].strip().lower() or None
    if reason is None:
        changes = request.state.changes.get(ComparedCrawls(before, after, site), WAIT_SECONDS)
    else:
        changes = Changes("", "", dict.fromkeys(KINDS, 0), [])
    start = (request["page"] - 1) * request["limit"]
    listed = list(filter(_filter(request["change"]), changes.pages))
    some = changes._replace(pages=listed[start : start + request["limit"]])
    document: ChangesPage = {
        **changes_document(index, some),
        "from": before,
        "to": after,
        "found": number_of(changes, request["change"]),
        "more": start + request["limit"] < len(listed),
        "reason": reason,
    }
    return ScreenAnswer(document, lambda: _template_values(index, document, changes, crawls))


def _filter(kind: str) -> Callable[[Change], bool]:
    if kind == NEAR_REVISITS:
        return Change.is_near_revisit
    return lambda page: kind in (ALL, page.change)


def number_of(changes: Changes, kind: str) -> int:
    """Return the number of all pages of this kind, listed or not."""
    if kind == ALL:
        return sum(changes.counts.values())
    if kind == NEAR_REVISITS:
        return changes.counts["unchanged"] + changes.template
    return next(number for name, number in changes.counts.items() if name == kind)


def _template_values(
    index: Index, document: ChangesPage, changes: Changes, crawls: Sequence[Crawl]
) -> Mapping[str, Any]:
    pages = document["pages"]
    names: dict[str, str] = {ALL: "all", **{kind: KIND_NAMES[kind] for kind in IN_LIST}}
    names[NEAR_REVISITS] = "need not be kept"
    return {
        "heading": "Nothing to compare yet" if document["reason"] else changes_summary(document),
        "crawls": crawls[::-1],
        "kinds": [(kind, name, number_of(changes, kind)) for kind, name in names.items()],
        "kind_names": KIND_NAMES,
        "titles": _titles(index, pages),
        "words": _in_words(index, pages),
        "max_pages": MAX_PAGES,
    }


def _titles(index: Index, pages: Sequence[ChangeDocument]) -> dict[str, str]:
    ids = [id_ for page in pages for id_ in (page["to_id"], page["id"]) if id_]
    return {id_: card.title for id_, card in index.store.read(ids, Card).items() if card.title}


def _in_words(index: Index, pages: Sequence[ChangeDocument]) -> dict[str, FewWords]:
    """Return, by the id of the later capture, a few words of what changed; of the first pages that changed only."""
    changed = [(page["id"], page["to_id"]) for page in pages if page["change"] == "changed"][:MAX_IN_WORDS]
    texts = index.store.read([id_ for pair in changed for id_ in pair if id_], Text)
    return {
        after: few_words(texts[before].text, texts[after].text)
        for before, after in changed
        if before in texts and after in texts
    }


def table(document: ChangesPage) -> Iterator[Sequence[Cell]]:
    yield COLUMNS
    yield from change_rows(document["pages"])


SCREEN = Screen(
    name="changes",
    path="/changes",
    api="/changes",
    summary="What became of the pages between two crawls, or two dates",
    answer=answer,
    returns=ChangesPage,
    table=table,
    heavy=True,
    parameters=(
        string("from", "the earlier crawl, or date; by default, the crawl before the latest", max_chars=300),
        string("to", "the later crawl, or date; by default, the latest crawl", max_chars=300),
        string("site", "only pages of this site", max_chars=300),
        choice(
            "change",
            "list only pages that this became of; near_revisits lists those whose later capture need not be kept",
            *(ALL, *IN_LIST, NEAR_REVISITS),
        ),
        integer("limit", "pages in the list", default=100, minimum=1, maximum=MAX_PAGES),
        integer("page", "which part of the list", default=1, minimum=1, maximum=10_000),
    ),
)
