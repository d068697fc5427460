"""The search box: recognises words, a URL or a paragraph, and suggests pages while typing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from urllib.parse import quote

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.foundation.answers import Answer, Listing, answer, key, listed
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.web.pasted_texts import PastedText
from opensearch_winnow.web.screen_request import ScreenRequest

MIN_PARAGRAPH_WORDS = 25  # a longer query is a text to look for: hardly any other page has all its words
SCHEMES = ("https://", "http://", "https://www.", "http://www.")  # that people leave out
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[\w-]+(?:\.[\w-]+)+(?::\d+)?/\S*", re.IGNORECASE)
MIN_SUGGEST_CHARS = 2
MIN_PART_CHARS = 4  # of a part of an address, which is looked for in all of them
MAX_TITLES_READ = 30  # hits among which titles with the words are looked for


@answer
class Suggestion(Answer):
    """The latest capture of a page whose address or title begins as typed."""

    id: str = key("The id of the capture.")
    url: str = key("The URL of the page.")
    title: str | None = key("The title of the page; null if it has none.")
    fetched_at: datetime | None = key("The time of the capture; null if it is unknown.")


@answer
class Suggestions(Listing[Suggestion]):
    """Pages whose address or title begins as typed."""

    suggestions: list[Suggestion] = listed("The pages.")


def is_address(typed: str) -> bool:
    return ADDRESS.fullmatch(typed.strip()) is not None


def is_paragraph(typed: str) -> bool:
    """Return whether a text was pasted. A phrase in quotes is a search, however long it is."""
    typed = typed.strip()
    return not (typed.startswith('"') and typed.endswith('"')) and len(word_tokens(typed)[0]) >= MIN_PARAGRAPH_WORDS


def address_for(index: Index, request: ScreenRequest) -> str | None:
    """Return the address to open instead of searching: of the page at a typed URL, or the pages that quote a paragraph.

    None means that words were typed.
    """
    typed: str = request["words"].strip()
    if is_paragraph(typed):
        return f"/paste/{request.state.pasted.add(PastedText(typed))}"
    if not re.search(r"\s", typed) and (page := _page_at(index, typed)) is not None:
        return f"/page/{quote(page)}"
    return None


def _page_at(index: Index, typed: str) -> str | None:
    """Return the id of the latest capture of the URL that was typed, in this or another spelling."""
    found = index.captures(typed, limit=1)
    if not found and "." in typed:
        spelled = [typed] if "://" in typed else [scheme + typed for scheme in SCHEMES]
        known = (url for each in spelled for url in (each, index.known_url(each)) if url)
        found = next((some for url in known if (some := index.captures(url, limit=1))), [])
    return found[0].id if found else None


def suggestions(index: Index, typed: str, limit: int) -> Suggestions:
    typed = typed.strip()
    found: dict[str, Card] = {}
    if len(typed) >= MIN_SUGGEST_CHARS:
        for card in islice(_suggested(index, typed, limit), 4 * limit):
            found.setdefault(card.url, card)
            if len(found) == limit:
                break
    return Suggestions([Suggestion(card.id, card.url, card.title, card.fetched_at) for card in found.values()])


def _suggested(index: Index, typed: str, limit: int) -> Iterator[Card]:
    if not re.search(r"\s", typed) and re.search(r"[./:]", typed):
        for prefix in [typed] if "://" in typed else [typed, *(scheme + typed for scheme in SCHEMES)]:
            yield from index.cards(Selection(url_prefix=prefix, latest=True), order="url", limit=limit)
    words, _, _ = word_tokens(typed)
    if words:
        hits = index.search(" ".join(words) + "*", limit=MAX_TITLES_READ, where=Filters(latest=True)).hits
        yield from (hit.card for hit in hits if len(hit.title_marks) >= len(words))
    if not re.search(r"\s", typed) and len(typed) >= MIN_PART_CHARS:
        yield from index.cards(Selection(url_part=typed, latest=True), order="url", limit=limit)
