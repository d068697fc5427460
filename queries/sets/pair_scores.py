"""Scores the pairs of a set of documents."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opensearch_winnow.cython_core.shared_tokens import SharedTokens
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparer
from opensearch_winnow.queries.scores import scores_of
from opensearch_winnow.queries.sets.pairs import Measure
from opensearch_winnow.queries.sets.prepared_document import PreparedDocument
from opensearch_winnow.queries.sets.program_similarity import ProgramSimilarity

# Independent programs for one task resemble each other more than independent texts do. Their similarity is weighted by
# rarity. From .4 on, every generated copy is found (docs/decisions/0021-programs-of-a-class.md).
DEFAULT_MINIMA = {"code": 0.3, "text": 0.1}
MIN_PROGRAM_SIMILARITY = 0.4


class ScoredPair(NamedTuple):
    """The scores of two documents, which are named by their numbers."""

    a: int
    b: int
    similarity: float
    resemblance: float
    containment: float
    contained: float


def score_pairs(
    documents: Sequence[PreparedDocument], comparer: Comparer, *, rows: int | None = None
) -> Iterator[ScoredPair]:
    """Yield the scores of all pairs of documents that share a shingle, ordered by (a, b).

    With `rows`, A is one of the first `rows` documents. The similarity of texts is their resemblance; that of programs
    is weighted by rarity.
    """
    programs = ProgramSimilarity(documents, rows=rows) if any(each.named_shingles for each in documents) else None
    has_template = comparer.exclusions.has_template
    values = array("Q")
    for document in documents:
        values += document.shingles
    shared = SharedTokens(values, array("I", (len(document.shingles) for document in documents)))
    for a, ours in enumerate(documents[:rows]):
        size = len(ours.shingles)
        partners, counts, _ = shared.after(a)
        similarities = programs.after(a) if programs else {}
        for b, both in zip(partners, counts, strict=True):
            theirs = documents[b]
            if has_template(ours.site) or has_template(theirs.site):
                found = comparer.overlap(ours.shingles, theirs.shingles, (ours.site, theirs.site)).scores
            else:
                found = scores_of(both, size, len(theirs.shingles))
            yield ScoredPair(a, b, similarities.get(b, found.resemblance), *found)


def default_minimum(measure: Measure, scheme: Scheme) -> float:
    """Return the default minimum of a measure, from which a pair is worth a look; for `longest`, 0."""
    if measure == "longest":
        return 0.0
    if measure == "similarity" and scheme.form == "code":
        return MIN_PROGRAM_SIMILARITY
    return DEFAULT_MINIMA["code" if scheme.form == "code" else "text"]
