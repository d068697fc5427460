"""From a question to its matches: candidates are looked up in a store, and every one of them is scored."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import EPOCH
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Passage, Scores, Side, scores, shared_passages, side
from opensearch_winnow.queries.estimated import CLEAR_ERRORS, Estimated, Sketched, estimated, estimated_by_counts
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.frequency_check import DEFAULT_FREQUENT, frequency_check
from opensearch_winnow.queries.lookups import Field, Lookup, binomial_quantile, lookups
from opensearch_winnow.queries.matches import Match, Matches, Score
from opensearch_winnow.queries.question import Question
from opensearch_winnow.queries.thresholds import Thresholds
from opensearch_winnow.stores.store import Store

TEXTS = 64  # that are in memory at a time
SKETCHES = 1_000
# What the frequency check looks at. Who shares a band is as alike as pages can be, however many they are.
CHECKED: tuple[Field, ...] = ("fingerprints", "sketch")
FEW = 8  # candidates, which are scored as fast as they are estimated


class SharedSketch(NamedTuple):
    """How many shingles of the question's sketch pages have."""

    by_id: dict[str, int]
    others: int  # what a page that is not there has at most

    def of(self, card: Card) -> int:
        return self.by_id.get(card.id, self.others)


class Candidates(NamedTuple):
    cards: list[Card]
    tokens: int  # that the question has to look up
    ignored: int
    sketch: SharedSketch | None  # if all of it was looked up


class Scored(NamedTuple):
    card: Card
    scores: Scores
    error: float | None = None  # None: exact


class Similar:
    """One question to one store."""

    def __init__(self, store: Store, question: Question, thresholds: Thresholds, exclusions: Exclusions) -> None:
        self._store = store
        self._scheme = store.scheme
        self._question = question
        self._thresholds = thresholds
        self._exclusions = exclusions
        self._shared: dict[str, tuple[list[Passage], list[Passage]]] = {}  # passages and boilerplate, by id
        self._texts: dict[str, str] = {}  # of some matches, by id

    def answer(
        self,
        *,
        exact: bool = True,
        where: Filters = Filters(),
        limit: int | None = None,
        frequent: int = DEFAULT_FREQUENT,
        leave_out: str | None = None,
        all_captures: bool = False,
    ) -> Matches:
        """The matches. Those with the URL `leave_out` are no news to who asks; and of the captures of one URL the best
        is shown, the latest of equals."""
        start = time.perf_counter()
        candidates = self._candidates(where, frequent)
        if not all_captures:
            candidates = candidates._replace(cards=[card for card in candidates.cards if card.url != leave_out])
        if exact and self._question.side:
            found = list(self._exactly(self._worth_scoring(candidates)))
        else:
            found = list(self._estimated(candidates.cards))
        found.sort(key=self._rank)
        if not all_captures:
            found = list({each.card.url: each for each in reversed(found)}.values())
            found.sort(key=self._rank)
        return Matches(
            matches=list(self._matches(found[:limit])),
            total=len(found),
            score=self._thresholds.primary,
            threshold=self._thresholds.primary_minimum,
            candidates=len(candidates.cards),
            tokens=candidates.tokens,
            ignored=candidates.ignored,
            frequent=frequent,
            seconds=time.perf_counter() - start,
        )

    def _candidates(self, where: Filters, frequent: int) -> Candidates:
        wanted = list(lookups(self._question, self._thresholds, boilerplate=bool(self._exclusions)))
        checked = [each for each in wanted if each.field in CHECKED]
        kept, ignored = wanted, 0
        found = self._store.rare_overlaps(wanted, where, over=frequent, checked=CHECKED)
        if found is None:
            kept = [each for each in wanted if each.field not in CHECKED]
            for lookup, often in zip(checked, self._store.frequent(checked, over=frequent), strict=True):
                tokens = frequency_check(lookup.tokens, often)
                dropped = len(lookup.tokens) - len(tokens)
                ignored += dropped
                kept.append(Lookup(lookup.field, tokens, max(lookup.minimum - dropped, 1)))
            found = self._store.overlaps(kept, where)
        cards = {each.card.id: each.card for some in found for each in some}
        cards.pop(self._question.record.id, None)
        sketch = next(
            (
                SharedSketch({each.card.id: each.shared for each in some}, lookup.minimum - 1)
                for lookup, some in zip(kept, found, strict=True)
                if lookup.field == "sketch" and len(lookup.tokens) == len(self._question.sketched.sketch)
            ),
            None,
        )
        return Candidates(list(cards.values()), sum(len(each.tokens) for each in checked), ignored, sketch)

    def _worth_scoring(self, candidates: Candidates) -> Sequence[Card]:
        """Without those that are clearly no match: by their sizes, and by what their sketches say."""
        cards: Sequence[Card] = candidates.cards
        least = self._thresholds.minima.get("resemblance", 0.0)
        if least and not self._exclusions:
            size = self._question.record.shingle_count
            cards = [card for card in cards if _most_alike(size, card.shingle_count) >= least]
        if self._thresholds.any_passage:
            return cards
        if candidates.sketch and not self._exclusions:
            cards = [card for card in cards if self._may_match(card, candidates.sketch)]
        if len(cards) < FEW:
            return cards
        return [card for card, found in self._estimates(cards) if self._thresholds.may_be_met_by(found, CLEAR_ERRORS)]

    def _may_match(self, card: Card, sketch: SharedSketch) -> bool:
        shared, ours, theirs = sketch.of(card), len(self._question.sketched.sketch), card.sketch_count
        if self._thresholds.may_be_met_by(estimated_by_counts(shared, ours, theirs, self._scheme), CLEAR_ERRORS):
            return True
        # Errors say little about a sample of a few: there it is asked how probable it is.
        sizes: dict[Score, int] = {"resemblance": ours + theirs - shared, "containment": ours, "contained": theirs}
        return all(
            shared >= binomial_quantile(sizes[name], minimum) for name, minimum in self._thresholds.minima.items()
        )

    def _exactly(self, cards: Sequence[Card]) -> Iterator[Scored]:
        """From the texts; copies of a text are compared once. Pages without a text are estimated."""
        known: dict[tuple[str, str], Scores | None] = {}
        textless: dict[tuple[str, str], list[Card]] = {}
        for some in _chunks(cards, TEXTS):
            fresh = {_text_of(card): card for card in some if _text_of(card) not in known}
            texts = self._store.texts([card.id for card in fresh.values()])
            for (key, card), text in zip(fresh.items(), texts, strict=True):
                known[key] = self._compared(card, text) if text else None
                if not text:
                    textless[key] = []
                elif known[key] and len(self._texts) < TEXTS:
                    self._texts[card.id] = text
            for card in some:
                found = known[_text_of(card)]
                if found is not None:
                    yield Scored(card, found)
                elif _text_of(card) in textless:
                    textless[_text_of(card)].append(card)
        yield from self._estimated([card for group in textless.values() for card in group])

    def _compared(self, card: Card, text: str) -> Scores | None:
        """None if it is not a match."""
        ours, theirs = self._sides(card, text)
        found = scores(ours, theirs, self._exclusions)
        if not self._thresholds.met_by(found):
            return None
        if self._thresholds.any_passage:
            self._shared[card.id] = shared = self._passages(ours, theirs)
            return found if shared[0] else None
        return found

    def _estimated(self, cards: Sequence[Card]) -> Iterator[Scored]:
        for card, found in self._estimates(cards):
            if self._thresholds.met_by(found.scores):
                yield Scored(card, found.scores, found.error(self._thresholds.primary))

    def _estimates(self, cards: Sequence[Card]) -> Iterator[tuple[Card, Estimated]]:
        for some in _chunks(cards, SKETCHES):
            ids = [card.id for card in some]
            pages = zip(some, self._store.sketches(ids), self._store.minhashes(ids), strict=True)
            for card, sketch, minhash in pages:
                theirs = Sketched(card.shingle_count, sketch, minhash)
                yield card, estimated(*self._counted(theirs, card.site), self._scheme)

    def _counted(self, theirs: Sketched, site: str) -> tuple[Sketched, Sketched]:
        """Both without boilerplate, which can be taken out of MOD_m and not out of MinHash."""
        ours = self._question.sketched
        if not self._exclusions:
            return ours, theirs
        sketches = self._exclusions.evidence_of_pair(ours.sketch, theirs.sketch, (self._question.record.site, site))
        return ours._replace(sketch=sketches[0]), theirs._replace(sketch=sketches[1], minhash=b"")

    def _rank(self, each: Scored) -> tuple[float, float, float, float, str, str]:
        """The best first; then the latest, and in any case in one order only."""
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

    def _matches(self, shown: Sequence[Scored]) -> Iterator[Match]:
        """With their passages, for which the texts are read again, but for those that were kept."""
        for start in range(0, len(shown), TEXTS):
            some = shown[start : start + TEXTS]
            unread = [
                each.card.id
                for each in some
                if each.error is None and each.card.id not in self._shared and each.card.id not in self._texts
            ]
            texts = self._texts | dict(zip(unread, self._store.texts(unread) if unread else (), strict=True))
            for each in some:
                shared = self._shared.get(each.card.id, ([], []))
                if each.error is None and each.card.id not in self._shared:
                    shared = self._passages(*self._sides(each.card, texts[each.card.id]))
                yield Match(
                    card=each.card,
                    **each.scores._asdict(),
                    kind="exact" if each.error is None else "estimate",
                    error=each.error or 0.0,
                    passages=shared[0],
                    boilerplate=shared[1],
                )

    def _sides(self, card: Card, text: str) -> tuple[Side, Side]:
        assert self._question.side is not None
        return self._question.side, side(text, self._scheme, name=card.url, site=card.site)

    def _passages(self, ours: Side, theirs: Side) -> tuple[list[Passage], list[Passage]]:
        return shared_passages(
            ours, theirs, self._scheme, window=min(self._question.window, self._scheme.w), exclusions=self._exclusions
        )


def _most_alike(one: int, other: int) -> float:
    """The resemblance of pages with so many shingles, if one is all in the other."""
    return min(one, other) / max(one, other, 1)


def _text_of(card: Card) -> tuple[str, str]:
    """Pages that have this in common have all scores in common: a template is of its site."""
    return card.text_digest, card.site


def _chunks(cards: Sequence[Card], size: int) -> Iterator[Sequence[Card]]:
    return (cards[start : start + size] for start in range(0, len(cards), size))
