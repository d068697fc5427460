"""A page or a text, ready to be asked about."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Side, side
from opensearch_winnow.queries.estimated import Sketched

LONGEST = 2_000_000  # as in a scheme


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked up, and what candidates are compared with."""

    record: Record
    side: Side | None  # where there is a text
    window: int  # of the fingerprints that are looked up
    fingerprints: array[int]  # different ones, in the order of the text
    sketched: Sketched

    @classmethod
    def of(cls, record: Record, scheme: Scheme, exclusions: Exclusions, guarantee: int | None = None) -> Question:
        """Ask about the record of a page.

        With a larger `guarantee` fewer fingerprints are looked up, a subset of those of the page: for a quick first
        look. A text that is too short for the scheme's own is looked up by every k-gram, since a page need not have
        picked the one that it did.
        """
        window = _window(scheme, guarantee)
        compared = side(record.text, scheme, name=record.url, site=record.site) if record.text else None
        picked = record.fingerprints
        if compared is not None and len(compared.chars) < scheme.t:
            window = 1
        if compared is not None and window != scheme.w:
            picked, _ = fingerprints(compared.chars, scheme.k, window, "winnow", scheme.seed)
        return cls(
            record=record,
            side=compared,
            window=window,
            fingerprints=array("Q", dict.fromkeys(exclusions.evidence(picked))),
            sketched=exclusions.sketched(Sketched(record.shingle_count, record.sketch, record.minhash)),
        )


def _window(scheme: Scheme, guarantee: int | None) -> int:
    if guarantee is None or guarantee == scheme.t:
        return scheme.w
    if guarantee < scheme.t:
        raise QuestionError(
            f"runs of {guarantee:,} canonical characters cannot be found for sure: the store's scheme guarantees"
            f" {scheme.t:,} and more"
        )
    if guarantee > LONGEST:
        raise QuestionError(f"a guarantee is at most {LONGEST:,} canonical characters, not {guarantee:,}")
    if scheme.selection != "winnow":
        raise QuestionError(f"a larger guarantee needs the selection winnow, and the store has {scheme.selection}")
    return guarantee - scheme.k + 1
