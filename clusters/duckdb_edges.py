"""Finds edges, the pairs of similar pages, on one machine: by shared tokens, then MinHashes, then texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.clusters.arrow_columns import histogram, to_column, to_numbers
from opensearch_winnow.clusters.duckdb_connection import Connection
from opensearch_winnow.clusters.flat_files import PairFiles, PostingFiles, RowFile, SetFile
from opensearch_winnow.clusters.map_ahead import map_ahead
from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions
from opensearch_winnow.clusters.record_scan import Scan
from opensearch_winnow.clusters.result import Candidates
from opensearch_winnow.clusters.state import COPY_OLD_EDGES, EDGES, changed_pages
from opensearch_winnow.cython_core.pair_verdicts import ALIKE, DIFFERENT, UNCERTAIN, pair_verdicts
from opensearch_winnow.cython_core.posting_parts import put_rows
from opensearch_winnow.cython_core.token_pairs import TokenPairs
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.queries.compare import side
from opensearch_winnow.queries.estimates import CLEAR_ERRORS

# Pages are numbered in their order; `content` is the number of the first page with the same key. The first letter of a
# key keeps shingle digests, those of short texts with their titles, content digests and ids apart.
CREATE_PAGES = """
CREATE TABLE pages AS
SELECT row, id, url, title, fetched_at, number, min(number) OVER (PARTITION BY key) AS content{kept}
FROM (
    SELECT *,
        (row_number() OVER (ORDER BY {order_by}) - 1)::UINTEGER AS number,
        CASE WHEN shingle_count >= {min_shingles} THEN 's' || shingle_digest
             WHEN shingle_count > 0 AND (title <> '' OR content_digest <> '')
             THEN 't' || shingle_digest || coalesce(title, '')
             WHEN content_digest <> '' THEN 'c' || content_digest
             ELSE 'i' || id END AS key
    FROM input_rows
)
"""
PAGE_ORDER = "fetched_at NULLS LAST, length(url), url, id"
PAGE_COLUMNS = ("id", "url", "title", "fetched_at", "content_digest", "shingle_digest", "shingle_count")
POSTINGS = pa.schema([pa.field("token", pa.int64()), pa.field("page", pa.uint32())])
JUDGED = pa.schema(
    [("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64()), ("verdict", pa.uint8())]
)
POSTINGS_PER_BATCH = 50_000  # paired at a time
PAIRS_PER_BATCH = 100_000  # compared at a time
# A pair is one number: the earlier page in the upper 32 bits, the later page in the lower 32 bits.
EARLIER, LATER = "(pair >> 32)", "(pair & 4294967295)"


class Edges:
    """Creates the tables `pages` and `edges`, and counts the candidate pairs."""

    def __init__(
        self,
        con: Connection,
        scan: Scan,
        options: ClusteringOptions,
        folder: Path,
        threads: int,
        progress: Progress,
        *,
        min_shingles: int = 1,
    ) -> None:
        """A page with fewer shingles than `min_shingles` has no edges, and equals others only if titles are the same.

        A page of an attached index has no content digest. If it has no title either, its title is unknown.
        """
        self._con = con
        self._scan = scan
        self._scheme = scan.scheme
        self._options = options
        self._folder = folder
        self._threads = threads
        self._progress = progress
        self._min_shingles = min_shingles
        self.candidates = Candidates()
        self.pages = 0
        self._numbers = array("I")  # page number of each row
        self._contents = array("I")  # content of each row
        self._shingle_counts = array("I")  # by page number
        self._minhashes: RowFile | None = None
        self._changed: array[int] | None = None  # by page number, 1 if its pairs are needed; None if all are

    def make_pages(self, kept: Sequence[str], order_by: str = PAGE_ORDER) -> None:
        """Create the table `pages` in an order, with the columns that every run needs and the columns `kept`."""
        types = {
            "fetched_at": pa.int64(),
            "shingle_count": pa.int32(),
            "rank": pa.float64(),
            "earlier_set": pa.bool_(),
            "symbols": pa.int64(),
        }
        names = [*PAGE_COLUMNS, *(name for name in kept if name not in (*PAGE_COLUMNS, "key"))]
        schema = pa.schema([("row", pa.uint32()), *((name, types.get(name, pa.string())) for name in names)])
        columns = "".join(f", {name}" for name in kept)
        create = CREATE_PAGES.format(kept=columns, order_by=order_by, min_shingles=self._min_shingles)
        self._con.feed(create, schema, self._page_rows(schema))
        (self.pages,) = self._con.row("SELECT count(*) FROM pages")
        self._numbers, self._contents, self._shingle_counts = (array("I", bytes(4 * self.pages)) for _ in range(3))
        for batch in self._con.batches("SELECT row, number, content FROM pages"):
            rows, *values = (to_numbers(column, "I") for column in batch.columns)
            for target, numbers in zip((self._numbers, self._contents), values, strict=True):
                put_rows(memoryview(target).cast("B"), rows, numbers.cast("B"), 4)

    def leave_out_pairs_of_first(self, pages: int) -> None:
        """Make no pairs of two of the first `pages` pages."""
        self._changed = array("B", bytes(pages) + b"\1" * (self.pages - pages))

    def _page_rows(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        names = schema.names[1:]
        for row, batch in self._scan.columns(*names):
            self._progress("reading", row, None)
            times = batch.column("fetched_at").cast(pa.int64())
            batch = batch.set_column(batch.schema.get_field_index("fetched_at"), "fetched_at", times)
            rows = pa.array(range(row, row + len(batch)), pa.uint32())
            yield pa.record_batch([rows, *(batch.column(name) for name in names)], schema=schema)

    def make_edges(self, *, use_state: bool = False) -> None:
        """Create the table `edges`. With `use_state`, copy the edges of the loaded state and find only the others."""
        con = self._con
        self._minhashes = RowFile(self._folder / "minhashes", self.pages, self._scheme.minhash_bytes)
        with (
            closing(PostingFiles(self._folder / "postings", self.pages)) as postings,
            closing(PairFiles(self._folder / "pairs", self.pages)) as pairs,
        ):
            for batch in self._changed_postings() if use_state else self._postings():
                postings.add(to_numbers(batch.column(0), "Q"), to_numbers(batch.column(1), "I"))
            self._propose_pairs(postings, pairs)
            con.feed("CREATE TABLE judged AS SELECT * FROM input_rows", JUDGED, self._judge_pairs(pairs))
        self._minhashes.release_memory()
        con.run(
            f"CREATE TABLE edges AS SELECT pair, resemblance, error, false AS exact FROM judged WHERE verdict = {ALIKE}"
        )
        con.feed("INSERT INTO edges SELECT * FROM input_rows", EDGES, self._edges_by_text())
        con.run("DROP TABLE judged")
        if use_state:
            con.run(COPY_OLD_EDGES)
        (edges,) = con.row("SELECT count(*) FROM edges")
        self._note(edges=edges, compared=sum(self.candidates.histogram))

    def _row_numbers(self, row: int, count: int) -> tuple[pa.Array, pa.Array]:
        """Return the page numbers of `count` rows from `row`, and whether each is the first page of its content."""
        pages = to_column(self._numbers, row, row + count)
        return pages, pc.equal(pages, to_column(self._contents, row, row + count))

    def _postings(self) -> Iterator[pa.RecordBatch]:
        """Yield the postings of the first page of each content, and store its MinHash by page number."""
        fields = ("bands",) if self._options.fast else ("bands", "sketch")
        for row, batch in self._scan.columns("shingle_count", "minhash", *fields):
            self._progress("reading tokens", row, self.pages)
            pages, is_first = self._row_numbers(row, len(batch))
            wanted = pc.and_(is_first, pc.greater_equal(batch.column("shingle_count"), self._min_shingles))
            pages, batch = pages.filter(wanted), batch.filter(wanted)
            self._store_minhashes(to_numbers(pages, "I"), batch)
            tokens = [batch.column(name) for name in fields]
            token_pages = [pages.take(pc.list_parent_indices(each)) for each in tokens]
            flat = [each.flatten() for each in tokens]
            postings = pa.record_batch([pa.concat_arrays(flat), pa.concat_arrays(token_pages)], schema=POSTINGS)
            yield postings

    def _store_minhashes(self, pages: memoryview, batch: pa.RecordBatch) -> None:
        assert self._minhashes is not None
        minhashes = batch.column("minhash")
        for size in pc.unique(pc.binary_length(minhashes)).to_pylist():
            if size != self._scheme.minhash_bytes:
                raise ClusterError(
                    f"a record has a MinHash of {size} bytes, but its scheme makes {self._scheme.minhash_bytes} bytes"
                )
        self._minhashes.put(pages, to_numbers(minhashes.cast(pa.binary(self._scheme.minhash_bytes)), "B"))
        counts = to_numbers(batch.column("shingle_count"), "I").cast("B")
        put_rows(memoryview(self._shingle_counts).cast("B"), pages, counts, 4)

    def _changed_postings(self) -> Iterator[pa.RecordBatch]:
        """Yield the postings of tokens on at least one changed page."""
        self._con.feed("CREATE TABLE postings AS SELECT * FROM input_rows", POSTINGS, self._postings())
        self._changed = array("B", bytes(self.pages))
        for batch in changed_pages(self._con, self._options.compared):
            for page in to_numbers(batch, "I"):
                self._changed[page] = 1
        touched = "SELECT token FROM postings SEMI JOIN changed USING (page)"
        yield from self._con.batches(f"SELECT token, page FROM postings WHERE token IN ({touched})")
        self._con.run("DROP TABLE postings")

    def _propose_pairs(self, postings: PostingFiles, pairs: PairFiles) -> None:
        def pair_part(part: int) -> TokenPairs:
            pairing = TokenPairs(self._options.compared)
            tokens, pages = postings.sorted(part)
            for start in range(0, len(tokens), POSTINGS_PER_BATCH):
                some = slice(start, start + POSTINGS_PER_BATCH)
                pairs.add(pairing.add(tokens[some], pages[some], self._changed))
            return pairing

        for part, pairing in enumerate(map_ahead(pair_part, range(postings.parts), self._threads)):
            self._progress("pairing", part, postings.parts)
            self._note(
                common=self.candidates.common + pairing.common_tokens,
                longest=max(self.candidates.longest, pairing.longest_list),
                left_out=self.candidates.left_out + pairing.skipped_pairs,
            )

    def _judge_pairs(self, pairs: PairFiles) -> Iterator[pa.RecordBatch]:
        """Yield the pairs that are alike or uncertain by their MinHashes."""

        def judge_part(part: int) -> list[tuple[list[int], pa.RecordBatch]]:
            distinct = pairs.distinct(part)
            starts = range(0, len(distinct), PAIRS_PER_BATCH)
            ends = (min(start + PAIRS_PER_BATCH, len(distinct)) for start in starts)
            return [self._judge_batch(to_column(distinct, start, end)) for start, end in zip(starts, ends, strict=True)]

        done, sizes = 0, pairs.sizes()
        for batches, size in zip(map_ahead(judge_part, range(pairs.parts), self._threads), sizes, strict=True):
            self._progress("comparing", done, sum(sizes))
            done += size
            for bars, batch in batches:
                self._add_to_histogram(bars)
                yield batch

    def _judge_batch(self, pair: pa.Array) -> tuple[list[int], pa.RecordBatch]:
        """Return the histogram of the pairs with a clear verdict, and all pairs that are alike or uncertain."""
        values, errors, verdicts = (to_column(each) for each in self.judge(to_numbers(pair, "Q")))
        judged = pa.record_batch([pair, values, errors, verdicts], schema=JUDGED)
        clear = values.filter(pc.not_equal(verdicts, UNCERTAIN))
        return histogram(clear), judged.filter(pc.not_equal(verdicts, DIFFERENT))

    def judge(self, pairs: memoryview) -> tuple[array[float], array[float], array[int]]:
        """Estimate resemblances from MinHashes: return the estimates, their standard errors and the verdicts."""
        assert self._minhashes is not None
        return pair_verdicts(
            pairs,
            self._minhashes.rows,
            self._shingle_counts,
            self._scheme.minhash_bytes,
            threshold=self._options.threshold,
            bits=self._scheme.bits,
            clear=CLEAR_ERRORS,
        )

    def _edges_by_text(self) -> Iterator[pa.RecordBatch]:
        """Yield the uncertain pairs that are alike, by their texts or, where a text is missing, by the estimate."""
        done = 0
        total, *_ = self._con.row(f"SELECT count(*) FROM judged WHERE verdict = {UNCERTAIN}")
        uncertain = f"SELECT pair, resemblance, error FROM judged WHERE verdict = {UNCERTAIN} ORDER BY pair"
        with closing(SetFile(self._folder / "shingles", self.pages)) as sets:
            if total:
                self._store_shingles(sets)
            batches = self._con.batches(uncertain)
            for exact, batch in map_ahead(lambda batch: _decide(batch, sets), batches, self._threads):
                self._progress("comparing texts", done, total)
                done += len(batch)
                self._note(exact=self.candidates.exact + exact)
                self._add_to_histogram(histogram(batch.column("resemblance")))
                yield batch.filter(pc.greater_equal(batch.column("resemblance"), self._options.threshold))

    def _store_shingles(self, sets: SetFile) -> None:
        """Store the shingles of all pages in uncertain pairs."""
        wanted = array("B", bytes(self.pages))
        ends = " UNION ".join(
            f"SELECT {end} AS page FROM judged WHERE verdict = {UNCERTAIN}" for end in (EARLIER, LATER)
        )
        for batch in self._con.batches(ends):
            for page in to_numbers(batch.column(0), "Q"):
                wanted[page] = 1
        for shingled in map_ahead(self._shingles, self._texts(to_column(wanted)), self._threads):
            for page, shingles in shingled:
                sets[page] = shingles
        sets.complete()

    def _texts(self, wanted: pa.Array) -> Iterator[tuple[pa.Array, pa.RecordBatch]]:
        """Yield the numbers of pages whose flag in `wanted` is 1, with their URLs and texts."""
        for row, batch in self._scan.columns("url", "text"):
            self._progress("reading texts", row, self.pages)
            pages, is_first = self._row_numbers(row, len(batch))
            rows = pc.and_(pc.and_(is_first, pc.equal(wanted.take(pages), 1)), pc.not_equal(batch.column("text"), ""))
            yield pages.filter(rows), batch.filter(rows)

    def _shingles(self, texts: tuple[pa.Array, pa.RecordBatch]) -> list[tuple[int, array[int]]]:
        numbered = zip(to_numbers(texts[0], "I"), *texts[1].to_pydict().values(), strict=True)
        return [(page, side(text, self._scheme, name=url).shingles) for page, url, text in numbered]

    def _add_to_histogram(self, bars: list[int]) -> None:
        self._note(histogram=[a + b for a, b in zip(self.candidates.histogram, bars, strict=True)])

    def _note(self, **counts: Any) -> None:
        self.candidates = replace(self.candidates, **counts)

    def close(self) -> None:
        if self._minhashes:
            self._minhashes.close()


def _decide(batch: pa.RecordBatch, sets: SetFile) -> tuple[int, pa.RecordBatch]:
    """Return the number of pairs with both texts, and all pairs with their exact resemblance, or else the estimate."""
    pair, estimates, errors = batch.columns
    exact = to_column(sets.resemblances(to_numbers(pair, "Q")))
    known = pc.invert(pc.is_nan(exact))
    decided = [pair, pc.if_else(known, exact, estimates), pc.if_else(known, 0.0, errors), known]
    return known.true_count, pa.record_batch(decided, schema=EDGES)
