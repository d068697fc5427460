"""Peers that cluster near-duplicate texts, called as their users would call them.

Each peer returns a function that returns the number of its cluster for each text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.sketches_vs_peers import PERMUTATIONS, fast_hash, peer_shingles
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.foundation.scheme import Scheme

if TYPE_CHECKING:
    from datasketch import MinHash

THRESHOLD = 0.5
EQUAL_ERROR_PERMUTATIONS = 1024  # about the error of our MinHash, in 8 times the bytes
SEED = 1
OUR_BANDS, OUR_ROWS = Scheme().bands, Scheme().rows

Labels = Iterable[int]
Clusters = Callable[[Sequence[str]], Labels]


def datasketch(permutations: int, bands: tuple[int, int] | None = None) -> Clusters:
    """Use the fastest way and the fastest hash. Without `bands` datasketch chooses the number of bands and rows."""
    from datasketch import MinHash  # noqa: PLC0415

    def clusters(texts: Sequence[str]) -> Labels:
        shingles = ([shingle.encode() for shingle in peer_shingles(text)] for text in texts)
        minhashes = MinHash.generator(shingles, num_perm=permutations, hashfunc=fast_hash())
        return _joined(minhashes, len(texts), permutations, bands)

    return clusters


def datasketch_as_documented() -> Clusters:
    """Add shingle by shingle, as in the documentation of datasketch."""
    from datasketch import MinHash  # noqa: PLC0415

    def sketch(text: str) -> MinHash:
        made = MinHash(num_perm=PERMUTATIONS)
        for shingle in peer_shingles(text):
            made.update(shingle.encode())
        return made

    return lambda texts: _joined(map(sketch, texts), len(texts), PERMUTATIONS)


def _joined(
    minhashes: Iterable[MinHash], count: int, permutations: int, bands: tuple[int, int] | None = None
) -> Labels:
    """Look up each page among the earlier ones, and verify candidates by their MinHashes."""
    from datasketch import MinHashLSH  # noqa: PLC0415

    index = MinHashLSH(threshold=THRESHOLD, num_perm=permutations, params=bands)
    joined = UnionFind(count)
    before: list[MinHash] = []
    for page, minhash in enumerate(minhashes):
        for other in index.query(minhash):
            if minhash.jaccard(before[other]) >= THRESHOLD:
                joined.join(other, page)
        index.insert(page, minhash, check_duplication=False)
        before.append(minhash)
    return joined.labels()


def rensa() -> Clusters:
    """Make, insert and look up all pages in batches, which is fastest, and verify candidates."""
    from rensa import RMinHash, RMinHashLSH  # noqa: PLC0415

    def clusters(texts: Sequence[str]) -> Labels:
        minhashes = RMinHash.from_token_sets(map(peer_shingles, texts), PERMUTATIONS, SEED)
        index = RMinHashLSH(THRESHOLD, PERMUTATIONS, OUR_BANDS)
        index.insert_many(minhashes)
        joined = UnionFind(len(texts))
        for page, (minhash, others) in enumerate(zip(minhashes, index.query_all(minhashes), strict=True)):
            for other in others:
                if other < page and minhash.jaccard(minhashes[other]) >= THRESHOLD:
                    joined.join(other, page)
        return joined.labels()

    return clusters


PEERS: dict[str, Callable[[], Clusters]] = {
    f"datasketch, {PERMUTATIONS} permutations": partial(datasketch, PERMUTATIONS),
    f"datasketch, {EQUAL_ERROR_PERMUTATIONS}, and our bands": partial(
        datasketch, EQUAL_ERROR_PERMUTATIONS, (OUR_BANDS, OUR_ROWS)
    ),
    f"datasketch, {PERMUTATIONS}, as its documentation has it": datasketch_as_documented,
    f"rensa, {PERMUTATIONS}, and our bands": rensa,
}
