"""Prepares a page or a text as a question: tokens to look up, and a text to compare candidates with."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import searched_fingerprints
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.compare import Side, side
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions

MAX_GUARANTEE = 2_000_000  # canonical characters, as in a scheme


@dataclass(frozen=True, slots=True)
class Question:
    """A page or text that similar pages are looked up for, and that candidates are compared with."""

    record: Record
    side: Side | None  # None: the text is not stored
    window: int  # k-grams; one fingerprint of every window is looked up
    fingerprints: array[int]  # without repeats, in the order of the text
    sketched: Sketches

    @classmethod
    def of(cls, record: Record, scheme: Scheme, exclusions: Exclusions, guarantee: int | None = None) -> Question:
        """Make a question of a page's record.

        A `guarantee` larger than the scheme's looks up fewer fingerprints, a subset of those of the page: for a quick
        first look. A text shorter than the scheme's guarantee is looked up by every k-gram, since a page that holds it
        need not have selected the same k-gram.
        """
        window = _window(scheme, guarantee)
        prepared = side(record.text, scheme, name=record.url, site=record.site) if record.text else None
        selected = record.hashes.fingerprints
        if prepared is not None:
            if len(prepared.chars) < scheme.t:
                window = 1
            selected = searched_fingerprints(prepared.chars, scheme, window, selected)
        return cls(
            record=record,
            side=prepared,
            window=window,
            fingerprints=array("Q", dict.fromkeys(exclusions.evidence(selected))),
            sketched=exclusions.sketch_evidence(Sketches.of(record)),
        )


def _window(scheme: Scheme, guarantee: int | None) -> int:
    if guarantee is None or guarantee == scheme.t:
        return scheme.w
    if guarantee < scheme.t:
        raise QuestionError(
            f"the guarantee cannot be {guarantee:,} canonical characters: the store's scheme guarantees to find runs of"
            f" {scheme.t:,} or more"
        )
    if guarantee > MAX_GUARANTEE:
        raise QuestionError(f"a guarantee is at most {MAX_GUARANTEE:,} canonical characters, not {guarantee:,}")
    if not scheme.extends_guarantee:
        raise QuestionError(
            f"a larger guarantee needs a scheme with the selection winnow, but the store has {scheme.selection}"
        )
    return guarantee - scheme.k + 1
