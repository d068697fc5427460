"""Makes the columns that clustering reads of pages: no fingerprints, and digests only where they decide something."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any

import pyarrow as pa

from opensearch_winnow.clusters.arrow_columns import to_column
from opensearch_winnow.clusters.column_file import COLUMNS
from opensearch_winnow.clusters.map_ahead import map_ahead
from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.text_sketches import TextSketches
from opensearch_winnow.foundation.batches import batches_by_size
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest, digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.written_time import microseconds
from opensearch_winnow.ingest.extractors import Extracted
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import UNREADABLE, Recipe, RecordMaker, canonical_of
from opensearch_winnow.mappings.record import capture_id, site_of, storable
from opensearch_winnow.mappings.record_columns import HASHES, TIME
from opensearch_winnow.queries.estimates import MIN_SHINGLES

MAX_PAGES_PER_BATCH = 1_000
MAX_CHARS_PER_BATCH = 4_000_000  # or bytes, of a batch before its last page


def batches_of_columns(pages: Iterable[Page], recipe: Recipe, settings: RunSettings) -> Iterator[pa.RecordBatch]:
    """Yield the columns of pages, made by the threads that `settings` allows."""
    columns = partial(page_columns, maker=RecordMaker(recipe), digests=settings.evidence is not None)
    done = 0
    batches = batches_by_size(pages, attrgetter("size"), MAX_CHARS_PER_BATCH, MAX_PAGES_PER_BATCH)
    for batch in map_ahead(columns, batches, settings.thread_count):
        done += len(batch)
        settings.report("reading pages", done, None)
        yield batch


def page_columns(pages: Sequence[Page], maker: RecordMaker, *, digests: bool) -> pa.RecordBatch:
    """Return the columns of COLUMNS for pages, with the values that their records would have.

    Pages without text and unreadable pages are left out. Without `digests`, the digests of content and text are empty
    for a page with enough shingles, where they only say how equal two pages are.
    """
    scheme = maker.recipe.scheme
    read = list(_read(pages, maker))
    canons = [canonical(text.text, scheme, name=page.url) for page, text in read]
    sketches = text_sketches(canons, scheme)
    counts = sketches.shingle_counts
    digested = [digests or count < MIN_SHINGLES for count in counts]
    ids = [capture_id(page.url, page.fetched_at) for page, _ in read]
    columns = {
        "id": ids,
        "url": (urls := [storable(page.url) for page, _ in read]),
        "site": [site_of(url) for url in urls],
        "title": [None if (title := page.title or found.title) is None else storable(title) for page, found in read],
        "text": [storable(found.text) for _, found in read],
        "fetched_at": pa.array(
            [None if page.fetched_at is None else microseconds(page.fetched_at) for page, _ in read], pa.int64()
        ).cast(TIME),
        "content_digest": [
            maker.content_digest(page) if wanted else "" for wanted, (page, _) in zip(digested, read, strict=True)
        ],
        "text_digest": [
            canonical_digest(canon) if wanted and canon.text else ""
            for wanted, canon in zip(digested, canons, strict=True)
        ],
        **sketch_columns(sketches, scheme),
        "cluster": ids,
        "canonical": [canonical_of(page, found) for page, found in read],
    }
    return pa.record_batch(columns, schema=COLUMNS)


def text_sketches(canons: list[CanonicalText], scheme: Scheme) -> TextSketches:
    """Return the sketches of canonical texts under a scheme."""
    return TextSketches(
        canons,
        width=scheme.shingle,
        key=scheme.seed,
        modulus=scheme.modulus,
        bins=scheme.bins,
        bits=scheme.bits,
        bands=scheme.bands,
        rows=scheme.rows,
    )


def sketch_columns(sketches: TextSketches, scheme: Scheme) -> dict[str, Any]:
    """Return the columns that are made of shingles."""
    counts = sketches.shingle_counts
    minhash_sizes = (scheme.minhash_bytes if count else 0 for count in counts)
    minhashes = [None, pa.py_buffer(offsets_of(minhash_sizes)), pa.py_buffer(sketches.minhash)]
    return {
        "shingle_digest": shingle_digests(sketches),
        "shingle_count": to_column(counts).cast(pa.int32()),
        "sketch": lists_of(sketches.sketch, sketches.sketch_counts),
        "minhash": pa.Array.from_buffers(pa.binary(), len(counts), minhashes),
        "bands": lists_of(sketches.bands, (scheme.bands if count else 0 for count in counts)),
    }


def shingle_digests(sketches: TextSketches) -> list[str]:
    """Return the digest of each set of shingles; empty for one without shingles."""
    shingles = memoryview(sketches.shingles)
    return [digest(shingles[a:b]) if a < b else "" for a, b in pairwise(offsets_of(sketches.shingle_counts))]


def _read(pages: Iterable[Page], maker: RecordMaker) -> Iterator[tuple[Page, Extracted]]:
    """Yield the pages that would have a record, with their texts."""
    for page in pages:
        try:
            found = maker.read(page)
        except UNREADABLE:
            continue
        if found.text or page.revisit_of is not None:
            yield page, found


def lists_of(numbers: array[int], counts: Iterable[int]) -> pa.ListArray:
    """Return a column of lists, which are one after the other in `numbers`."""
    offsets = offsets_of(counts)
    column = pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)])
    return pa.ListArray.from_arrays(column, to_column(numbers), type=HASHES)


def offsets_of(counts: Iterable[int]) -> array[int]:
    """Return the offsets at which consecutive runs of these lengths start, and the end of the last."""
    return array("i", accumulate(counts, initial=0))
