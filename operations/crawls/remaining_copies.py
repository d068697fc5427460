"""Finds the copies of pages at other addresses: when the pages are deleted, their text is still there."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from opensearch_winnow.foundation.answers import Listing, answer, key, listed
from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.filters import MAX_URLS, Selection
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.store import Store

MAX_LISTED = 100  # deleting these lists the next ones
MAX_COMPARED_TEXTS = 20  # whose near-copies are looked for, too
MAX_COMPARING_SECONDS = 10.0
MIN_RESEMBLANCE = 0.8  # of a near-copy


class RemainingCopy(NamedTuple):
    """A page with the text of a deleted page, at another address."""

    url: str
    of: str  # the URL of the deleted page
    resemblance: float  # of the two; 1 if the texts are the same


@answer
class RemainingCopies(Listing[RemainingCopy]):
    """Pages that have the text of deleted pages at other addresses."""

    total: int = key("The number of these addresses.")
    near: bool = key("True if near-copies of all texts were looked for, too.")
    listed: list[RemainingCopy] = listed("The first of them, at most 100: the most alike first.")


NO_COPIES = RemainingCopies(total=0, near=True, listed=[])


def remaining_copies(
    store: Store, ids: Sequence[str], deleted_urls: Collection[int], exclusions: Exclusions
) -> RemainingCopies:
    """Find the pages whose text is that of the captures `ids`, other than pages of `deleted_urls`, given as hashes.

    Of few texts, near-copies are found as well.
    """
    first_with: dict[str, StoredDigests] = {}  # by text: a capture that has it
    copies: dict[str, RemainingCopy] = {}  # by URL
    for batch in batches(ids, MAX_URLS):
        some = [each for each in store.read(batch, StoredDigests).values() if each.text_digest]
        for each in some:
            first_with.setdefault(each.text_digest, each)
        # All stores can look up the digest of the shingles. Equal texts have the same one.
        selection = Selection(shingle_digests=tuple({each.shingle_digest for each in some}))
        for other in store.scan(StoredDigests, selection):
            same = first_with.get(other.text_digest)
            if same is not None and hash(other.url) not in deleted_urls:
                copies.setdefault(other.url, RemainingCopy(other.url, same.url, 1.0))
    near = len(first_with) <= MAX_COMPARED_TEXTS
    if near:
        end = time.monotonic() + MAX_COMPARING_SECONDS
        for record in store.read([each.id for each in first_with.values()], Record).values():
            left = max(end - time.monotonic(), 0.0)
            options = SimilarOptions(min_resemblance=MIN_RESEMBLANCE, limit=None, max_seconds=left)
            matches = SimilarPages(store, record, options, exclusions, is_stored=True).find(passages=False)
            near = near and not matches.unscored
            for match in matches:
                if hash(match.url) not in deleted_urls:
                    copies.setdefault(match.url, RemainingCopy(match.url, record.url, match.resemblance))
    listed = sorted(copies.values(), key=lambda each: (-each.resemblance, each.url))
    return RemainingCopies(len(copies), near, listed[:MAX_LISTED])
