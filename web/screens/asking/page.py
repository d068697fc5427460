"""The page screen: near-duplicates of a page, its cluster, its history and its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearch_winnow.answers.asking.history import history_summary
from opensearch_winnow.answers.asking.nothing_found import no_match_words
from opensearch_winnow.answers.asking.page_answer import PageAnswer, PageMatches
from opensearch_winnow.answers.asking.similar_words import similar_summary
from opensearch_winnow.answers.asking.source_words import page_sentence
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.answers.tables import table_rows
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.nothing_found import Offer
from opensearch_winnow.operations.asking.page_finder import no_text
from opensearch_winnow.operations.asking.watches import MAX_NAME_CHARS
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions, SimilarQuestion
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Score
from opensearch_winnow.web.page_header import SHARED_PASSAGES, SIMILAR_TABS, page_subject, page_tabs
from opensearch_winnow.web.parameters import FILTER_PARAMETERS, of_options, string
from opensearch_winnow.web.screen import Redirect, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.texts.source_text import source_text

MAX_HISTORY_CAPTURES = 50  # the latest
MAX_TEXT_CHARS = 200_000
MAX_OPEN_TEXT_CHARS = 30_000  # a longer text is folded
MAX_SOURCES_LISTED = 10  # the rest is folded
MAX_MATCHES = 10_000
SLIDERS: dict[Score, str] = {
    "resemblance": "Similar from",
    "containment": "Share of this page from",
    "contained": "Share of the other page from",
}


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, index.capture(request["id"]))


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, page_by_url(index, request))


def answer_similar(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    return ScreenAnswer(PageMatches.of(page, index.similar(_question(request, page))))


def _answer(index: Index, request: ScreenRequest, page: Record) -> ScreenAnswer:
    question = _question(request, page)
    found = PageAnswer.of(index, page, index.similar(question), index.history(page.url, limit=MAX_HISTORY_CAPTURES))
    return ScreenAnswer(found, lambda: _template_values(index, request, page, found, question))


def _question(request: ScreenRequest, page: Record) -> SimilarQuestion:
    return request.options(SimilarQuestion, id=page.id, max_seconds=request.state.max_seconds)


def _template_values(
    index: Index, request: ScreenRequest, page: Record, found: PageAnswer, question: SimilarQuestion
) -> Mapping[str, Any]:
    matches, scheme = found.similar.found, index.scheme
    thresholds = question.thresholds(is_stored=True).minima
    tab = _tab(thresholds)
    cleared = dict.fromkeys((*(f"min_{score}" for score in SLIDERS), "limit"))
    sources = index.sources(page.text, matches.matches)
    return {
        "heading": "Nothing to compare" if no_text(page) else similar_summary(found.similar),
        "folded": fold_same_texts(found.similar),
        "subject": page_subject(found.facts, scheme, found.history[-1].card.id),
        "tabs": page_tabs(page.id, lambda change: request.link(**cleared | change), tab),
        "is_full_picture": tab == SHARED_PASSAGES,
        "sliders": [(f"min_{score}", SLIDERS[score], least) for score, least in thresholds.items()],
        "narrowed": question.where != Filters() or question.all_captures,
        "scheme": scheme,
        "lack": no_text(page),
        **({} if matches.total or matches.too_short else _why_nothing(index, request, question, matches)),
        "found": sources,
        "page_sentence": page_sentence(sources) if matches.total else "",
        "view": source_text(page.text, sources, lambda _number: "", max_chars=MAX_TEXT_CHARS),
        "max_text_chars": MAX_TEXT_CHARS,
        "max_open_text_chars": MAX_OPEN_TEXT_CHARS,
        "max_sources_listed": MAX_SOURCES_LISTED,
        "max_name_chars": MAX_NAME_CHARS,
        "watch_name": (page.title or page.url).strip()[:MAX_NAME_CHARS],
        "history_summary": history_summary(found.history),
    }


def _why_nothing(index: Index, request: ScreenRequest, question: SimilarQuestion, matches: Matches) -> dict[str, Any]:
    """Return the reason why nothing is similar, and links that find something."""
    why = index.why_no_match(matches, question)
    said = no_match_words(why, matches, name=index.name, scheme=index.scheme, filters="the filters")
    return {
        "reason": said.reason,
        "offers": [(clause, request.link(**_parameters(offer))) for clause, offer in said.offers],
    }


def _parameters(offer: Offer) -> dict[str, float | None]:
    """Translate a change of the question into parameters of this screen's address."""
    if offer.kind == "filters":
        return dict.fromkeys(("site", "crawl", "since", "until"))
    return {f"min_{score}": least for score, least in offer.minima.items()}


def fold_same_texts(similar: PageMatches) -> dict[str, list[Match]]:
    """Return, by the id of each match to show, the later matches with the same text and scores.

    Exact copies of the page are left out: they are listed separately.
    """
    first: dict[tuple[str, float, float, float], str] = {}
    folded: dict[str, list[Match]] = {}
    for each in similar.found:
        if each.id in similar.copies:
            continue
        text = each.card.text_digest or each.id
        representative = first.setdefault((text, each.resemblance, each.containment, each.contained), each.id)
        if representative == each.id:
            folded[representative] = []
        else:
            folded[representative].append(each)
    return folded


def _tab(thresholds: Mapping[Score, float]) -> int | None:
    """Return the number of the current tab, which is that of the first threshold. Others may apply, too."""
    score, least = next(iter(thresholds.items()))
    tabs = enumerate(SIMILAR_TABS)
    return next((number for number, (name, _, at) in tabs if name == f"min_{score}" and bool(at) == bool(least)), None)


def left_out(found: PageAnswer) -> str:
    matches = found.similar.found
    return more_than_listed(matches.total - len(matches), "page")


def page_by_url(index: Index, request: ScreenRequest) -> Record:
    """Return the capture of URL `url` that was the latest at time `at`."""
    return index.page(request["url"].strip(), request["at"])


def page_address(index: Index, request: ScreenRequest) -> str:
    return f"/page/{page_by_url(index, request).id}"


URL_AND_TIME = (
    string("url", "The URL of the page, as stored.", max_chars=8_000, required=True),
    *of_options(SimilarQuestion, "at"),
)
SIMILAR_PARAMETERS = (
    *of_options(
        SimilarOptions,
        *("min_resemblance", "min_containment", "min_contained", "exact", "limit"),
        at_most={"limit": MAX_MATCHES},
    ),
    *FILTER_PARAMETERS,
)
SCREEN = Screen(
    name="page",
    path="/page/{id}",
    api="/pages/{id}",
    summary="A page with its near-duplicates, cluster, history and text",
    answer=answer,
    returns=PageAnswer,
    heavy=True,
    keeps_form=True,
    table=lambda found: table_rows(Match, found.similar.found),
    left_out=left_out,
    parameters=SIMILAR_PARAMETERS,
)
BY_URL = Screen(
    name="page_of_url",
    path="",
    api="/pages",
    summary="A page by its URL, with its near-duplicates, cluster, history and text",
    answer=answer_by_url,
    returns=PageAnswer,
    heavy=True,
    parameters=(*URL_AND_TIME, *SIMILAR_PARAMETERS),
)
SIMILAR = Screen(
    name="similar",
    path="",
    api="/pages/{id}/similar",
    summary="Pages similar to a page",
    answer=answer_similar,
    returns=PageMatches,
    heavy=True,
    parameters=SIMILAR_PARAMETERS,
)
REDIRECT = Redirect(path="/page", target=page_address, parameters=URL_AND_TIME)
