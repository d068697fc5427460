"""Finds the texts of pages in a later crawl, many pages at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from operator import eq
from typing import Literal, NamedTuple

from opensearch_winnow.cython_core.overlap import difference, overlap
from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.page_comparer import (
    MIN_CANDIDATES_TO_ESTIMATE,
    PageComparer,
    TextKey,
    text_key,
)
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Lookup, binomial_quantile, lookups
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Scores
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.store import Candidate, LookupsOfQuestion, Store

BATCH_SIZE = 16  # pages that are looked up together
MAX_CANDIDATES = 1_000  # examined for one page, by shared tokens
MAX_COMPARED = 50  # texts that one page is compared with, by estimated resemblance
MAX_PARTS_COMPARED = 100  # candidates for the parts of one page, by shared tokens
MAX_TIES = 100  # pages that resemble one page equally, of which the one with the most similar URL is chosen
MIN_PART = 0.2  # the smallest share of a page that counts as a part of it
MOSTLY = 0.8  # the share of a page that is nearly all: it was not split if one later page has as much of it


class CrawlCapture(NamedTuple):
    """The part of a card that the comparison of two crawls keeps in memory, since there may be millions."""

    id: str
    url: str
    site: str
    fetched_at: datetime | None
    text_digest: str


class LaterPage(NamedTuple):
    """A later page that has the text of an earlier one, or some of it."""

    card: Card
    scores: Scores  # the earlier page is A


class FoundText(NamedTuple):
    """The later pages that have the text of a page: one, or its parts if it was split, the most similar first."""

    change: Literal["moved", "split", "merged"]
    later_pages: Sequence[LaterPage]


class _Compared(NamedTuple):
    """Later pages with the same text, and how a question compares with it."""

    cards: Sequence[Card]
    scores: Scores
    shingles: array[int]


class TextFinder:
    """Finds the texts of pages among the later captures that `where` selects.

    - moved: a later page resembles it by at least the threshold. The page moved to the one that resembles it most.
    - split: several pages with new URLs have, together, at least the threshold of its text. Each of them consists
      mostly of it, and has at least MIN_PART of it that the others do not have.
    - merged: no page resembles it, but one contains at least the threshold of its text: the one that contains most.
    """

    def __init__(
        self, store: Store, where: Filters, *, threshold: float, exclusions: Exclusions, is_new: Callable[[Card], bool]
    ) -> None:
        """`is_new` returns whether a later page has a new URL."""
        self._store = store
        self._where = where
        self._threshold = threshold
        self._thresholds = Thresholds({"resemblance": threshold})
        self._least_containment = Thresholds({"containment": threshold})
        self._exclusions = exclusions
        self._is_new = is_new

    def find(self, pages: Sequence[CrawlCapture]) -> Iterator[tuple[CrawlCapture, FoundText | None]]:
        """Yield each page with its later pages. Pages of a site with the same text are looked up once."""
        by_text: dict[TextKey, list[CrawlCapture]] = {}
        for page in pages:
            by_text.setdefault(text_key(page), []).append(page)
        for some in batches(by_text.values(), BATCH_SIZE):
            records = self._store.read([group[0].id for group in some], Record)
            sought = [group[0] for group in some if group[0].text_digest and group[0].id in records]
            questions = [Question.of(records[page.id], self._store.scheme, self._exclusions) for page in sought]
            found = dict(zip((page.id for page in sought), self._whereabouts(questions), strict=True))
            for group in some:
                whereabouts = found.get(group[0].id, ([], []))
                for page in group:
                    yield page, self._found(page, *whereabouts)

    def _found(self, page: CrawlCapture, wholes: Sequence[LaterPage], parts: Sequence[LaterPage]) -> FoundText | None:
        """Return the parts, or else the page with the most similar URL, since all of `wholes` are equally similar."""
        elsewhere = [each for each in wholes if each.card.url != page.url]
        if parts and all(each.scores.resemblance <= parts[0].scores.resemblance for each in elsewhere):
            return FoundText("split", parts)
        if not elsewhere:
            return None
        best = max(elsewhere, key=lambda each: _url_similarity(page.url, each.card.url))
        return FoundText("moved" if best.scores.resemblance >= self._threshold else "merged", [best])

    def _whereabouts(self, questions: Sequence[Question]) -> Iterator[tuple[list[LaterPage], list[LaterPage]]]:
        """Yield for each question the best later pages that have its text, and the parts that it was split into."""
        candidates = self._plausible(questions, self._candidates(questions, self._lookups))
        compared = self._compared(questions, candidates)
        scattered = [
            number
            for number, some in enumerate(compared)
            if questions[number].side and all(each.scores.containment < MOSTLY for each in some)
        ]
        rest = [questions[number] for number in scattered]
        shared = [pages[:MAX_PARTS_COMPARED] for pages in self._candidates(rest, self._part_lookups)]
        parts = {
            number: self._parts(questions[number], some)
            for number, some in zip(scattered, self._compared(rest, shared), strict=True)
        }
        return ((self._best(some), parts.get(number, [])) for number, some in enumerate(compared))

    # --- candidates ---------------------------------------------------------------------------------------------------

    def _lookups(self, question: Question) -> Iterator[Lookup]:
        return lookups(question, self._thresholds, boilerplate=bool(self._exclusions))

    def _part_lookups(self, question: Question) -> Iterator[Lookup]:
        sketch = question.sketched.sketch
        if sketch:
            yield Lookup("sketch", sketch, max(binomial_quantile(len(sketch), MIN_PART), 1))

    def _candidates(
        self, questions: Sequence[Question], lookups_of: Callable[[Question], Iterator[Lookup]]
    ) -> list[list[Candidate]]:
        """Return the candidates that share the most tokens with each question, without captures of its own URL."""
        check_cancelled()
        wanted = [(number, lookup) for number, each in enumerate(questions) for lookup in lookups_of(each)]
        lookups = LookupsOfQuestion([lookup for _, lookup in wanted])
        (answers,) = self._store.candidates([lookups], self._where, FrequencyCheck.of(self._store.scheme))
        found: list[dict[str, Candidate]] = [{} for _ in questions]
        for (number, _), answer in zip(wanted, answers, strict=True):
            for each in answer.pages:
                if each.url != questions[number].record.url:
                    found[number].setdefault(each.id, each)
        return [list(each.values())[:MAX_CANDIDATES] for each in found]

    def _plausible(self, questions: Sequence[Question], candidates: list[list[Candidate]]) -> list[list[Candidate]]:
        """Leave out candidates whose sketches show that they have too little of the text; sort the others by them."""
        many = [number for number, some in enumerate(candidates) if len(some) >= MIN_CANDIDATES_TO_ESTIMATE]
        comparer = PageComparer(self._store, self._exclusions)
        comparer.read_sketches(page.id for number in many for page in candidates[number])
        plausible = candidates[:]
        for number in many:
            found = comparer.plausible(questions[number], candidates[number], self._least_containment)
            found.sort(key=lambda each: (-each[1].resemblance.value, each[0].id))
            plausible[number] = [page for page, _ in found]
        return plausible

    # --- scores -------------------------------------------------------------------------------------------------------

    def _compared(
        self, questions: Sequence[Question], candidates: Sequence[Sequence[Candidate]]
    ) -> list[list[_Compared]]:
        """Compare each question with its candidates exactly, with equal texts once."""
        cards = self._store.read(dict.fromkeys(page.id for some in candidates for page in some), Card)
        all_texts = [_by_text([cards[page.id] for page in some if page.id in cards]) for some in candidates]
        comparer = PageComparer(self._store, self._exclusions)
        comparer.prepare(group[0] for texts in all_texts for group in texts.values())
        compared: list[list[_Compared]] = []
        for question, texts in zip(questions, all_texts, strict=True):
            compared.append([])
            for key, group in texts.items():
                theirs = comparer.side(group[0])
                if question.side is not None and theirs is not None:
                    found = comparer.scores(question.side, theirs)
                    compared[-1].append(_Compared(group, found, theirs.shingles))
                elif key[0] == question.record.hashes.text_digest:  # the texts are not stored
                    compared[-1].append(_Compared(group, Scores(1.0, 1.0, 1.0), array("Q")))
        return compared

    def _best(self, compared: Sequence[_Compared]) -> list[LaterPage]:
        """Return the best-ranked later pages; only pages with new URLs, if there are any."""
        enough = [each for each in compared if each.scores.containment >= self._threshold]
        best = max((self._rank(each.scores) for each in enough), default=None)
        ties = [
            LaterPage(card, each.scores) for each in enough if self._rank(each.scores) == best for card in each.cards
        ]
        return ([each for each in ties if self._is_new(each.card)] or ties)[:MAX_TIES]

    def _rank(self, found: Scores) -> tuple[float, float]:
        """Return the sort key: resemblance if it reaches the threshold, otherwise containment."""
        return (found.resemblance, 0.0) if found.resemblance >= self._threshold else (0.0, found.containment)

    def _parts(self, question: Question, compared: Sequence[_Compared]) -> list[LaterPage]:
        """Return the pages that a text was split into, the most similar first; none if it was not."""
        assert question.side is not None
        whole = self._exclusions.evidence_of_page(question.side.shingles, question.side.site)
        waiting = {}
        for each in compared:
            card = next((card for card in each.cards if self._is_new(card)), None)
            if card is not None and each.scores.contained >= 0.5:
                waiting[card.url] = each._replace(cards=[card])
        rest, parts = whole, []
        while waiting:
            shares = {url: overlap(rest, each.shingles) for url, each in waiting.items()}
            url = max(shares, key=lambda each: (shares[each], each))
            if shares[url] < MIN_PART * len(whole):
                break
            part = waiting.pop(url)
            rest = difference(rest, part.shingles)
            parts.append(LaterPage(part.cards[0], part.scores))
        if len(parts) < 2 or len(rest) > (1 - self._threshold) * len(whole):
            return []
        return sorted(parts, key=lambda each: (-each.scores.resemblance, each.card.url))


def _by_text(cards: Sequence[Card]) -> dict[TextKey, list[Card]]:
    """Return the first MAX_COMPARED texts, each with the pages that have it."""
    texts: dict[TextKey, list[Card]] = {}
    for card in cards:
        key = text_key(card)
        if card.text_digest and (key in texts or len(texts) < MAX_COMPARED):
            texts.setdefault(key, []).append(card)
    return {key: sorted(group, key=lambda card: (card.url, card.id)) for key, group in texts.items()}


def same_end(url: str, other: str) -> int:
    """Return the number of characters at the end that two URLs have in common."""
    return _same_beginning(url[::-1], other[::-1])


def _same_beginning(url: str, other: str) -> int:
    return sum(1 for _ in takewhile(bool, map(eq, url, other)))


def _url_similarity(url: str, other: str) -> tuple[int, int, str]:
    """Return a sort key: the number of equal characters at the end, then at the beginning."""
    return same_end(url, other), _same_beginning(url, other), other
