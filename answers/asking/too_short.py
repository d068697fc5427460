"""Sentences about questions that are too short to be checked for copies, and about a search for their words."""

from __future__ import annotations

from typing import TypedDict

from opensearch_winnow.answers.display_text import printable
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.asking.nothing_found import WordSearch

TOO_SHORT = "too short to check for copies"


class WordSearchDocument(TypedDict):
    """A search for the words of a text: the query to type, and how many pages it finds."""

    words: str
    total: int


def too_short_sentence(text: str, scheme: Scheme) -> str:
    """Say that a text is too short, without a full stop. The text may be empty if it is not stored."""
    units = ("token", "tokens") if scheme.form == "code" else ("letter or digit", "letters and digits")
    has = count_of(len(canonical(text, scheme).chars), *units) if text else f"fewer than {scheme.noise:,} {units[1]}"
    needed = f", and at least {scheme.noise:,} are needed" if text else ""
    return f"{TOO_SHORT.capitalize()}: it has {has}{needed}"


def word_search_document(search: WordSearch) -> WordSearchDocument:
    return {"words": printable(search.query), "total": search.total}


def words_sentence(search: WordSearch) -> str:
    """Say how many pages have the words, without a capital: "10 pages have these words in a row"."""
    are_apart, is_one = '" "' in search.query, " " not in search.query
    if not search.total:
        return f"no page has {'this word' if is_one else 'all of these words'}"
    pages = count_of(search.total, "page has", "pages have")
    if are_apart:
        return f"no page has these words in a row, but {pages} all of them"
    return f"{pages} {'this word' if is_one else 'these words in a row'}"
