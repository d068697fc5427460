"""Paste: a text that is no page, and the pages that have it or passages of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NotRequired, TypedDict

from markupsafe import Markup

from opensearch_winnow.answers.quotes import QuotedRun, QuotesDocument, quoted_runs, quotes_document, quotes_summary
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.queries.compare import Passage
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.queries.numbered_passages import NumberedPassage
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.asked_texts import pasted_text
from opensearch_winnow.web.filter_parameters import FILTERS, NAMES, filters
from opensearch_winnow.web.marked_text import Marking, marked_text
from opensearch_winnow.web.parameters import choice, number, percentage
from opensearch_winnow.web.passage_windows import LONGEST, shown, window
from opensearch_winnow.web.pasted_texts import MINUTES, PastedText
from opensearch_winnow.web.screen import Action, Answered, Cell, Screen
from opensearch_winnow.web.sent_text import sent_text

MOST = 1_000  # matches that are listed
SEARCHED = 12  # words of a text that are searched for where no page has a passage of it


class PasteDocument(TypedDict):
    """What a text has to be like: letters and digits (of code: tokens) that it has at least, how long a run is to be
    found for sure, and the minutes that a text is kept after it was last looked at."""

    needed: int
    sure: int
    minutes: int


class SentText(TypedDict):
    """One of the two."""

    text: NotRequired[str]
    html: NotRequired[str]


def form(index: Index, _asked: Asked) -> Answered:
    return Answered(_rules(index.scheme), lambda: {"pages": index.store.count(), "code": index.scheme.form == "code"})


def _rules(scheme: Scheme) -> PasteDocument:
    return {"needed": scheme.noise, "sure": scheme.guarantee, "minutes": MINUTES}


def keep(index: Index, asked: Asked) -> str:
    return f"/paste/{asked.kept.pasted.keep(sent_text(index, asked.form))}"


def answer(index: Index, asked: Asked) -> Answered:
    """About a text that was pasted."""
    pasted = pasted_text(asked, asked["id"])
    length = len(canonical(pasted.text, index.scheme).chars)
    if length < index.scheme.noise:
        document = _too_short(pasted.text, length, index.scheme)
        return Answered(document, lambda: _shown(index, asked, pasted, document, []) | {"short": True})
    matches = _matches(index, asked, pasted.text)
    runs = quoted_runs(pasted.text, matches)
    found = quotes_document(pasted.text, matches, runs, quotes_summary(matches))
    return Answered(found, lambda: _shown(index, asked, pasted, found, runs) | {"short": False})


def quotes(index: Index, asked: Asked) -> Answered:
    """About a text that a program sends."""
    sent = sent_text(index, asked.form)
    matches = _matches(index, asked, sent.text)
    found = quotes_document(sent.text, matches, quoted_runs(sent.text, matches), quotes_summary(matches))
    if sent.text != asked.form.get("text"):
        found["text"] = sent.text
    return Answered(found)


def _matches(index: Index, asked: Asked, text: str) -> Matches:
    return index.similar(
        text=text,
        min_containment=asked["min_containment"],
        limit=asked["limit"],
        where=filters(asked),
        all_captures=asked["captures"] == "all",
        boilerplate=asked["boilerplate"] == "on",
    )


def _too_short(text: str, length: int, scheme: Scheme) -> QuotesDocument:
    nothing = Matches([], 0, "containment", 0.0, 0, 0, 0, 0, 0.0)
    unit = "token" if scheme.form == "code" else "letter or digit"
    has = f"{length:,} {unit}" if length == 1 else f"{length:,} {'tokens' if unit == 'token' else 'letters and digits'}"
    return quotes_document(text, nothing, [], f"This text is too short: it has {has}, and {scheme.noise:,} are needed")


def _shown(
    index: Index, asked: Asked, pasted: PastedText, document: QuotesDocument, runs: Sequence[QuotedRun]
) -> dict[str, Any]:
    numbered = [
        NumberedPassage(run.number, Passage(run.start, run.end, run.start, run.end), run.words, moved=False)
        for run in runs
    ]
    here = window(numbered, asked["from"])
    numbers = {each.number for each in here.passages}

    def elsewhere(number: int) -> str | None:
        return None if number in numbers else f"{asked.link(**{'from': number})}#p{number}"

    spans = {run.number: (run.start, run.end) for run in runs}
    marking = Marking(
        own="p",
        partner="r",
        elsewhere=elsewhere,
        shown=shown(pasted.text, [spans[number] for number in sorted(numbers)], alone=here.alone),
        longest=LONGEST,
    )
    narrowed = any(name in asked.given for name in (*NAMES, "min_containment"))
    return {
        "pasted": pasted,
        "rules": _rules(index.scheme),
        "code": index.scheme.form == "code",
        "pages": index.store.count(),
        "window": here,
        "elsewhere": elsewhere,
        "text": Markup("".join(marked_text(pasted.text, spans, marking))),
        "narrowed": narrowed,
        "words": "" if document["total"] or narrowed else _found_words(index, pasted.text),
        "most": MOST,
    }


def _found_words(index: Index, text: str) -> str:
    """Words of the text that a search does find."""
    longest = sorted({word for word in text[:5_000].split() if word.isalpha()}, key=len, reverse=True)
    words = " ".join(longest[:SEARCHED])
    return words if words and index.search(words, any_word=True, limit=1).total else ""


def table(document: QuotesDocument) -> Iterator[Sequence[Cell]]:
    scores, page = ("containment", "resemblance", "contained"), ("fetched_at", "site", "url", "title", "id")
    yield *scores, "longest_words", "passages", *page
    for each in document["matches"]:
        found = each["containment"], each["resemblance"], each["contained"], each["longest_words"]
        yield *found, len(each["passages"]), each["fetched_at"], each["site"], each["url"], each["title"], each["id"]


PARAMETERS = (
    percentage("min_containment", "how much of the text a page has, at least", default=0, least=0),
    number("limit", "pages that are listed, the best first", default=20, least=1, most=MOST),
    choice("boilerplate", "what is registered as boilerplate is left out, or counts as any text", "on", "off"),
    *FILTERS,
)
FORM = Screen(
    name="paste",
    path="/paste",
    api="/quotes",
    about="What a text has to be like to be asked about",
    answer=form,
    returns=PasteDocument,
)
SCREEN = Screen(
    name="pasted",
    path="/paste/{id}",
    api="/quotes/{id}",
    about="The pages that have a text that was pasted, or passages of it",
    answer=answer,
    returns=QuotesDocument,
    table=table,
    parameters=(
        *PARAMETERS,
        number("from", "the run that a page of a long text begins with", default=1, least=1, most=10**9),
    ),
)
QUOTES = Screen(
    name="quotes",
    path="",
    api="/quotes",
    about="The pages that have a text, or passages of it: the text is sent, and kept nowhere",
    answer=quotes,
    returns=QuotesDocument,
    sends=SentText,
    parameters=PARAMETERS,
)
KEEP = Action(name="paste", path="/paste", about="Keep a text for a while, to ask about it", act=keep, writes=False)
