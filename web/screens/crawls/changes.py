"""The changes screen: the changes of pages between two crawls, or two dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from opensearch_winnow.answers.asking.few_words import FewWords, few_words
from opensearch_winnow.answers.crawls.changes import ChangesPage, changes_summary, elsewhere_clause, kind_names
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.changes import IN_LIST, KINDS, Change, Changes, ChangesQuestion
from opensearch_winnow.stores.store import Crawl
from opensearch_winnow.web.kept_changes import MAX_PAGES
from opensearch_winnow.web.parameters import integer, of_options
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

WAIT_SECONDS = 20  # for the comparison of large crawls
MAX_IN_WORDS = 20  # pages whose changes are shown in a few words: each takes two texts, and about 20 ms
ALL, NEAR_REVISITS = "all", "near_revisits"
NOTHING = Changes("", "", dict.fromkeys(KINDS, 0), template=0, without_text=0, common=0, pages=[])


class KindTab(NamedTuple):
    """A tab of the screen: all changes, the changes of one kind, or the captures that need not be kept."""

    name: str
    label: str
    number: int  # of its changes
    parameters: Mapping[str, str | None]  # of its address


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    crawls = index.crawls()
    before, after = request["from"], request["to"]
    question, changes = ChangesQuestion(), NOTHING
    reason = request.fault and request.fault.sentence
    if reason is None and before is None and after is None:
        try:
            before, after = index.default_crawls()
        except QuestionError as error:
            reason = str(error)
    if reason is None:
        question = request.options(ChangesQuestion, before=before, after=after)
        changes = request.state.changes.get(index, question, WAIT_SECONDS)
    start = (request["page"] - 1) * request["limit"]
    listed = list(filter(question.lists, changes.pages))
    page = ChangesPage(
        before=before or "",
        after=after or "",
        counts=changes.counts,
        template=changes.template,
        without_text=changes.without_text,
        common=changes.common,
        pages=listed[start : start + request["limit"]],
        found=number_of(changes, question),
        more=start + request["limit"] < len(listed),
        reason=reason,
    )
    return ScreenAnswer(page, lambda: _template_values(index, request, page, question, crawls))


def number_of(changes: Changes, question: ChangesQuestion) -> int:
    """Return the number of changes of the wanted kinds, listed or not."""
    counts = changes.counts
    near = {"unchanged": counts["unchanged"], "changed": changes.template}
    return sum(near.get(kind, 0) if question.near_revisits else counts[kind] for kind in question.kinds)


def _template_values(
    index: Index, request: ScreenRequest, page: ChangesPage, question: ChangesQuestion, crawls: Sequence[Crawl]
) -> Mapping[str, Any]:
    called, shown = kind_names(page), ",".join(question.change or [NEAR_REVISITS if question.near_revisits else ALL])
    near_revisits = ChangesQuestion(near_revisits=True)
    return {
        "heading": _heading(request, page),
        "elsewhere": elsewhere_clause(page) if page.are_apart else "",
        "comparable": index.comparable_crawls() if page.are_apart else None,
        "crawls": crawls[::-1],
        "shown": shown,
        "tabs": [
            _tab(ALL, "all", sum(page.counts.values())),
            *(_tab(kind, called[kind], page.counts[kind], change=kind) for kind in IN_LIST),
            _tab(NEAR_REVISITS, "need not be kept", number_of(page, near_revisits), near_revisits="on"),
        ],
        "kind_names": called,
        "titles": _titles(index, page),
        "words": _in_words(index, page),
        "max_pages": MAX_PAGES,
    }


def _tab(name: str, label: str, number: int, **parameters: str) -> KindTab:
    return KindTab(name, label, number, {"change": None, "near_revisits": None, "page": None, **parameters})


def _heading(request: ScreenRequest, page: ChangesPage) -> str:
    if request.fault:
        return "These crawls cannot be compared"
    if page.reason:
        return "Nothing to compare yet"
    return f"{page.before} and {page.after} have no URL in common" if page.are_apart else changes_summary(page)


def _titles(index: Index, listed: Sequence[Change] | Changes) -> dict[str, str]:
    ids = [id_ for each in listed for id_ in (each.to_id, each.id) if id_]
    return {card.id: card.title for card in index.cards(ids=ids) if card.title}


def _in_words(index: Index, listed: Sequence[Change] | Changes) -> dict[str, FewWords]:
    """Return a few changed words of each of the first changed pages, by the id of the later capture."""
    changed = [(each.id, each.to_id) for each in listed if each.change == "changed"][:MAX_IN_WORDS]
    texts = index.texts([id_ for pair in changed for id_ in pair if id_])
    return {
        after: few_words(texts[before], texts[after]) for before, after in changed if before in texts and after in texts
    }


def left_out(page: ChangesPage) -> str:
    return more_than_listed(page.found - len(page), "page")


BEFORE, AFTER, *LISTED = of_options(ChangesQuestion, "before", "after", "site", "change", "near_revisits")
SCREEN = Screen(
    name="changes",
    path="/changes",
    api="/changes",
    summary="The changes of pages between two crawls, or two dates",
    answer=answer,
    returns=ChangesPage,
    left_out=left_out,
    heavy=True,
    keeps_form=True,
    parameters=(
        replace(BEFORE, name="from"),
        replace(AFTER, name="to"),
        *LISTED,
        integer("limit", "pages in the list", default=100, minimum=1, maximum=MAX_PAGES),
        integer("page", "page of the list", default=1, minimum=1, maximum=10_000),
    ),
)
