"""The paste screens: a form for a text, and the pages that quote it."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict
from urllib.parse import urlencode

from opensearch_winnow.answers.asking.quotes import PasteRules, Quotes
from opensearch_winnow.answers.asking.similar_words import below_guarantee_sentence
from opensearch_winnow.answers.asking.source_words import found_sentence
from opensearch_winnow.answers.asking.too_short import words_sentence
from opensearch_winnow.answers.display_text import printable
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.nothing_found import WordSearch
from opensearch_winnow.operations.asking.sources import TextSources
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions, SimilarQuestion
from opensearch_winnow.web.parameters import FILTER_NAMES, FILTER_PARAMETERS, integer, of_options
from opensearch_winnow.web.pasted_texts import API_HINT, EXPIRY_MINUTES, PastedText, text_from_form
from opensearch_winnow.web.request_texts import pasted_text
from opensearch_winnow.web.screen import Action, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.texts.source_text import source_text

MAX_MATCHES = 1_000
MAX_HITS_SHOWN = 5  # pages that have the words of a text that is too short
MAX_SUGGESTED_WORDS = 12  # for a search, if no page quotes the text


class SentText(TypedDict):
    """The text of a request: either `text` or `html`."""

    text: NotRequired[str]
    html: NotRequired[str]


def form(index: Index, _request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(_rules(index.scheme), lambda: {"pages": index.count(), "code": index.scheme.form == "code"})


def _rules(scheme: Scheme) -> PasteRules:
    sure = scheme.guarantee if scheme.guarantees else None
    return PasteRules(scheme.noise, sure, EXPIRY_MINUTES)


def paste(index: Index, request: ScreenRequest) -> str:
    """Keep the text of the form and return the address of its results."""
    return f"/paste/{request.state.pasted.add(text_from_form(index, request.form))}"


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    """Find the pages that quote a pasted text."""
    pasted = pasted_text(request, request["id"])
    matches = _matches(index, request, pasted.text)
    if matches.too_short:
        search = index.search_for_words(pasted.text, where=request.filters())
        few = Quotes.of_few_words(pasted.text, matches, search, index.scheme)
        return ScreenAnswer(few, lambda: _common_values(index, pasted) | _words_values(index, request, search))
    sources = index.sources(pasted.text, matches.matches)
    found = Quotes.of(pasted.text, matches, sources)
    return ScreenAnswer(found, lambda: _template_values(index, request, pasted, matches, sources))


def quotes(index: Index, request: ScreenRequest) -> ScreenAnswer:
    """Find the pages that quote a text sent by a program."""
    text = text_from_form(index, request.form, hint=API_HINT).text
    sent = None if text == request.form.get("text") else text
    matches = _matches(index, request, text)
    if matches.too_short:
        search = index.search_for_words(text, where=request.filters())
        return ScreenAnswer(Quotes.of_few_words(text, matches, search, index.scheme, sent=sent))
    return ScreenAnswer(Quotes.of(text, matches, index.sources(text, matches.matches), sent=sent))


def _matches(index: Index, request: ScreenRequest, text: str) -> Matches:
    return index.similar(request.options(SimilarQuestion, text=text, max_seconds=request.state.max_seconds))


def _words_values(index: Index, request: ScreenRequest, search: WordSearch) -> dict[str, Any]:
    results = index.search(search.query, where=request.filters(), limit=MAX_HITS_SHOWN)
    names = {name: request.query[name] for name in FILTER_NAMES if name in request.query}
    return {
        "words_found": words_sentence(search),
        "hits": results.hits,
        "words_address": f"/search?{urlencode({'words': printable(search.query), **names})}",
    }


def _common_values(index: Index, pasted: PastedText) -> dict[str, Any]:
    return {"pasted": pasted, "rules": _rules(index.scheme), "code": index.scheme.form == "code"}


def _template_values(
    index: Index, request: ScreenRequest, pasted: PastedText, matches: Matches, found: TextSources
) -> dict[str, Any]:
    narrowed = any(name in request.query for name in (*FILTER_NAMES, "min_containment"))
    return _common_values(index, pasted) | {
        "pages": index.count(),
        "matches": matches,
        "found": found,
        "found_sentence": found_sentence(matches, found),
        "below_guarantee": below_guarantee_sentence(index.scheme) if matches.below_guarantee else "",
        "view": source_text(pasted.text, found, lambda number: request.link(**{"from": number}), start=request["from"]),
        "narrowed": narrowed,
        "suggested_words": "" if matches.total or narrowed else _suggested_words(index, pasted.text),
        "max_matches": MAX_MATCHES,
    }


def _suggested_words(index: Index, text: str) -> str:
    """Return words of the text for a search that does find pages, or an empty string."""
    longest = sorted({word for word in text[:5_000].split() if word.isalpha()}, key=len, reverse=True)
    words = " ".join(longest[:MAX_SUGGESTED_WORDS])
    return words if words and index.search(words, any_word=True, limit=1).total else ""


def left_out(found: Quotes) -> str:
    return more_than_listed(found.found.total - len(found), "page")


PARAMETERS = (
    *of_options(
        SimilarOptions,
        *("min_containment", "limit", "boilerplate"),
        defaults={"min_containment": 0.0},
        at_most={"limit": MAX_MATCHES},
    ),
    *FILTER_PARAMETERS,
)
FORM = Screen(
    name="paste",
    path="/paste",
    api="/quotes",
    summary="The minimum length of a text, and the time for which it is kept",
    answer=form,
    returns=PasteRules,
)
SCREEN = Screen(
    name="pasted",
    path="/paste/{id}",
    api="/quotes/{id}",
    summary="The pages that quote a pasted text",
    answer=answer,
    returns=Quotes,
    heavy=True,
    keeps_form=True,
    left_out=left_out,
    parameters=(
        *PARAMETERS,
        integer("from", "first segment on the page", default=1, minimum=1, maximum=10**9),
    ),
)
QUOTES = Screen(
    name="quotes",
    path="",
    api="/quotes",
    summary="The pages that quote a text sent with the request, which is not kept",
    answer=quotes,
    returns=Quotes,
    heavy=True,
    sends=SentText,
    parameters=PARAMETERS,
)
PASTE = Action(
    name="paste",
    path="/paste",
    summary="Find the pages that quote a text",
    act=paste,
    writes=False,
    heavy=True,
    screen=FORM,
)
