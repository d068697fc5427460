"""The changes screen: what became of the pages between two crawls, or two dates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.asking.few_words import FewWords, few_words
from opensearch_winnow.answers.crawls.changes import (
    COLUMNS,
    ChangeDocument,
    ChangesDocument,
    are_apart,
    change_rows,
    changes_document,
    changes_summary,
    elsewhere_clause,
    kind_names,
)
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.changes import IN_LIST, KINDS, Change, Changes
from opensearch_winnow.stores.store import Crawl
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
    crawls = index.crawls()
    before, after = request["from"].strip(), request["to"].strip()
    if bool(before) != bool(after) and request.fault is None:
        raise ParameterError("Give both from and to, or neither of them to compare the two latest crawls")
    reason = request.fault and request.fault.sentence
    if reason is None and not before:
        try:
            before, after = index.default_crawls()
        except QuestionError as error:
            reason = str(error)
    site = request["site"].strip().lower() or None
    if reason is None:
        changes = request.state.changes.get(index, ComparedCrawls(before, after, site), WAIT_SECONDS)
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
    return ScreenAnswer(document, lambda: _template_values(index, request, document, changes, crawls))


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
    index: Index, request: ScreenRequest, document: ChangesPage, changes: Changes, crawls: Sequence[Crawl]
) -> Mapping[str, Any]:
    pages = document["pages"]
    is_apart, called = are_apart(document), kind_names(document)
    names: dict[str, str] = {ALL: "all", **{kind: called[kind] for kind in IN_LIST}}
    names[NEAR_REVISITS] = "need not be kept"
    return {
        "heading": _heading(request, document),
        "elsewhere": elsewhere_clause(document) if is_apart else "",
        "comparable": index.comparable_crawls() if is_apart else None,
        "crawls": crawls[::-1],
        "kinds": [(kind, name, number_of(changes, kind)) for kind, name in names.items()],
        "kind_names": called,
        "titles": _titles(index, pages),
        "words": _in_words(index, pages),
        "max_pages": MAX_PAGES,
    }


def _heading(request: ScreenRequest, document: ChangesPage) -> str:
    if request.fault:
        return "These crawls cannot be compared"
    if document["reason"]:
        return "Nothing to compare yet"
    if are_apart(document):
        return f"{document['from']} and {document['to']} have no URL in common"
    return changes_summary(document)


def _titles(index: Index, pages: Sequence[ChangeDocument]) -> dict[str, str]:
    ids = [id_ for page in pages for id_ in (page["to_id"], page["id"]) if id_]
    return {card.id: card.title for card in index.cards(ids=ids) if card.title}


def _in_words(index: Index, pages: Sequence[ChangeDocument]) -> dict[str, FewWords]:
    """Return, by the id of the later capture, a few words of what changed; of the first pages that changed only."""
    changed = [(page["id"], page["to_id"]) for page in pages if page["change"] == "changed"][:MAX_IN_WORDS]
    texts = index.texts([id_ for pair in changed for id_ in pair if id_])
    return {
        after: few_words(texts[before], texts[after]) for before, after in changed if before in texts and after in texts
    }


def left_out(document: ChangesPage) -> str:
    return more_than_listed(document["found"] - len(document["pages"]), "page")


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
    left_out=left_out,
    heavy=True,
    keeps_form=True,
    parameters=(
        string(
            "from", "the earlier crawl, or date; by default, that of the two latest with URLs in common", max_chars=300
        ),
        string("to", "the later crawl, or date; by default, the other of these two", max_chars=300),
        string("site", "only pages of this site", max_chars=300),
        choice(
            "change",
            "list only pages with this kind of change; near_revisits lists those whose later capture need not be kept",
            *(ALL, *IN_LIST, NEAR_REVISITS),
        ),
        integer("limit", "pages in the list", default=100, minimum=1, maximum=MAX_PAGES),
        integer("page", "which part of the list", default=1, minimum=1, maximum=10_000),
    ),
)
