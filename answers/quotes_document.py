"""Which pages have a text, or passages of it, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from opensearch_winnow.answers.matches_document import FoundDocument, MatchDocument, found_document, match_document
from opensearch_winnow.answers.quoted_runs import QuotedRun
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.matches import Match, Matches


class RunDocument(TypedDict):
    """A run of the text that so many of the `matches` have, roughly: where it is in the text, in code points."""

    number: int
    start: int
    end: int
    words: int
    pages: int


class QuoteDocument(MatchDocument):
    """`runs` are the numbers of those that the page has, `longest_words` the words of its longest passage."""

    runs: list[int]
    longest_words: int


class QuotesDocument(FoundDocument):
    """`answer` says it in words. `text` is what a reader sees of HTML that was sent: the offsets are of that."""

    answer: str
    words: int
    characters: int
    text: str | None
    runs: list[RunDocument]
    matches: list[QuoteDocument]


def quotes_document(text: str, matches: Matches, runs: Sequence[QuotedRun], answer: str) -> QuotesDocument:
    numbers: list[list[int]] = [[] for _ in matches]
    for run in runs:
        for page in run.pages:
            numbers[page].append(run.number)
    return {
        **found_document(matches),
        "answer": answer,
        "words": len(canonical_text(text).words),
        "characters": len(text),
        "text": None,
        "runs": [
            {
                "number": run.number,
                "start": run.start,
                "end": run.end,
                "words": run.words,
                "pages": len(run.pages),
            }
            for run in runs
        ],
        "matches": [_quote(text, match, each) for match, each in zip(matches, numbers, strict=True)],
    }


def _quote(text: str, match: Match, runs: list[int]) -> QuoteDocument:
    longest = max((text[each.start : each.end] for each in match.passages), key=len, default="")
    return {**match_document(match), "runs": runs, "longest_words": len(canonical_text(longest).words)}


def quotes_in_words(matches: Matches) -> str:
    """3 pages quote this text."""
    if not matches.total:
        return (
            "No page shares a passage with this text" if not matches.threshold else "No page has so much of this text"
        )
    whole = sum(match.containment == 1 for match in matches)
    count = "1 page quotes this text" if matches.total == 1 else f"{matches.total:,} pages quote this text"
    if whole == matches.total:
        return "1 page has all of this text" if whole == 1 else f"{whole:,} pages have all of this text"
    return f"{count}, {whole:,} of them all of it" if whole else count
