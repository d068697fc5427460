"""Many pages that share a template, with a family of near-duplicates among them, made of shingles without texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from datetime import timedelta
from random import Random

from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.foundation.digests import digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Hashes, Record
from tests.clusters.conftest import START

SCHEME = Scheme()
STRANGERS, FAMILY = 50_000, 5_000
TEMPLATE = 46  # shingles of 100: two strangers have a resemblance of 46 / 154, or 0.3
EDITED = 3  # shingles replaced on each page of the family


def strangers_and_a_family() -> Iterator[Record]:
    """Yield pages that share a template. One page in eleven belongs to the family, which has the template too."""
    random = Random(8)
    template, family = (array("Q", random.randbytes(8 * count)) for count in (TEMPLATE, 100 - TEMPLATE))
    for number in range(STRANGERS + FAMILY):
        related = number % ((STRANGERS + FAMILY) // FAMILY) == 5
        body = family if related else array("Q", random.randbytes(8 * len(family)))
        every = template + body
        if related:
            for _ in range(EDITED):
                every[random.randrange(len(every))] = random.getrandbits(64)
        yield record_of(f"https://{'family' if related else 'stranger'}.example/{number}", number, distinct(every))


def record_of(url: str, seconds: int, shingles: array[int]) -> Record:
    """Return a record without a text, so that only estimates are possible."""
    signature = minhash(shingles, SCHEME.bins)
    return Record(
        url=url,
        text="",
        fetched_at=START + timedelta(seconds=seconds),
        content_digest=digest(shingles),
        hashes=Hashes(
            shingle_digest=digest(shingles),
            shingle_count=len(shingles),
            sketch=mod_sketch(shingles, SCHEME.modulus),
            minhash=pack(signature, SCHEME.bits),
            bands=bands(signature, SCHEME.bands, SCHEME.rows),
        ),
    )
