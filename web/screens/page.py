"""A page: what is similar to it, who contains it, its cluster, its history, its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.matches_document import MatchDocument
from opensearch_winnow.answers.nothing_found import no_match
from opensearch_winnow.answers.page_document import PageDocument, SimilarDocument, page_document, similar_document
from opensearch_winnow.answers.similar_words import similar_summary
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.watches import MAX_NAME_CHARS
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.filter_parameters import FILTERS, filters
from opensearch_winnow.web.parameters import choice, number, percentage
from opensearch_winnow.web.screen import Answered, Cell, Screen
from opensearch_winnow.web.screens.history import history_of, history_shown
from opensearch_winnow.web.screens.page_address import URL_AND_TIME, asked_page

CAPTURES = 50  # of its history, the latest
TEXT = 200_000  # characters that are shown
MOST = 10_000  # matches
# Each direction that can be asked: the parameter, what it is called, and what it asks for at first.
DIRECTIONS = (
    ("t", "Like it", 50),
    ("min_containment", "Have it in them", 50),
    ("min_contained", "Are in it", 50),
    ("min_containment", "Share a passage", 0),
)
MINIMA = {"t": "min_resemblance", "min_containment": "min_containment", "min_contained": "min_contained"}


def answer(index: Index, asked: Asked) -> Answered:
    return _answered(index, asked, index.capture(asked["id"]))


def answer_of_url(index: Index, asked: Asked) -> Answered:
    return _answered(index, asked, asked_page(index, asked))


def answer_similar(index: Index, asked: Asked) -> Answered:
    page = index.capture(asked["id"])
    return Answered(similar_document(page, index.similar(**_question(asked, page))))


def _answered(index: Index, asked: Asked, page: Record) -> Answered:
    question = _question(asked, page)
    matches = index.similar(**question)
    document = page_document(index, page, matches, history_of(index, page.url, CAPTURES))
    return Answered(document, lambda: _shown(index, asked, document, question, matches))


def _question(asked: Asked, page: Record) -> dict[str, Any]:
    """For `index.similar`. The minimum of resemblance is asked for if no other one is."""
    minima = {MINIMA[name]: asked[name] for name in MINIMA}
    if "t" not in asked.given and any(asked[name] is not None for name in MINIMA if name != "t"):
        minima["min_resemblance"] = None
    return {
        "id": page.id,
        **minima,
        "exact": asked["exact"] == "on",
        "limit": asked["limit"],
        "where": filters(asked),
        "all_captures": asked["captures"] == "all",
    }


def _shown(
    index: Index, asked: Asked, document: PageDocument, question: dict[str, Any], matches: Matches
) -> Mapping[str, Any]:
    given = [name for name in MINIMA if question[MINIMA[name]] is not None]
    scheme = index.scheme
    characters = document["characters"]
    return {
        "heading": similar_summary(document["similar"]),
        "matches": matches,
        "folded": folded(matches, document["similar"]),
        "directions": [
            (words, _direction(asked, name, at), _is(asked, given, name, at)) for name, words, at in DIRECTIONS
        ],
        "given": given,
        "narrowed": question["where"] != Filters() or asked["captures"] == "all",
        "too_short": not document["fingerprints"] if characters is None else characters < scheme.noise,
        "scheme": scheme,
        **({} if matches.total else _why_nothing(index, asked, question, matches)),
        "most": MOST,
        "longest_text": TEXT,
        "longest_name": MAX_NAME_CHARS,
        "watch_name": (document["title"] or document["url"]).strip()[:MAX_NAME_CHARS],
        **history_shown(document["history"], document["id"]),
    }


def _why_nothing(index: Index, asked: Asked, question: dict[str, Any], matches: Matches) -> dict[str, Any]:
    """Return why nothing is similar, and links that find something."""
    why = no_match(index, question, matches, filters="the filters")
    return {
        "reason": why.reason,
        "offers": [(offer.text, asked.link(**_parameters(offer.change))) for offer in why.offers],
    }


def _parameters(change: dict[str, Any]) -> dict[str, int | None]:
    """Translate a change of the question into parameters of this screen's address."""
    if "where" in change:
        return dict.fromkeys(("site", "crawl", "since", "until"))
    names = {minimum: name for name, minimum in MINIMA.items()}
    return {names[minimum]: None if value is None else round(100 * value) for minimum, value in change.items()}


def folded(matches: Matches, similar: SimilarDocument) -> dict[str, list[MatchDocument]]:
    """By the id of a match, those below it that have the same text and scores; copies of the page are shown apart."""
    first: dict[tuple[str, float, float, float], str] = {}
    found: dict[str, list[MatchDocument]] = {}
    for match, shown in zip(matches, similar["matches"], strict=True):
        if shown["id"] in similar["copies"]:
            continue
        text = match.card.text_digest or shown["id"]
        leader = first.setdefault((text, match.resemblance, match.containment, match.contained), shown["id"])
        if leader == shown["id"]:
            found[leader] = []
        else:
            found[leader].append(shown)
    return found


def _direction(asked: Asked, name: str, at: int) -> str:
    nothing = dict.fromkeys((*MINIMA, "limit"))
    return asked.link(**nothing | ({name: at} if (name, at) != ("t", 50) else {}))


def _is(asked: Asked, given: Sequence[str], name: str, at: int) -> bool:
    """Whether this is what was asked. Other minima may go with it."""
    return bool(given) and given[0] == name and bool(at) == bool(asked[name])


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


SIMILAR_PARAMETERS = (
    percentage("t", "how much a page resembles it, at least; asked for unless another is", default=50, least=0),
    percentage("min_containment", "how much of it a page has; 0: all that share a passage", default=None, least=0),
    percentage("min_contained", "how much of a page is in it", default=None, least=0),
    choice("exact", "scores from both texts, or estimates without passages", "on", "off"),
    number("limit", "matches, the best", default=100, least=1, most=MOST),
    *FILTERS,
)
SCREEN = Screen(
    name="page",
    path="/page/{id}",
    api="/pages/{id}",
    about="A page with its text, what is similar to it, its cluster and its history",
    answer=answer,
    returns=PageDocument,
    table=table,
    parameters=SIMILAR_PARAMETERS,
)
OF_URL = Screen(
    name="page_of_url",
    path="",
    api="/pages",
    about="The same of a page whose URL is known",
    answer=answer_of_url,
    returns=PageDocument,
    parameters=(*URL_AND_TIME, *SIMILAR_PARAMETERS),
)
SIMILAR = Screen(
    name="similar",
    path="",
    api="/pages/{id}/similar",
    about="What is similar to a page",
    answer=answer_similar,
    returns=SimilarDocument,
    parameters=SIMILAR_PARAMETERS,
)
