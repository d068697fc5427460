"""Grouping the hits of a search by their MinHashes, compared with datasketch doing the same with its own."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from math import nan
from random import Random

from benchmarks.corpus import pages, source
from benchmarks.peers.missing import available
from benchmarks.sketches_vs_peers import with_version
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.representatives import REPRESENTATIVE, RepresentativeAssignment
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.estimates import CLEAR_ERRORS
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.searching.representatives import FIRST_PAIRS_PER_PAGE, Representatives

HITS = 1_000
CHARACTERS = 15_000  # more than the pages of the manual have on average
SHINGLES = 500  # of a page that is made up
THRESHOLD = 0.5
SCHEME = Scheme()
OURS = "opensearch-winnow, in the core"
PERMUTATIONS = (
    128,
    1024,
)  # what datasketch does by default; and what has about the error of ours, in 16 times the bytes

NOTES = {
    "real pages": f"Aim: 50 ×. A hit joins the first group whose best hit it resembles by {THRESHOLD:g}. MinHashes are"
    f" computed beforehand, and decide alone. {source()}",
    "all different": "The worst case: each hit is compared with all before it, and all have the same size.",
    "all the same": "",
}

Grouping = Callable[[], int]  # how many groups


def hits(run: Run) -> dict[str, list[array[int]]]:
    """Shingles of pages in their order, by what kind of result they are."""
    random = Random(1)
    count = run.size(HITS, least=20)
    texts = list(islice(pages(CHARACTERS * count), count))
    random.shuffle(texts)
    different = [array("Q", random.randbytes(8 * SHINGLES)) for _ in range(count)]
    return {
        "real pages": [distinct(shingles(canonical(text, SCHEME), SCHEME.shingle, SCHEME.seed)) for text in texts],
        "all different": [distinct(page) for page in different],
        "all the same": [distinct(different[0])] * count,
    }


def sketched(page: array[int]) -> Sketches:
    return Sketches(len(page), array("Q"), pack(minhash(page, SCHEME.bins), SCHEME.bits))


def in_the_core(packed: bytes, counts: array[int]) -> int:
    """Where estimates are not clear they decide all the same, as they do for datasketch."""
    joins = RepresentativeAssignment(packed, counts, 0, threshold=THRESHOLD, bits=SCHEME.bits, clear=CLEAR_ERRORS)
    known = array("Q")
    at_most = FIRST_PAIRS_PER_PAGE
    while uncertain := joins.decide(known, array("d", [nan]) * len(known), at_most):
        known = array("Q", sorted(known + uncertain))
        at_most *= 2
    return joins.representatives.count(REPRESENTATIVE)


def as_in_a_search(signed: Sequence[Sketches]) -> int:
    batch = Representatives(SCHEME, THRESHOLD).begin(signed)
    while pairs := batch.undecided:
        batch.settle([None] * len(pairs))
    return batch.joins.count(None)


def datasketch(permutations: int) -> Callable[[list[array[int]]], Grouping]:
    from datasketch import MinHash  # noqa: PLC0415

    def group(minhashes: list[MinHash]) -> int:
        representatives: list[MinHash] = []
        for page in minhashes:
            if not any(representative.jaccard(page) >= THRESHOLD for representative in representatives):
                representatives.append(page)
        return len(representatives)

    def grouping(result: list[array[int]]) -> Grouping:
        made = [MinHash(num_perm=permutations, hashfunc=lambda shingle: shingle & 0xFFFFFFFF) for _ in result]
        for each, page in zip(made, result, strict=True):
            each.update_batch(page)
        return partial(group, made)

    return grouping


def tables(run: Run) -> Iterator[Table]:
    peers, missing = available({f"datasketch, num_perm={count}": partial(datasketch, count) for count in PERMUTATIONS})
    for kind, result in hits(run).items():
        signed = [sketched(page) for page in result]
        packed, counts = b"".join([page.minhash for page in signed]), array("I", map(len, result))
        candidates: dict[str, Grouping] = {
            OURS: partial(in_the_core, packed, counts),
            "opensearch-winnow, as in a search": partial(as_in_a_search, signed),
        } | {with_version(name): grouping(result) for name, grouping in peers.items()}
        seconds = alternate({**candidates})
        yield Table(
            f"{len(result):,} hits, {kind}",
            ("", "ms", "groups", "the core is faster by"),
            [
                (name, f"{seconds[name] * 1e3:.2f}", f"{group():,}", times(seconds[name] / seconds[OURS]))
                for name, group in candidates.items()
            ]
            + [(why, "", "", "") for why in missing],
            NOTES[kind],
        )
