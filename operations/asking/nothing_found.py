"""Finds out why a search or a question found nothing, and suggests changes that find pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.operations.asking.page_finder import PageFinder, no_text
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.operations.searching.searches import Searches
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions, SimilarQuestion, with_minima
from opensearch_winnow.queries.filters import Filters, searched
from opensearch_winnow.queries.scores import Score
from opensearch_winnow.queries.searching.search_request import SearchQuestion
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.queries.words import Term, Words, as_typed
from opensearch_winnow.stores.store import Store

MAX_PARTS_TRIED = 8  # parts of a query that are left out one by one
ROUND_THRESHOLDS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # the highest that finds a page is offered
MAX_PAGES_TRIED = 100  # pages scored to learn what a lower threshold would find
MAX_SHORT_CHARS = 1_000  # of a text that is certainly longer than most guarantees
HALF = 0.5

NoHitCause = Literal["empty", "filtered", "unwanted", "no_word", "one_too_many", "apart"]


class NoHit(NamedTuple):
    """The reason why a search has no hit.

    "empty": the store has no pages. "filtered": only pages outside the filters have the words. "unwanted": pages have
    them, together with a word that must be missing. "no_word": there is one word, and no page has it. "one_too_many":
    pages have all words but one. "apart": no page has all words but one.
    """

    cause: NoHitCause
    words: Words | None = None  # the query, parsed
    left_out: Sequence[Term] = ()  # the alternatives without which pages are found; or the only word
    query: str | None = None  # the query to run instead
    pages: int = 0  # that it finds


def why_no_hit(store: Store, searches: Searches, question: SearchQuestion) -> NoHit:
    """Find out why a search has no hit."""
    if not store.count():
        return NoHit("empty")
    if question.where != Filters():
        anywhere = searches.total(question.words, Filters(latest=True), any_word=question.any_word)
        if anywhere:
            return NoHit("filtered", query=question.words, pages=anywhere)
    limited, words = question.request.searched, question.request.parsed
    if words.unwanted:
        query = as_typed(words.wanted)
        if pages := searches.total(query, limited):
            return NoHit("unwanted", words, query=query, pages=pages)
    if len(words.wanted) == 1:
        return NoHit("no_word", words, words.wanted[0])
    tried = words.wanted[:MAX_PARTS_TRIED]
    fewer = {part: as_typed([each for each in words.wanted if each is not part]) for part in tried}
    counts = {part: searches.total(query, limited) for part, query in fewer.items()}
    part = max(counts, key=lambda each: counts[each])
    if not counts[part]:
        return NoHit("apart", words)
    return NoHit("one_too_many", words, part, fewer[part], counts[part])


class WordSearch(NamedTuple):
    """A search for the words of a text, and the number of pages that it finds."""

    query: str
    total: int


def search_for_words(searches: Searches, text: str, where: Filters = Filters()) -> WordSearch:
    """Search for the words of a text in a row; if no page has this phrase, for all of them in any order."""
    limited = searched(where)
    words = storable(text).replace('"', " ").split()
    phrase, all_words = f'"{" ".join(words)}"', " ".join(f'"{word}"' for word in words)
    total = searches.total(phrase, limited)
    if total or len(words) < 2:
        return WordSearch(phrase, total)
    return WordSearch(all_words, searches.total(all_words, limited))


class Offer(NamedTuple):
    """A change to a question that finds pages.

    Leave out the "filters"; lower the "threshold"; ask for "half" of it, for any "passage", or for its "words".
    """

    kind: Literal["filters", "threshold", "half", "passage", "words"]
    pages: int = 0  # that it finds
    at_least: bool = False  # True if there may be more, because not all pages were tried
    minima: Mapping[Score, float | None] = {}  # the thresholds that change
    words: WordSearch | None = None  # to run instead


NoMatchCause = Literal["empty", "no_text", "too_short", "unscored", "filtered", "below", "several", "passage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMatch:
    """The reason why a question of similarity has no match. Without offers, nothing in the store is similar.

    "empty": the store has no pages. "no_text": the page has no text. "too_short": the question is too short.
    "unscored": the time was up. "filtered": only pages outside the filters match. "below": pages are below the
    threshold. "several": pages are below one of several thresholds. "passage": no page shares a passage.
    """

    cause: NoMatchCause
    offers: Sequence[Offer] = ()
    lack: str = ""  # of a page without text: "no text", with the reason if it is known
    text: str = ""  # of the question; empty if it is not stored
    words: WordSearch | None = None  # for the words of a question that is too short, if its text is known
    closest: float = 0.0  # the best score below the threshold; 0 if it was not sought, or is very low
    pages: int = 0  # in the store
    is_stored: bool = False  # True if the question is a page of the store
    is_filtered: bool = False
    guarantee: int | None = None  # that the question chose instead of the scheme's


class LowerThreshold(NamedTuple):
    """A threshold that finds pages."""

    threshold: float
    pages: int  # pages it finds
    at_least: bool  # True if there may be more, because not all pages were tried


class UnmatchedQuestion:
    """A question of similarity that has no match: finds out why.

    >>> UnmatchedQuestion(store, pages, searches, SimilarQuestion(url="http://a.org/"), exclusions).why(matches)
    """

    def __init__(
        self, store: Store, pages: PageFinder, searches: Searches, question: SimilarQuestion, exclusions: Exclusions
    ) -> None:
        """`exclusions` are the hashes that the question left out."""
        self._store = store
        self._searches = searches
        self._page = pages.in_question(question)
        self._is_stored = question.is_stored
        self._options: SimilarOptions = question
        self._exclusions = exclusions

    def why(self, matches: Matches) -> NoMatch:
        """Find out why the question gave no `matches`."""
        options = self._options
        is_filtered = options.where != Filters()
        pages = self._store.count()
        if not pages:
            return NoMatch(cause="empty")
        if self._is_stored and (lack := no_text(self._page)):
            return NoMatch(cause="no_text", lack=lack)
        if matches.too_short:
            return self._of_few_words()
        if matches.unscored:
            return NoMatch(cause="unscored")
        if is_filtered and (anywhere := self._matches(replace(options, where=Filters(), limit=1)).total):
            return NoMatch(cause="filtered", offers=[Offer("filters", anywhere)])
        minima = options.minima
        several = any(value is not None for name, value in minima.items() if name != matches.score)
        if not several and (closest := self._closest(matches)):
            return closest
        if several or matches.min_score:
            any_passage: dict[Score, float | None] = {**dict.fromkeys(minima), "containment": 0.0}
            for_any = with_minima(options, any_passage)
            # Estimates count the pages as well as texts do, and faster, unless the shared text may be boilerplate. A
            # short text is found by its words, and then compared.
            is_short = not self._is_stored and len(self._page.text) < MAX_SHORT_CHARS
            exact = options.exact and (is_short or bool(self._exclusions))
            sharing = self._matches(replace(for_any, exact=exact, limit=1)).total
            if sharing:
                offers = [Offer("passage", sharing, minima=any_passage)]
                return NoMatch(cause="several" if several else "below", offers=offers)
        return NoMatch(
            cause="passage",
            pages=pages,
            is_stored=self._is_stored,
            is_filtered=is_filtered,
            guarantee=options.guarantee,
        )

    def _matches(self, options: SimilarOptions) -> Matches:
        """Ask the question with other options."""
        return SimilarPages(self._store, self._page, options, self._exclusions, is_stored=self._is_stored).find()

    def _of_few_words(self) -> NoMatch:
        text = self._page.text
        if not text:
            return NoMatch(cause="too_short")
        words = search_for_words(self._searches, text, self._options.where)
        offers = [Offer("words", words.total, words=words)] if words.total else []
        return NoMatch(cause="too_short", offers=offers, text=text, words=words)

    def _closest(self, matches: Matches) -> NoMatch | None:
        """Offer the highest round threshold that finds a page. Below the lowest of them, a shared passage says more."""
        lowest = ROUND_THRESHOLDS[-1]
        if matches.min_score <= lowest:
            return None
        lower = with_minima(self._options, {matches.score: lowest})
        nearest = self._matches(replace(lower, limit=MAX_PAGES_TRIED))
        scores = [getattr(match, matches.score) for match in nearest]
        found = lower_threshold(scores, nearest.total)
        if found is None:
            return None
        offers = [Offer("threshold", found.pages, found.at_least, {matches.score: found.threshold})]
        if matches.score == "resemblance" and any(match.containment >= HALF for match in nearest):
            offers.append(Offer("half", minima={"resemblance": None, "containment": HALF}))
        return NoMatch(cause="below", offers=offers, closest=scores[0])


def lower_threshold(scores: Sequence[float], total: int) -> LowerThreshold | None:
    """Return the highest round threshold that one of `scores` reaches: the best scores of `total` pages."""
    for threshold in ROUND_THRESHOLDS:
        pages = sum(score >= threshold for score in scores)
        if pages:
            return LowerThreshold(threshold, pages, at_least=pages == len(scores) < total)
    return None
