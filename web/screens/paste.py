"""The paste screens: a form for a text, and the pages that quote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NotRequired, TypedDict

from opensearch_winnow.answers.quotes import QuotesDocument, quoted_runs, quotes_document
from opensearch_winnow.answers.similar_words import below_guarantee_sentence
from opensearch_winnow.answers.source_words import found_sentence, quotes_summary
from opensearch_winnow.answers.sources import Sources, sources
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.web.parameters import FILTER_NAMES, FILTER_PARAMETERS, choice, integer, percentage
from opensearch_winnow.web.pasted_texts import EXPIRY_MINUTES, PastedText, text_from_form
from opensearch_winnow.web.request_texts import pasted_text
from opensearch_winnow.web.screen import Action, Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.source_text import source_text

MAX_MATCHES = 1_000
MAX_SUGGESTED_WORDS = 12  # for a search, if no page quotes the text


class PasteDocument(TypedDict):
    """What a pasted text must be like."""

    needed: int  # minimum number of letters and digits; for code, tokens
    sure: int | None  # a shared run of this many is certain to be found; None: none is
    minutes: int  # that a text is kept after its last use


class SentText(TypedDict):
    """The text of a request: either `text` or `html`."""

    text: NotRequired[str]
    html: NotRequired[str]


def form(index: Index, _request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(
        _rules(index.scheme), lambda: {"pages": index.store.count(), "code": index.scheme.form == "code"}
    )


def _rules(scheme: Scheme) -> PasteDocument:
    sure = scheme.guarantee if scheme.guarantees else None
    return {"needed": scheme.noise, "sure": sure, "minutes": EXPIRY_MINUTES}


def paste(index: Index, request: ScreenRequest) -> str:
    """Keep the text of the form and return the address of its results."""
    return f"/paste/{request.state.pasted.add(text_from_form(index, request.form))}"


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    """Find the pages that quote a pasted text."""
    pasted = pasted_text(request, request["id"])
    length = len(canonical(pasted.text, index.scheme).chars)
    matches = _matches(index, request, pasted.text) if length else None
    if length < index.scheme.noise and not matches:  # no page has all of its words
        document = _too_short(pasted.text, length, index.scheme)
        return ScreenAnswer(document, lambda: _common_values(index, pasted) | {"short": True})
    assert matches is not None
    found = sources(pasted.text, matches.matches)
    document = _document(pasted.text, matches, found)
    return ScreenAnswer(document, lambda: _template_values(index, request, pasted, matches, found) | {"short": False})


def quotes(index: Index, request: ScreenRequest) -> ScreenAnswer:
    """Find the pages that quote a text sent by a program."""
    sent = text_from_form(index, request.form)
    matches = _matches(index, request, sent.text)
    document = _document(sent.text, matches, sources(sent.text, matches.matches))
    if sent.text != request.form.get("text"):
        document["text"] = sent.text
    return ScreenAnswer(document)


def _matches(index: Index, request: ScreenRequest, text: str) -> Matches:
    return index.similar(
        text=text,
        min_containment=request["min_containment"],
        limit=request["limit"],
        where=request.filters(),
        all_captures=request["captures"] == "all",
        boilerplate=request["boilerplate"] == "on",
        max_seconds=request.state.max_seconds,
    )


def _document(text: str, matches: Matches, found: Sources) -> QuotesDocument:
    return quotes_document(text, matches, quoted_runs(text, matches), found, quotes_summary(matches, found))


def _too_short(text: str, length: int, scheme: Scheme) -> QuotesDocument:
    nothing = Matches([], 0, "containment", 0.0, 0, 0, 0, 0, 0.0)
    unit = "token" if scheme.form == "code" else "letter or digit"
    has = f"{length:,} {unit}" if length == 1 else f"{length:,} {'tokens' if unit == 'token' else 'letters and digits'}"
    answer = f"This text is too short: it has {has}, but {scheme.noise:,} are needed"
    return quotes_document(text, nothing, [], sources("", []), answer)


def _common_values(index: Index, pasted: PastedText) -> dict[str, Any]:
    return {"pasted": pasted, "rules": _rules(index.scheme), "code": index.scheme.form == "code"}


def _template_values(
    index: Index, request: ScreenRequest, pasted: PastedText, matches: Matches, found: Sources
) -> dict[str, Any]:
    narrowed = any(name in request.query for name in (*FILTER_NAMES, "min_containment"))
    return _common_values(index, pasted) | {
        "pages": index.store.count(),
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


def table(document: QuotesDocument) -> Iterator[Sequence[Cell]]:
    scores, page = ("containment", "resemblance", "contained"), ("fetched_at", "site", "url", "title", "id")
    yield *scores, "longest_words", "passages", *page, "relationship"
    for each in document["matches"]:
        values = each["containment"], each["resemblance"], each["contained"], each["longest_words"]
        card = each["fetched_at"], each["site"], each["url"], each["title"], each["id"]
        yield *values, len(each["passages"]), *card, each["relationship"] and each["relationship"]["kind"]


PARAMETERS = (
    percentage("min_containment", "minimum share of the text that is in a page", default=0, minimum=0),
    integer("limit", "number of pages, best first", default=100, minimum=1, maximum=MAX_MATCHES),
    choice("boilerplate", "ignore registered boilerplate, or compare it like any other text", "on", "off"),
    *FILTER_PARAMETERS,
)
FORM = Screen(
    name="paste",
    path="/paste",
    api="/quotes",
    summary="How long a text must be, and how long it is kept",
    answer=form,
    returns=PasteDocument,
)
SCREEN = Screen(
    name="pasted",
    path="/paste/{id}",
    api="/quotes/{id}",
    summary="The pages that quote a pasted text",
    answer=answer,
    returns=QuotesDocument,
    heavy=True,
    table=table,
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
    returns=QuotesDocument,
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
