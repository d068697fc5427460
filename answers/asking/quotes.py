"""The answer to a pasted text: the pages that quote it, the quoted runs of the text, and its sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from opensearch_winnow.answers.asking.source_words import quotes_summary
from opensearch_winnow.answers.asking.too_short import WordsToSearch, too_short_sentence
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.asking.nothing_found import WordSearch
from opensearch_winnow.operations.asking.sources import TextSource, TextSources
from opensearch_winnow.queries.asking.matches import Match, Matches

MIN_OVERLAP = 0.9  # two passages with an overlap of this share of their union are the same run
MAX_LOOKBACK = 50  # earlier runs that a passage is compared with; passages come in the order of the text


@answer
class PasteRules(Answer):
    """The requirements of a pasted text."""

    needed: int = key("The minimum number of letters and digits; for code, of tokens.")
    sure: int | None = key("A shared run of this many is certain to be found; null if no length is.")
    minutes: int = key("The time that a text is kept after its last use, in minutes.")


@dataclass(slots=True)
class QuotedRun(Answer):
    """A run of the text that is also on other pages. A run on many pages is one run."""

    number: int = key("The number of the run, from 1, in the order of the text.")
    start: int = key("Its start, in code points of the text.")
    end: int = key("Its end, in code points of the text.")
    words: int = key("The number of its words.", default=0)
    matches: set[int] = field(default_factory=set)  # positions of the pages that have it in the list of matches

    @property
    @derived
    def pages(self) -> int:
        """The number of matches that have it, up to a word at either end."""
        return len(self.matches)


@answer
class Quote(Answer):
    """A page that quotes a text."""

    match: Match = inlined()
    runs: list[int] = key("The numbers of the runs that are on this page.")
    longest_words: int = key("The number of words of its longest passage.")


class TextPart(NamedTuple):
    """A part of a text, with its offsets in code points."""

    start: int
    end: int


@answer
class QuotedSource(Answer):
    """Pages that have the same parts of a text. No part belongs to two sources."""

    source: TextSource = inlined("number", "share")
    id: str = key("The id of the page that has most of the text.")
    versions: list[str] = key("The ids of pages that are versions of that page.")
    partial: list[str] = key("The ids of other pages that have no more of the text.")
    longest_words: int = key("The number of words of the longest part.")
    segments: list[TextPart] = key("The parts of the text.")


@answer
class Quotes(Listing[Quote]):
    """The pages that quote a text, and its sources."""

    found: Matches = inlined()
    answer: str = key("A summary in words.")
    words: int = key("The number of words of the text.")
    characters: int = key("The number of its code points.")
    text: str | None = key("The text of the HTML that was sent; offsets refer to it. Otherwise null.")
    runs: list[QuotedRun] = key("The runs of the text that the pages have.")
    matches: list[Quote] = listed("The best of the matches.")
    sources: list[QuotedSource] = key("The sources of the text, by their share of it.")
    original: float | None = key(
        "The share of the text that is in no source; null if no passages are known, or if the text is too short."
    )
    boilerplate: float = key("The share of the text that is boilerplate.")
    search: WordsToSearch | None = key("A search for the words of a text that is too short; otherwise null.")

    @classmethod
    def of(cls, text: str, found: Matches, sources: TextSources, *, sent: str | None = None) -> Self:
        """Return the pages that quote a text. `sent` is the text if it was sent as HTML."""
        runs = quoted_runs(text, found)
        numbers: list[list[int]] = [[] for _ in found]
        for run in runs:
            for page in run.matches:
                numbers[page].append(run.number)
        return cls(
            found=found,
            answer=quotes_summary(found, sources),
            words=_words(text),
            characters=len(text),
            text=sent,
            runs=runs,
            matches=[_quote(text, match, each) for match, each in zip(found, numbers, strict=True)],
            sources=[_source(text, found, each) for each in sources.sources],
            original=sources.original,
            boilerplate=sources.boilerplate_share,
            search=None,
        )

    @classmethod
    def of_few_words(
        cls, text: str, found: Matches, search: WordSearch, scheme: Scheme, *, sent: str | None = None
    ) -> Self:
        """Return a search for the words instead of matches: a page that has a few words is not a copy."""
        nothing = replace(found, matches=[], total=0)
        made = cls.of(text, nothing, TextSources([], [], 0.0, None, []), sent=sent)
        return replace(made, answer=too_short_sentence(text, scheme), search=WordsToSearch.of(search))


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
        run.matches.add(page)
    for run in runs:
        run.words = _words(text[run.start : run.end])
    return runs


def _same(run: QuotedRun, start: int, end: int) -> bool:
    intersection = min(run.end, end) - max(run.start, start)
    union = max(run.end, end) - min(run.start, start)
    return intersection >= MIN_OVERLAP * union


def _source(text: str, found: Matches, source: TextSource) -> QuotedSource:
    longest = max(source.parts, key=lambda span: span[1] - span[0])
    return QuotedSource(
        source=source,
        id=found[source.page].id,
        versions=[found[at].id for at in source.versions],
        partial=[found[at].id for at in source.partial],
        longest_words=_words(text[slice(*longest)]),
        segments=[TextPart(*span) for span in source.parts],
    )


def _quote(text: str, match: Match, runs: list[int]) -> Quote:
    longest = max((text[each.start : each.end] for each in match.passages), key=len, default="")
    return Quote(match, runs, _words(longest))


def _words(text: str) -> int:
    return len(canonical_text(text).words)
