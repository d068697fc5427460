"""The page screen: near-duplicates of a page, its cluster, its history and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.asking.history import history_summary
from opensearch_winnow.answers.asking.matches_document import MatchDocument
from opensearch_winnow.answers.asking.nothing_found import no_match_words
from opensearch_winnow.answers.asking.page_document import (
    PageDocument,
    SimilarDocument,
    page_document,
    similar_document,
)
from opensearch_winnow.answers.asking.similar_words import similar_summary
from opensearch_winnow.answers.asking.source_words import page_sentence
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.nothing_found import Offer
from opensearch_winnow.operations.asking.page_finder import no_text
from opensearch_winnow.operations.asking.watches import MAX_NAME_CHARS
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.asking.similar_options import SimilarQuestion
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Score
from opensearch_winnow.web.page_header import SHARED_PASSAGES, SIMILAR_TABS, page_subject, page_tabs
from opensearch_winnow.web.parameters import FILTER_PARAMETERS, choice, integer, percentage, period, string
from opensearch_winnow.web.screen import Cell, Redirect, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.asking.history import history_of
from opensearch_winnow.web.texts.source_text import source_text

MAX_HISTORY_CAPTURES = 50  # the latest
MAX_TEXT_CHARS = 200_000
MAX_OPEN_TEXT_CHARS = 30_000  # a longer text is folded
MAX_SOURCES_LISTED = 10  # the rest is folded
MAX_MATCHES = 10_000
THRESHOLDS: dict[str, Score] = {"t": "resemblance", "min_containment": "containment", "min_contained": "contained"}


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, index.capture(request["id"]))


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, page_by_url(index, request))


def answer_similar(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    return ScreenAnswer(similar_document(page, index.similar(_question(request, page))))


def _answer(index: Index, request: ScreenRequest, page: Record) -> ScreenAnswer:
    question = _question(request, page)
    matches = index.similar(question)
    document = page_document(index, page, matches, history_of(index, page.url, MAX_HISTORY_CAPTURES))
    return ScreenAnswer(document, lambda: _template_values(index, request, page, document, question, matches))


def _question(request: ScreenRequest, page: Record) -> SimilarQuestion:
    """Return what the request asks about the page. Its default resemblance applies if no other threshold is given."""
    is_default = "t" not in request.query
    others = any(request[name] is not None for name in THRESHOLDS if name != "t")
    return SimilarQuestion(
        id=page.id,
        min_resemblance=None if is_default and others else request["t"],
        min_containment=request["min_containment"],
        min_contained=request["min_contained"],
        exact=request["exact"] == "on",
        limit=request["limit"],
        where=request.filters(),
        all_captures=request["all_captures"],
        max_seconds=request.state.max_seconds,
    )


def _template_values(
    index: Index,
    request: ScreenRequest,
    page: Record,
    document: PageDocument,
    question: SimilarQuestion,
    matches: Matches,
) -> Mapping[str, Any]:
    minima = question.minima
    active = [name for name, score in THRESHOLDS.items() if minima[score] is not None]
    scheme = index.scheme
    found = index.sources(page.text, matches.matches)
    cleared = dict.fromkeys((*THRESHOLDS, "limit"))
    return {
        "heading": "Nothing to compare" if no_text(page) else similar_summary(document["similar"]),
        "matches": matches,
        "folded": fold_same_texts(matches, document["similar"]),
        "subject": page_subject(document, scheme, document["history"]["captures"][-1]["id"]),
        "tabs": page_tabs(page.id, lambda change: request.link(**cleared | change), _current_tab(request, active)),
        "is_full_picture": _current_tab(request, active) == SHARED_PASSAGES,
        "active": active,
        "narrowed": question.where != Filters() or request["all_captures"],
        "scheme": scheme,
        "lack": no_text(page),
        **({} if matches.total or matches.too_short else _why_nothing(index, request, question, matches)),
        "found": found,
        "page_sentence": page_sentence(found) if matches.total else "",
        "view": source_text(page.text, found, lambda _number: "", max_chars=MAX_TEXT_CHARS),
        "max_text_chars": MAX_TEXT_CHARS,
        "max_open_text_chars": MAX_OPEN_TEXT_CHARS,
        "max_sources_listed": MAX_SOURCES_LISTED,
        "max_name_chars": MAX_NAME_CHARS,
        "watch_name": (document["title"] or document["url"]).strip()[:MAX_NAME_CHARS],
        "history_summary": history_summary(document["history"]),
    }


def _why_nothing(index: Index, request: ScreenRequest, question: SimilarQuestion, matches: Matches) -> dict[str, Any]:
    """Return why nothing is similar, and links that find something."""
    why = index.why_no_match(matches, question)
    said = no_match_words(why, matches, name=index.name, scheme=index.scheme, filters="the filters")
    return {
        "reason": said.reason,
        "offers": [(clause, request.link(**_parameters(offer))) for clause, offer in said.offers],
    }


def _parameters(offer: Offer) -> dict[str, int | None]:
    """Translate a change of the question into parameters of this screen's address."""
    if offer.kind == "filters":
        return dict.fromkeys(("site", "crawl", "since", "until"))
    names = {score: name for name, score in THRESHOLDS.items()}
    return {names[score]: None if value is None else round(100 * value) for score, value in offer.minima.items()}


def fold_same_texts(matches: Matches, similar: SimilarDocument) -> dict[str, list[MatchDocument]]:
    """Return, by the id of each match to show, the later matches with the same text and scores.

    Exact copies of the page are left out: they are listed separately.
    """
    first: dict[tuple[str, float, float, float], str] = {}
    folded: dict[str, list[MatchDocument]] = {}
    for match, document in zip(matches, similar["matches"], strict=True):
        if document["id"] in similar["copies"]:
            continue
        text = match.card.text_digest or document["id"]
        representative = first.setdefault((text, match.resemblance, match.containment, match.contained), document["id"])
        if representative == document["id"]:
            folded[representative] = []
        else:
            folded[representative].append(document)
    return folded


def _current_tab(request: ScreenRequest, active: Sequence[str]) -> int | None:
    """Return the number of the current tab. Further thresholds may be active."""
    for number, (name, _, at) in enumerate(SIMILAR_TABS):
        if active and active[0] == name and bool(at) == bool(request[name]):
            return number
    return None


def left_out(document: PageDocument) -> str:
    return more_than_listed(document["similar"]["total"] - len(document["similar"]["matches"]), "page")


def table(document: PageDocument) -> Iterator[Sequence[Cell]]:
    yield (
        "resemblance",
        "containment",
        "contained",
        "kind",
        "error",
        "passages",
        "fetched_at",
        "site",
        "url",
        "title",
        "id",
        "relationship",
    )
    for each in document["similar"]["matches"]:
        scores = each["resemblance"], each["containment"], each["contained"], each["kind"], each["error"]
        page = each["fetched_at"], each["site"], each["url"], each["title"], each["id"]
        yield *scores, len(each["passages"]), *page, each["relationship"] and each["relationship"]["kind"]


def page_by_url(index: Index, request: ScreenRequest) -> Record:
    """Return the capture of URL `url` that was the latest at time `at`."""
    at = request["at"]
    return index.page(request["url"].strip(), at and at.last)


def page_address(index: Index, request: ScreenRequest) -> str:
    return f"/page/{page_by_url(index, request).id}"


URL_AND_TIME = (
    string("url", "the URL of the page, as stored", max_chars=8_000, required=True),
    period("at", "the capture that was the latest at this time; by default the latest of all"),
)
SIMILAR_PARAMETERS = (
    percentage(
        "t",
        "minimum resemblance; the default applies unless another threshold is given",
        default=50,
        minimum=0,
        counts_if_given=True,
    ),
    percentage(
        "min_containment",
        "minimum share of this page in the other; 0: any shared passage",
        default=None,
        minimum=0,
    ),
    percentage("min_contained", "minimum share of the other page in this one", default=None, minimum=0),
    choice("exact", "exact scores from both texts, or estimates without passages", "on", "off"),
    integer("limit", "number of matches, best first", default=100, minimum=1, maximum=MAX_MATCHES),
    *FILTER_PARAMETERS,
)
SCREEN = Screen(
    name="page",
    path="/page/{id}",
    api="/pages/{id}",
    summary="A page with its near-duplicates, cluster, history and text",
    answer=answer,
    returns=PageDocument,
    heavy=True,
    keeps_form=True,
    table=table,
    left_out=left_out,
    parameters=SIMILAR_PARAMETERS,
)
BY_URL = Screen(
    name="page_of_url",
    path="",
    api="/pages",
    summary="A page by its URL, with its near-duplicates, cluster, history and text",
    answer=answer_by_url,
    returns=PageDocument,
    heavy=True,
    parameters=(*URL_AND_TIME, *SIMILAR_PARAMETERS),
)
SIMILAR = Screen(
    name="similar",
    path="",
    api="/pages/{id}/similar",
    summary="Pages similar to a page",
    answer=answer_similar,
    returns=SimilarDocument,
    heavy=True,
    parameters=SIMILAR_PARAMETERS,
)
REDIRECT = Redirect(path="/page", target=page_address, parameters=URL_AND_TIME)
