"""The page screen: near-duplicates of a page, its cluster, its history and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.matches_document import MatchDocument
from opensearch_winnow.answers.nothing_found import no_match
from opensearch_winnow.answers.page_document import PageDocument, SimilarDocument, page_document, similar_document
from opensearch_winnow.answers.similar_words import similar_summary
from opensearch_winnow.answers.time_period import MICROSECOND
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.watches import MAX_NAME_CHARS
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.web.parameters import FILTER_PARAMETERS, choice, integer, percentage, period, string
from opensearch_winnow.web.screen import Cell, Redirect, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.history import history_of, history_values

MAX_HISTORY_CAPTURES = 50  # the latest
MAX_TEXT_CHARS = 200_000
MAX_MATCHES = 10_000
# The tabs: parameter, label, and initial threshold in per cent.
TABS = (
    ("t", "Near-duplicates", 50),
    ("min_containment", "Pages that contain it", 50),
    ("min_contained", "Pages it contains", 50),
    ("min_containment", "Shared passages", 0),
)
THRESHOLDS = {"t": "min_resemblance", "min_containment": "min_containment", "min_contained": "min_contained"}


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, index.capture(request["id"]))


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, page_by_url(index, request))


def answer_similar(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    return ScreenAnswer(similar_document(page, index.similar(**_question(request, page))))


def _answer(index: Index, request: ScreenRequest, page: Record) -> ScreenAnswer:
    question = _question(request, page)
    matches = index.similar(**question)
    document = page_document(index, page, matches, history_of(index, page.url, MAX_HISTORY_CAPTURES))
    return ScreenAnswer(document, lambda: _template_values(index, request, document, question, matches))


def _question(request: ScreenRequest, page: Record) -> dict[str, Any]:
    """Return the arguments of `index.similar`. The default resemblance applies unless another threshold is given."""
    thresholds = {THRESHOLDS[name]: request[name] for name in THRESHOLDS}
    if "t" not in request.query and any(request[name] is not None for name in THRESHOLDS if name != "t"):
        thresholds["min_resemblance"] = None
    return {
        "id": page.id,
        **thresholds,
        "exact": request["exact"] == "on",
        "limit": request["limit"],
        "where": request.filters(),
        "all_captures": request["captures"] == "all",
    }


def _template_values(
    index: Index, request: ScreenRequest, document: PageDocument, question: dict[str, Any], matches: Matches
) -> Mapping[str, Any]:
    active = [name for name in THRESHOLDS if question[THRESHOLDS[name]] is not None]
    scheme = index.scheme
    characters = document["characters"]
    return {
        "heading": similar_summary(document["similar"]),
        "matches": matches,
        "folded": fold_same_texts(matches, document["similar"]),
        "tabs": [
            (label, _tab_link(request, name, at), _is_current(request, active, name, at)) for name, label, at in TABS
        ],
        "active": active,
        "narrowed": question["where"] != Filters() or request["captures"] == "all",
        "too_short": not document["fingerprints"] if characters is None else characters < scheme.noise,
        "scheme": scheme,
        **({} if matches.total else _why_nothing(index, request, question, matches)),
        "max_matches": MAX_MATCHES,
        "max_text_chars": MAX_TEXT_CHARS,
        "max_name_chars": MAX_NAME_CHARS,
        "watch_name": (document["title"] or document["url"]).strip()[:MAX_NAME_CHARS],
        **history_values(document["history"], document["id"]),
    }


def _why_nothing(index: Index, request: ScreenRequest, question: dict[str, Any], matches: Matches) -> dict[str, Any]:
    """Return why nothing is similar, and links that find something."""
    why = no_match(index, question, matches, filters="the filters")
    return {
        "reason": why.reason,
        "offers": [(offer.text, request.link(**_parameters(offer.change))) for offer in why.offers],
    }


def _parameters(change: dict[str, Any]) -> dict[str, int | None]:
    """Translate a change of the question into parameters of this screen's address."""
    if "where" in change:
        return dict.fromkeys(("site", "crawl", "since", "until"))
    names = {minimum: name for name, minimum in THRESHOLDS.items()}
    return {names[minimum]: None if value is None else round(100 * value) for minimum, value in change.items()}


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
        leader = first.setdefault((text, match.resemblance, match.containment, match.contained), document["id"])
        if leader == document["id"]:
            folded[leader] = []
        else:
            folded[leader].append(document)
    return folded


def _tab_link(request: ScreenRequest, name: str, at: int) -> str:
    cleared = dict.fromkeys((*THRESHOLDS, "limit"))
    return request.link(**cleared | ({name: at} if (name, at) != ("t", 50) else {}))


def _is_current(request: ScreenRequest, active: Sequence[str], name: str, at: int) -> bool:
    """Return whether a tab is the current one. Further thresholds may be active."""
    return bool(active) and active[0] == name and bool(at) == bool(request[name])


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
    )
    for each in document["similar"]["matches"]:
        scores = each["resemblance"], each["containment"], each["contained"], each["kind"], each["error"]
        page = each["fetched_at"], each["site"], each["url"], each["title"], each["id"]
        yield *scores, len(each["passages"]), *page


def page_by_url(index: Index, request: ScreenRequest) -> Record:
    """Return the capture of URL `url` that was the latest at time `at`."""
    at = request["at"]
    return index.page(request["url"].strip(), at and at.end - MICROSECOND)


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
    table=table,
    parameters=SIMILAR_PARAMETERS,
)
BY_URL = Screen(
    name="page_of_url",
    path="",
    api="/pages",
    summary="A page by its URL, with its near-duplicates, cluster, history and text",
    answer=answer_by_url,
    returns=PageDocument,
    parameters=(*URL_AND_TIME, *SIMILAR_PARAMETERS),
)
SIMILAR = Screen(
    name="similar",
    path="",
    api="/pages/{id}/similar",
    summary="Pages similar to a page",
    answer=answer_similar,
    returns=SimilarDocument,
    parameters=SIMILAR_PARAMETERS,
)
REDIRECT = Redirect(path="/page", target=page_address, parameters=URL_AND_TIME)
