"""Pages that quote a text: the quoted runs of the text, JSON values, and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from opensearch_winnow.answers.asking.matches_document import (
    FoundDocument,
    MatchDocument,
    found_document,
    match_document,
)
from opensearch_winnow.answers.asking.too_short import WordSearchDocument
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.operations.asking.sources import TextSource, TextSources
from opensearch_winnow.queries.asking.matches import Match, Matches

MIN_OVERLAP = 0.9  # two passages that share this part of their union are the same run
MAX_LOOKBACK = 50  # earlier runs that a passage is compared with; passages come in the order of the text


@dataclass(slots=True)
class QuotedRun:
    """A run of the text that other pages have. A run on many pages is one run."""

    number: int  # from 1, in the order of the text
    start: int
    end: int
    words: int = 0
    pages: set[int] = field(default_factory=set)  # positions, in the list of matches, of the pages that have it


def quoted_runs(text: str, matches: Iterable[Match]) -> list[QuotedRun]:
    """Merge the passages of all matches into runs of the text."""
    passages = sorted(
        (passage.start, -passage.end, page) for page, match in enumerate(matches) for passage in match.passages
    )
    runs: list[QuotedRun] = []
    for start, negative_end, page in passages:
        run = next((each for each in reversed(runs[-MAX_LOOKBACK:]) if _same(each, start, -negative_end)), None)
        if run is None:
            run = QuotedRun(len(runs) + 1, start, -negative_end)
            runs.append(run)
        run.end = max(run.end, -negative_end)
        run.pages.add(page)
    for run in runs:
        run.words = len(canonical_text(text[run.start : run.end]).words)
    return runs


def _same(run: QuotedRun, start: int, end: int) -> bool:
    intersection = min(run.end, end) - max(run.start, start)
    union = max(run.end, end) - min(run.start, start)
    return intersection >= MIN_OVERLAP * union


class RunDocument(TypedDict):
    """A run of the text, with its offsets in code points, and how many of the `matches` have it, give or take a word
    at its ends."""

    number: int
    start: int
    end: int
    words: int
    pages: int


class QuoteDocument(MatchDocument):
    """A match. `runs` has the numbers of the runs on this page, `longest_words` the length of its longest passage."""

    runs: list[int]
    longest_words: int


class SourcedPartDocument(TypedDict):
    """A part of the text, with its offsets in code points."""

    start: int
    end: int


class SourceDocument(TypedDict):
    """Pages that have the same parts of the text, by their ids in `matches`: `id` has most of it, `versions` are
    versions of that page, `partial` are other pages that have no more of the text. Each part of the text belongs to one
    source: `share` is what this one has of all letters and digits."""

    number: int
    id: str
    versions: list[str]
    partial: list[str]
    share: float
    longest_words: int
    segments: list[SourcedPartDocument]


class QuotesDocument(FoundDocument):
    """`answer` is a summary in words. If HTML was sent, `text` is the text extracted from it: offsets refer to that.
    `original` is the share of the text that is in none of the `sources`, and null if no page says where it shares text;
    `boilerplate` is the share that is boilerplate. A text that is `too_short` has no matches, but a `search` for its
    words; otherwise it is null."""

    answer: str
    words: int
    characters: int
    text: str | None
    runs: list[RunDocument]
    matches: list[QuoteDocument]
    sources: list[SourceDocument]
    original: float | None
    boilerplate: float
    search: WordSearchDocument | None


def quotes_document(
    text: str, matches: Matches, runs: Sequence[QuotedRun], found: TextSources, answer: str
) -> QuotesDocument:
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
        "sources": [_source(text, matches, each) for each in found.sources],
        "original": found.original,
        "boilerplate": found.boilerplate_share,
        "search": None,
    }


def _source(text: str, matches: Matches, source: TextSource) -> SourceDocument:
    longest = max(source.parts, key=lambda span: span[1] - span[0])
    return {
        "number": source.number,
        "id": matches[source.page].card.id,
        "versions": [matches[at].card.id for at in source.versions],
        "partial": [matches[at].card.id for at in source.partial],
        "share": source.share,
        "longest_words": len(canonical_text(text[slice(*longest)]).words),
        "segments": [{"start": start, "end": end} for start, end in source.parts],
    }


def _quote(text: str, match: Match, runs: list[int]) -> QuoteDocument:
    longest = max((text[each.start : each.end] for each in match.passages), key=len, default="")
    return {**match_document(match), "runs": runs, "longest_words": len(canonical_text(longest).words)}
