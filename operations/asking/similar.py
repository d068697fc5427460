"""Finds the matches of a question: looks up candidates in a store, then scores each of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from math import ceil, floor
from typing import NamedTuple

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.written_time import EPOCH
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.page_comparer import (
    MIN_CANDIDATES_TO_ESTIMATE,
    TEXT_BATCH,
    PageComparer,
    TextKey,
    text_key,
)
from opensearch_winnow.operations.asking.short_questions import ShortQuestion
from opensearch_winnow.operations.asking.side_cache import SideCache
from opensearch_winnow.queries.asking.frequency_check import CHECKED_FIELDS, FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Lookup, binomial_quantile, lookups
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.compare import Side, lengths, sameness
from opensearch_winnow.queries.estimates import CLEAR_ERRORS, estimate_by_counts
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.relationship import Lengths, same_in
from opensearch_winnow.queries.scores import Passage, Score, Scores
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.store import Candidate, CandidatesOfLookup, LookupsOfQuestion, Sizes, Store, Text

MIN_WHOLE = 0.5  # resemblance of a page that matches a question below the noise threshold as a whole
MAX_SIZE = 2**31 - 1  # of the numbers that a store keeps
# Of the candidates for any passage, the ones with the most shared tokens are compared: at least this many, and more
# until there are as many matches as wanted. Comparing all pages that have a popular passage could take seconds.
MIN_COMPARED = 500
MORE_COMPARED = 4  # times as many in the next round


class SharedSketch(NamedTuple):
    """The number of shingles in the question's sketch that each candidate shares."""

    by_id: dict[str, int]
    others: int  # upper bound for a candidate that the lookup of the sketch did not find

    def with_page(self, page: Candidate) -> int:
        return self.by_id.get(page.id, self.others)


class CandidatePages(NamedTuple):
    """The candidates of all lookups."""

    pages: list[Candidate]
    tokens: int  # tokens of the question, in the fields that the frequency check covers
    ignored: int  # tokens among these that were too frequent to look up
    sketch: SharedSketch | None  # None unless the whole sketch was looked up
    others: int  # further pages that share as much at most, and were not looked up


class ScoredPage(NamedTuple):
    """A candidate with its scores; an estimate has a standard error, an exact score has None."""

    card: Card
    scores: Scores
    error: float | None = None


class SharedText(NamedTuple):
    """The text that a candidate shares with the question."""

    passages: list[Passage]
    boilerplate: list[Passage]
    lengths: Lengths | None  # None: no passages were sought
    sameness: str  # in words, if the canonical texts are equal; otherwise empty


class SimilarPages:
    """Finds the pages of a store that are similar to a question.

    >>> SimilarPages(store, record, SimilarOptions(limit=10), exclusions, is_stored=True).find()
    """

    def __init__(
        self,
        store: Store,
        record: Record,
        options: SimilarOptions,
        exclusions: Exclusions,
        *,
        is_stored: bool,
        texts_stored: bool | None = None,
        sides: SideCache | None = None,
    ) -> None:
        """The question is about `record`, which is a page of the store if it `is_stored`.

        `texts_stored` is read from the store if it is not given; `sides` has texts of earlier questions.
        """
        question = Question.of(record, store.scheme, exclusions, options.guarantee)
        thresholds = options.thresholds(is_stored=is_stored)
        self._options = options
        self._own_url = record.url if is_stored else None
        self._store = store
        self._scheme = store.scheme
        self._comparer = PageComparer(store, exclusions, sides=sides)
        self._question = question
        self._short = ShortQuestion.of(store, question, texts_stored)
        self._too_short = self._short is not None and self._short.is_below_noise
        if self._too_short and "resemblance" not in thresholds.minima:
            thresholds = Thresholds({**thresholds.minima, "resemblance": MIN_WHOLE})
        self._thresholds = thresholds
        self._exclusions = exclusions
        self._shared: dict[str, SharedText] = {}  # by id
        self._texts: dict[str, str] = {}  # by id, of the first TEXT_BATCH matches
        self._wanted: dict[int | None, list[Lookup]] = {}  # lookups by the wanted number of candidates

    def first_lookups(self) -> LookupsOfQuestion:
        """Return the lookups that `find` begins with, to make them together with those of other questions."""
        return LookupsOfQuestion(self._lookups(_most(self._options.limit)), self._sizes())

    def find(self, *, passages: bool = True, looked_up: Sequence[CandidatesOfLookup] | None = None) -> Matches:
        """Return the matches, best first. Without `passages`, which take as long as the scores, it is faster.

        Captures of the question's own URL are not matches. Of several captures of a URL, only the best one is a match,
        or the newest if their scores are equal. `all_captures` lifts both rules. Candidates with the most shared tokens
        are scored first, and none after `max_seconds`. With a `limit`, a question for any passage compares only the
        candidates that share the most tokens. `looked_up` is the result of `first_lookups`.
        """
        options, limit = self._options, self._options.limit
        start = time.perf_counter()
        self._comparer.deadline = None if options.max_seconds is None else start + options.max_seconds
        sizes = self._sizes()
        check = FrequencyCheck.of(self._store.scheme, options.frequent)
        most = _most(limit)
        while True:
            found_pages = looked_up
            if found_pages is None:
                wanted = LookupsOfQuestion(self._lookups(most), sizes)
                found_pages = self._store.candidates([wanted], options.where, check)[0]
            looked_up = None
            candidates = self._candidates(found_pages, sizes, most)
            if self._short and options.exact:
                candidates = self._with_phrases(candidates, options.where, sizes, most)
            if not options.all_captures:
                others = [page for page in candidates.pages if page.url != self._own_url]
                candidates = candidates._replace(pages=others)
            found = self._scored(candidates)
            enough = limit is None or len(found) >= limit or not candidates.others
            if most is None or enough or self._comparer.is_late():
                break
            most *= MORE_COMPARED
        return Matches(
            matches=list(self._matches(found[:limit], passages=passages)),
            total=len(found) + candidates.others,
            score=self._thresholds.primary,
            min_score=self._thresholds.primary_minimum,
            candidates=len(candidates.pages) + candidates.others,
            tokens=candidates.tokens,
            ignored=candidates.ignored,
            frequent=check.max_pages,
            seconds=time.perf_counter() - start,
            unscored=self._comparer.skipped,
            uncompared=candidates.others,
            below_guarantee=self._short is not None and not (options.exact and self._short.words),
            too_short=self._too_short,
        )

    def _scored(self, candidates: CandidatePages) -> list[ScoredPage]:
        """Return the candidates that match, best first: of each URL the best capture, or all captures."""
        self._comparer.skipped = 0
        if self._options.exact and self._question.side:
            plausible = [page.id for page in self._plausible(candidates)]
            cards = self._store.read(plausible, Card)
            found = list(self._score([cards[id_] for id_ in plausible if id_ in cards]))
        else:
            found = list(self._score_by_estimates(candidates.pages))
        found.sort(key=self._rank)
        if not self._options.all_captures:
            found = list({each.card.url: each for each in reversed(found)}.values())
            found.sort(key=self._rank)
        return found

    def _sizes(self) -> Sizes | None:
        """Return the shingle counts a match may have: from r·|A| to |A|/r for a minimum resemblance r."""
        minimum = self._thresholds.minima.get("resemblance", 0.0)
        if not self._options.exact or not minimum or self._exclusions:
            return None
        size = self._question.record.hashes.shingle_count
        return Sizes(floor(size * minimum), ceil(min(size / minimum, MAX_SIZE)))

    def _lookups(self, most: int | None) -> list[Lookup]:
        if most in self._wanted:
            return self._wanted[most]
        wanted = list(lookups(self._question, self._thresholds, boilerplate=bool(self._exclusions), most=most))
        bands = self._question.record.hashes.bands
        if self._short and not self._short.words and bands and all(lookup.field != "bands" for lookup in wanted):
            wanted.append(Lookup("bands", bands, len(set(bands))))  # of pages with the same words
        self._wanted[most] = wanted
        return wanted

    def _candidates(self, found: Sequence[CandidatesOfLookup], sizes: Sizes | None, most: int | None) -> CandidatePages:
        wanted = self._lookups(most)
        pages = {
            each.id: each for some in found for each in some.pages if sizes is None or sizes.include(each.shingle_count)
        }
        pages.pop(self._question.record.id, None)
        sketch = next(
            (
                SharedSketch({each.id: each.shared for each in some}, lookup.minimum - 1)
                for lookup, some, _ in found
                if lookup.field == "sketch" and len(lookup.tokens) == len(self._question.sketched.sketch)
            ),
            None,
        )
        tokens = sum(len(lookup.tokens) for lookup in wanted if lookup.field in CHECKED_FIELDS)
        kept = sum(len(each.lookup.tokens) for each in found if each.lookup.field in CHECKED_FIELDS)
        others = sum(each.others for each in found)
        return CandidatePages(list(pages.values()), tokens, tokens - kept, sketch, others)

    def _with_phrases(
        self, candidates: CandidatePages, where: Filters, sizes: Sizes | None, most: int | None
    ) -> CandidatePages:
        """Add the pages that have a phrase of a short question."""
        assert self._short is not None
        found = self._short.candidates(where, most)
        known = {page.id for page in candidates.pages} | {self._question.record.id}
        more = [page for page in found.pages if page.id not in known]
        if sizes is not None:
            more = [page for page in more if sizes.include(page.shingle_count)]
        return candidates._replace(pages=candidates.pages + more, others=candidates.others + found.others)

    def _plausible(self, candidates: CandidatePages) -> Sequence[Candidate]:
        """Leave out candidates that cannot match: by the tokens they share, then by estimates."""
        pages: Sequence[Candidate] = candidates.pages
        if self._thresholds.any_passage or self._short:
            return pages
        if candidates.sketch and not self._exclusions:
            shared = candidates.sketch.with_page
            may_match = cache(self._may_match)  # many candidates have the same numbers
            pages = [page for page in pages if may_match(shared(page), page.sketch_count)]
        if len(pages) < MIN_CANDIDATES_TO_ESTIMATE:
            return pages
        return [page for page, _ in self._comparer.plausible(self._question, pages, self._thresholds, quick=True)]

    def _may_match(self, shared: int, theirs: int) -> bool:
        """Return whether a page may match that has `theirs` shingles in its sketch, `shared` with the question's."""
        ours = len(self._question.sketched.sketch)
        if self._thresholds.may_be_met_by(estimate_by_counts(shared, ours, theirs, self._scheme), CLEAR_ERRORS):
            return True
        # A standard error says little about a sample of a few shingles. There the exact binomial decides.
        sizes: dict[Score, int] = {"resemblance": ours + theirs - shared, "containment": ours, "contained": theirs}
        minima = self._thresholds.minima.items()
        return all(shared >= binomial_quantile(sizes[name], minimum) for name, minimum in minima)

    def _score(self, cards: Sequence[Card]) -> Iterator[ScoredPage]:
        """Score pages from their texts, equal texts once; estimate pages whose text is not stored."""
        groups: dict[TextKey, list[Card]] = {}
        for card in cards:
            groups.setdefault(text_key(card), []).append(card)
        textless: list[Card] = []
        for group, text in self._comparer.texts(list(groups.values())):
            if not text:
                textless += group
            elif found := self._exact_scores(group[0], text):
                if len(self._texts) < TEXT_BATCH:
                    self._texts[group[0].id] = text
                yield from (ScoredPage(card, found) for card in group)
        yield from self._score_by_estimates(textless)

    def _exact_scores(self, card: Card, text: str) -> Scores | None:
        """Return the exact scores, or None below a threshold."""
        ours, theirs = self._sides(card, text)
        found = self._comparer.scores(ours, theirs)
        if self._short and self._short.is_all_in(theirs, self._comparer):
            found = found._replace(containment=1.0)
        if not self._thresholds.met_by(found):
            return None
        if self._thresholds.any_passage:
            self._shared[card.id] = shared = self._shared_text(ours, theirs)
            return found if shared.passages else None
        return found

    def _score_by_estimates(self, pages: Sequence[Candidate | Card]) -> Iterator[ScoredPage]:
        estimates = self._comparer.estimates(self._question, pages)
        scored = {page.id: found for page, found in estimates if self._thresholds.met_by(found.scores)}
        for id_, card in self._store.read(scored, Card).items():
            yield ScoredPage(card, scored[id_].scores, scored[id_].error(self._thresholds.primary))

    def _rank(self, each: ScoredPage) -> tuple[float, float, float, float, str, str]:
        """Return a sort key: best score first, then newest, then by URL and id, so that the order is total."""
        time = each.card.fetched_at
        age = 0.0 if time is None else (EPOCH - time).total_seconds()
        return (
            -getattr(each.scores, self._thresholds.primary),
            -each.scores.resemblance,
            -each.scores.containment,
            age,
            each.card.url,
            each.card.id,
        )

    def _matches(self, shown: Sequence[ScoredPage], *, passages: bool) -> Iterator[Match]:
        """Make matches, with their passages if wanted, for which texts no longer in memory are read again."""
        for some in batches(shown, TEXT_BATCH):
            to_compare = {each.card.id for each in some if passages and each.error is None} - self._shared.keys()
            unread = [each.card.id for each in some if each.card.id in to_compare - self._texts.keys()]
            read = self._store.read(unread, Text) if unread else {}
            texts = self._texts | {id_: page.text for id_, page in read.items()}
            for each in some:
                same = each.card.text_digest == self._question.record.hashes.text_digest != ""
                shared = self._shared.get(each.card.id, SharedText([], [], None, same_in(self._scheme) if same else ""))
                if each.card.id in to_compare:
                    shared = self._shared_text(*self._sides(each.card, texts.get(each.card.id, "")))
                yield Match(
                    card=each.card,
                    **each.scores._asdict(),
                    kind="exact" if each.error is None else "estimate",
                    error=each.error or 0.0,
                    **shared._asdict(),
                )

    def _sides(self, card: Card, text: str) -> tuple[Side, Side]:
        assert self._question.side is not None
        return self._question.side, self._comparer.prepared(card, text)

    def _shared_text(self, ours: Side, theirs: Side) -> SharedText:
        window = min(self._question.window, self._scheme.w)
        found = self._comparer.passages(ours, theirs, window=window)
        return SharedText(*found, lengths(ours, theirs, self._scheme), sameness(ours, theirs, self._scheme))


def _most(limit: int | None) -> int | None:
    """Return the number of candidates for any passage to compare first; None for all."""
    return None if limit is None else max(limit, MIN_COMPARED)
