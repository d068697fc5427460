"""Finds the pairs of a set of documents that have something in common."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.shared_tokens import SharedTokens
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import CanonicalRun, Comparer, split_run
from opensearch_winnow.queries.sets.pair_scores import ScoredPair, score_pairs
from opensearch_winnow.queries.sets.pairs import (
    NOTHING_COUNTS,
    UNCLOSED,
    Document,
    Measure,
    Pair,
    Pairs,
    SharedPassage,
    Unread,
)
from opensearch_winnow.queries.sets.prepared_document import PreparedDocument
from opensearch_winnow.queries.spans import merged_spans
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Exclusions

BARS = 50  # of the histogram
MAX_TIES = 200  # pairs beyond a limit that score like the last one, and may have a longer passage
READING, SCORING, COMPARING = "reading the documents", "scoring the pairs", "finding the passages"  # phases


def find_pairs(
    documents: Sequence[Document],
    scheme: Scheme = Scheme(),
    *,
    measure: Measure = "similarity",
    min_score: float = 0.0,
    limit: int | None = None,
    exclusions: Exclusions = NO_EXCLUSIONS,
    progress: Progress = no_progress,
) -> Pairs:
    """Return the pairs of documents whose `measure` is at least `min_score`, the highest first.

    All pairs are compared, exactly, except for two documents of one owner and two earlier ones. A pair that shares
    nothing is never returned. With the measure longest, `min_score` is a number of words. With a `limit`, passages are
    sought only for the pairs that are returned. The order of `documents` decides which of a pair is A, but an earlier
    document is always B. Of pairs that score the same, the one with the longest passage is first; then ids decide.
    Documents in which nothing counts are in `unread` instead. Programs that an unclosed string or comment hides are in
    both.
    """
    prepared = []
    unread: list[Unread] = []
    for done, document in enumerate(sorted(documents, key=lambda each: each.earlier)):
        check_cancelled()
        progress(READING, done, len(documents))
        each = PreparedDocument(document, scheme, exclusions)
        if not document.earlier:
            hidden = [f"{document.id}/{name}" if name != document.id else name for name in each.hidden_files()]
            unread += [Unread(name, UNCLOSED, failed=True, document=document.id, work=True) for name in hidden]
            if each.is_empty or (hidden and len(each.chars) < scheme.k):
                unread += [] if hidden else [Unread(document.id, NOTHING_COUNTS, document=document.id)]
                continue
        prepared.append(each)
    ordered = [each.document for each in prepared]
    finder = PairFinder(prepared, scheme, exclusions, progress)
    found, histogram = finder.longest(min_score) if measure == "longest" else finder.scored(measure, min_score)
    joined = UnionFind(len(ordered))
    joined.join_all(array("I", (each.a for each in found)), array("I", (each.b for each in found)))
    groups = sum(size > 1 for size in Counter(joined.labels()).values())
    compared = finder.compared()
    histogram[0] += compared - sum(histogram)
    return Pairs(
        documents=[replace(each.document, left_out=each.left_out(exclusions)) for each in prepared]
        if exclusions
        else ordered,
        pairs=finder.ranked(found, measure, limit),
        total=len(found),
        groups=groups,
        measure=measure,
        min_score=min_score,
        compared=compared,
        histogram=histogram,
        parameters=scheme,
        unread=unread,
    )


@dataclass(frozen=True, slots=True)
class PassagesOfPair:
    """The passages that two documents share."""

    passages: list[SharedPassage]
    coverage: float

    @property
    def longest(self) -> int:
        return max((each.words for each in self.passages), default=0)


class PairFinder:
    """Scores and ranks the pairs of prepared documents, the earlier ones last, and finds their passages."""

    def __init__(
        self, documents: Sequence[PreparedDocument], scheme: Scheme, exclusions: Exclusions, progress: Progress
    ) -> None:
        self._documents, self._scheme, self._exclusions = documents, scheme, exclusions
        self._progress = progress
        self._rows = sum(not each.document.earlier for each in documents)
        self._shared: dict[tuple[int, int], PassagesOfPair] = {}  # that were found to rank the pairs
        self._sizes: dict[tuple[int, str | None], int] = {}  # of documents without boilerplate

    def compared(self) -> int:
        """Return the number of pairs that are compared."""
        owners = Counter(each.document.owner for each in self._documents)
        earlier = Counter(each.document.owner for each in self._documents[self._rows :])
        pairs = _pairs_of(len(self._documents)) - _pairs_of(len(self._documents) - self._rows)
        return pairs - sum(_pairs_of(n) - _pairs_of(earlier[owner]) for owner, n in owners.items() if owner)

    def scored(self, measure: Measure, min_score: float) -> tuple[list[ScoredPair], list[int]]:
        """Return the pairs that reach the minimum, the highest first, and the histogram of all that share shingles."""
        value = _VALUES[measure]
        found: list[ScoredPair] = []
        histogram = [0] * BARS
        for pair in self._scored():
            histogram[min(int(pair.similarity * BARS), BARS - 1)] += 1
            if value(pair) >= min_score:
                found.append(pair)
        found.sort(key=lambda pair: (-value(pair), *_rank(pair)))
        return found, histogram

    def longest(self, min_score: float) -> tuple[list[ScoredPair], list[int]]:
        """Return the pairs whose longest passage reaches the minimum, the longest first, and the histogram."""
        scores = {(pair.a, pair.b): pair for pair in self._scored()}
        histogram = [0] * BARS
        for pair in scores.values():
            histogram[min(int(pair.similarity * BARS), BARS - 1)] += 1
        found = []
        for a, b in self._with_shared_kgram():
            shared = self._passages(a, b)
            if shared.passages and shared.longest >= min_score:
                self._shared[a, b] = shared
                found.append(scores.get((a, b)) or ScoredPair(a, b, 0.0, 0.0, 0.0, 0.0))
        found.sort(key=lambda pair: (-self._shared[pair.a, pair.b].longest, *_rank(pair)))
        return found, histogram

    def ranked(self, found: Sequence[ScoredPair], measure: Measure, limit: int | None) -> list[Pair]:
        """Return the first pairs of `found` with their passages; of equal scores, the longest passage comes first."""
        end = len(found) if limit is None else min(limit, len(found))
        if measure != "longest" and 0 < end < len(found):
            last = _VALUES[measure](found[end - 1])
            end += sum(_VALUES[measure](each) == last for each in found[end : end + MAX_TIES])
        pairs = self.pairs(found[:end])
        return sorted(pairs, key=lambda pair: (-pair.score(measure), -pair.longest, pair.a, pair.b))[:limit]

    def pairs(self, found: Sequence[ScoredPair]) -> Iterator[Pair]:
        """Yield the pairs with their passages."""
        for done, pair in enumerate(found):
            check_cancelled()
            self._progress(COMPARING, done, len(found))
            shared = self._shared.get((pair.a, pair.b)) or self._passages(pair.a, pair.b)
            yield Pair(
                self._documents[pair.a].document.id,
                self._documents[pair.b].document.id,
                pair.similarity,
                pair.resemblance,
                pair.containment,
                pair.contained,
                shared.coverage,
                shared.longest,
                shared.passages,
            )

    def _scored(self) -> Iterator[ScoredPair]:
        row = -1
        for pair in score_pairs(self._documents, Comparer(self._scheme, self._exclusions), rows=self._rows):
            if pair.a != row:
                row = pair.a
                check_cancelled()
                self._progress(SCORING, row, self._rows)
            if pair.resemblance and self._are_compared(pair.a, pair.b):
                yield pair

    def _with_shared_kgram(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs that can share a passage: a run of few long words has no shingle."""
        grams = [distinct(kgram_hashes(each.chars, self._scheme.k, self._scheme.seed)) for each in self._documents]
        values = array("Q")
        for each in grams:
            values += each
        shared = SharedTokens(values, array("I", map(len, grams)))
        for a in range(self._rows):
            check_cancelled()
            self._progress(COMPARING, a, self._rows)
            yield from ((a, b) for b in shared.after(a)[0] if self._are_compared(a, b))

    def _are_compared(self, a: int, b: int) -> bool:
        owner = self._documents[a].document.owner
        return not owner or owner != self._documents[b].document.owner

    def _passages(self, a: int, b: int) -> PassagesOfPair:
        ours, theirs = self._documents[a], self._documents[b]
        runs = [part for run in ours.finder.passages(theirs.chars) for part in self._parts(run, ours, theirs)]
        passages = []
        for start, end, other_start, other_end in sorted(runs):
            number, first, last, words = ours.span(start, end)
            other_number, other_first, other_last, _ = theirs.span(other_start, other_end)
            file, other_file = ours.document.files[number].name, theirs.document.files[other_number].name
            passages.append(
                SharedPassage(file, first, last, other_file, other_first, other_last, words, number, other_number)
            )
        site = ours.site if ours.site == theirs.site else None
        covered = _length((start, end) for start, end, _, _ in runs), _length((start, end) for _, _, start, end in runs)
        sizes = self._evidence_size(a, site), self._evidence_size(b, site)
        shares = [min(shared / max(size, 1), 1.0) for size, shared in zip(sizes, covered, strict=True)]
        coverage = max(shares) if sizes[0] == sizes[1] else shares[sizes[1] < sizes[0]]
        return PassagesOfPair(passages, coverage)

    def _parts(self, run: CanonicalRun, ours: PreparedDocument, theirs: PreparedDocument) -> Iterator[CanonicalRun]:
        """Yield the parts of a run that count: in one file of each document, and not boilerplate."""
        start, end, other_start, other_end = run
        site = ours.site if ours.site == theirs.site else None
        left_out = self._exclusions.spans(ours.chars[start:end], site)
        left_out += [(at - start, at - start + 1) for at in ours.file_ends if start <= at < end]
        left_out += [
            (at - other_start, at - other_start + 1) for at in theirs.file_ends if other_start <= at < other_end
        ]
        if not left_out:
            yield run
            return
        for excluded, part in split_run(run, merged_spans(left_out), min_length=self._scheme.k):
            if not excluded:
                yield part

    def _evidence_size(self, number: int, site: str | None) -> int:
        """Return the number of characters of a document that are not boilerplate."""
        if (number, site) not in self._sizes:
            document = self._documents[number]
            left_out = _length(self._exclusions.spans(document.chars, site))
            self._sizes[number, site] = len(document.chars) - len(document.file_ends) - left_out
        return self._sizes[number, site]


def _length(spans: Iterable[tuple[int, int]]) -> int:
    return sum(end - start for start, end in merged_spans(spans))


def _pairs_of(count: int) -> int:
    return count * (count - 1) // 2


def _rank(pair: ScoredPair) -> tuple[float, float, int, int]:
    """Return a sort key for pairs with equal scores, so that the order is total."""
    return -pair.resemblance, -max(pair.containment, pair.contained), pair.a, pair.b


_VALUES: dict[Measure, Callable[[ScoredPair], float]] = {
    "similarity": lambda pair: pair.similarity,
    "resemblance": lambda pair: pair.resemblance,
    "containment": lambda pair: max(pair.containment, pair.contained),
}
