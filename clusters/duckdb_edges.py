"""From records to edges on one machine: pages in their order, candidate pairs, verdicts, texts where needed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.clusters.ahead import ahead
from opensearch_winnow.clusters.asked import ClusterError, Clustering, Progress
from opensearch_winnow.clusters.columns import EDGE, JUDGED, POSTING, bars, column, numbers
from opensearch_winnow.clusters.duckdb_connection import Connection
from opensearch_winnow.clusters.flat_files import PairFiles, RowFile, SetFile
from opensearch_winnow.clusters.found import Candidates
from opensearch_winnow.clusters.record_scan import RecordScan
from opensearch_winnow.clusters.state import STILL, State, changed_pages
from opensearch_winnow.cython_core.pair_verdicts import ALIKE, DIFFERENT, UNCERTAIN, pair_verdicts
from opensearch_winnow.cython_core.token_pairs import TokenPairs
from opensearch_winnow.queries.compare import side
from opensearch_winnow.queries.estimated import CLEAR_ERRORS

# Pages have numbers in their order, and contents that of their first page. Keys of different kinds begin differently.
PAGES = """
CREATE TABLE pages AS
SELECT * EXCLUDE (shingle_digest, shingle_count, key), min(number) OVER (PARTITION BY key) AS content, key
FROM (
    SELECT *,
        (row_number() OVER (ORDER BY fetched_at NULLS LAST, length(url), url, id) - 1)::UINTEGER AS number,
        CASE WHEN shingle_count > 0 THEN 's' || shingle_digest
             WHEN content_digest <> '' THEN 'c' || content_digest
             ELSE 'i' || id END AS key
    FROM fed
)
"""
READ = (
    "id", "url", "title", "fetched_at", "content_digest", "text_digest", "shingle_digest", "shingle_count", "cluster",
)  # fmt: skip
ROWS = 100_000  # pairs that are compared at a time
EARLIER, LATER = "(pair >> 32)", "(pair & 4294967295)"


class Edges:
    """Makes the tables `pages` and `edges`."""

    def __init__(
        self, con: Connection, scan: RecordScan, asked: Clustering, folder: Path, threads: int, progress: Progress
    ) -> None:
        self._con = con
        self._scan = scan
        self._scheme = scan.scheme
        self._asked = asked
        self._folder = folder
        self._threads = threads
        self._progress = progress
        self.found = Candidates()
        self.pages = 0
        self._numbers = array("I")  # of the rows
        self._contents = array("I")
        self._counts = array("I")  # shingles of the pages, by number
        self._minhashes: RowFile | None = None
        self._tokens = 0
        self._changed: array[int] | None = None  # a byte for each page: whether its pairs are made; None: all are

    @property
    def _size(self) -> int:
        return self._scheme.bins * self._scheme.bits // 8

    def make_pages(self) -> None:
        fields = [(name, pa.int64() if name == "fetched_at" else pa.string()) for name in READ]
        schema = pa.schema([("row", pa.uint32()), *fields]).set(
            READ.index("shingle_count") + 1, pa.field("shingle_count", pa.int32())
        )
        self._con.feed(PAGES, schema, self._read(schema))
        for batch in self._con.batches("SELECT number, content FROM pages ORDER BY row"):
            self._numbers.frombytes(numbers(batch.column(0), "I").cast("B"))
            self._contents.frombytes(numbers(batch.column(1), "I").cast("B"))
        self.pages = len(self._numbers)
        self._counts = array("I", bytes(4 * self.pages))

    def _read(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for row, batch in self._scan.columns(*READ):
            self._progress("reading", row, None)
            times = batch.column("fetched_at").cast(pa.int64())
            batch = batch.set_column(batch.schema.get_field_index("fetched_at"), "fetched_at", times)
            rows = pa.array(range(row, row + len(batch)), pa.uint32())
            yield pa.record_batch([rows, *(batch.column(name) for name in READ)], schema=schema)

    def make_edges(self, before: State | None = None) -> None:
        """All of them; or with a state of before, which is loaded, those that it does not have."""
        con = self._con
        self._minhashes = RowFile(self._folder / "minhashes", self.pages, self._size)
        pairs = PairFiles(self._folder / "pairs", self.pages)
        try:
            if before:
                self._pair(self._changed_postings(), pairs)
            else:
                postings = con.through("SELECT token, page FROM fed ORDER BY token, page", POSTING, self._postings())
                self._pair(postings, pairs)
            con.feed("CREATE TABLE judged AS SELECT * FROM fed", JUDGED, self._judged(pairs))
        finally:
            pairs.close()
        self._minhashes.forget()
        con.run(
            f"CREATE TABLE edges AS SELECT pair, resemblance, error, false AS exact FROM judged WHERE verdict = {ALIKE}"
        )
        con.feed("INSERT INTO edges SELECT * FROM fed", EDGE, self._decided())
        con.run("DROP TABLE judged")
        if before:
            con.run(STILL)
        (self.found.edges,) = con.row("SELECT count(*) FROM edges")
        self.found.compared = sum(self.found.histogram)

    def _first_pages(self, row: int, count: int) -> tuple[pa.Array, pa.Array]:
        """The numbers of some rows, and whether each is the first page of its content."""
        some = column(self._numbers, row, row + count)
        return some, pc.equal(some, column(self._contents, row, row + count))

    def _postings(self) -> Iterator[pa.RecordBatch]:
        """And the MinHashes are put where they are found by number."""
        fields = ("bands",) if self._asked.fast else ("bands", "sketch")
        for row, batch in self._scan.columns("shingle_count", "minhash", *fields):
            self._progress("reading tokens", row, self.pages)
            some, first = self._first_pages(row, len(batch))
            wanted = pc.and_(first, pc.greater(batch.column("shingle_count"), 0))
            some, batch = some.filter(wanted), batch.filter(wanted)
            self._keep(numbers(some, "I"), batch)
            tokens = [batch.column(name) for name in fields]
            pages = [some.take(pc.list_parent_indices(each)) for each in tokens]
            flat = [each.flatten() for each in tokens]
            postings = pa.record_batch([pa.concat_arrays(flat), pa.concat_arrays(pages)], schema=POSTING)
            self._tokens += len(postings)
            yield postings

    def _keep(self, pages: memoryview, batch: pa.RecordBatch) -> None:
        assert self._minhashes is not None
        counts = batch.column("shingle_count").to_pylist()
        for page, count, minhash in zip(pages, counts, batch.column("minhash"), strict=True):
            packed = memoryview(minhash.as_buffer())
            if len(packed) != self._size:
                raise ClusterError(f"a record has a MinHash of {len(packed)} bytes, and its scheme of {self._size}")
            self._minhashes[page] = packed
            self._counts[page] = count

    def _changed_postings(self) -> Iterator[pa.RecordBatch]:
        """Those of tokens on pages that have changed."""
        self._con.feed("CREATE TABLE postings AS SELECT * FROM fed", POSTING, self._postings())
        self._changed = array("B", bytes(self.pages))
        for batch in changed_pages(self._con, self._asked.compared):
            for page in numbers(batch, "I"):
                self._changed[page] = 1
        touched = "SELECT token FROM postings SEMI JOIN changed USING (page)"
        (self._tokens,) = self._con.row(f"SELECT count(*) FROM postings WHERE token IN ({touched})")
        yield from self._con.batches(
            f"SELECT token, page FROM postings WHERE token IN ({touched}) ORDER BY token, page"
        )
        self._con.run("DROP TABLE postings")

    def _pair(self, postings: Iterable[pa.RecordBatch], pairs: PairFiles) -> None:
        pairing = TokenPairs(self._asked.compared)
        done = 0
        for batch in postings:
            self._progress("pairing", done, self._tokens)
            pairs.add(pairing.add(numbers(batch.column(0), "Q"), numbers(batch.column(1), "I"), self._changed))
            done += len(batch)
        self.found.common, self.found.longest = pairing.common, pairing.longest
        self.found.left_out = pairing.left_out

    def _judged(self, pairs: PairFiles) -> Iterator[pa.RecordBatch]:
        """Those that are alike, or may be."""

        def judged(part: int) -> list[tuple[list[int], pa.RecordBatch]]:
            some = pairs.distinct(part)
            starts = range(0, len(some), ROWS)
            return [self._judge(column(some, start, min(start + ROWS, len(some)))) for start in starts]

        done, total = 0, sum(pairs.counts)
        for batches, count in zip(ahead(judged, range(pairs.PARTS), self._threads), pairs.counts, strict=True):
            self._progress("comparing", done, total)
            done += count
            for clear, batch in batches:
                self._count(clear)
                yield batch

    def _judge(self, pair: pa.Array) -> tuple[list[int], pa.RecordBatch]:
        """How alike the clear ones are, and those that are alike or may be."""
        values, errors, verdicts = (column(each) for each in self.judge(numbers(pair, "Q")))
        judged = pa.record_batch([pair, values, errors, verdicts], schema=JUDGED)
        clear = values.filter(pc.not_equal(verdicts, UNCERTAIN))
        return bars(clear), judged.filter(pc.not_equal(verdicts, DIFFERENT))

    def judge(self, pairs: memoryview) -> tuple[array[float], array[float], array[int]]:
        assert self._minhashes is not None
        return pair_verdicts(
            pairs,
            self._minhashes.rows,
            self._counts,
            self._size,
            threshold=self._asked.threshold,
            bits=self._scheme.bits,
            clear=CLEAR_ERRORS,
        )

    def _decided(self) -> Iterator[pa.RecordBatch]:
        """The uncertain ones that are alike, from their texts where these are at hand."""
        done = 0
        total, *_ = self._con.row(f"SELECT count(*) FROM judged WHERE verdict = {UNCERTAIN}")
        unclear = f"SELECT pair, resemblance, error FROM judged WHERE verdict = {UNCERTAIN} ORDER BY pair"
        with closing(SetFile(self._folder / "shingles", self.pages)) as sets:
            if total:
                self._read_texts(sets)
            for exact, batch in ahead(lambda batch: _decide(batch, sets), self._con.batches(unclear), self._threads):
                self._progress("comparing texts", done, total)
                done += len(batch)
                self.found.exact += exact
                self._count(bars(batch.column("resemblance")))
                yield batch.filter(pc.greater_equal(batch.column("resemblance"), self._asked.threshold))

    def _read_texts(self, sets: SetFile) -> None:
        """The shingles of the pages that are in uncertain pairs."""
        wanted = array("B", bytes(self.pages))
        ends = " UNION ".join(
            f"SELECT {end} AS page FROM judged WHERE verdict = {UNCERTAIN}" for end in (EARLIER, LATER)
        )
        for batch in self._con.batches(ends):
            for page in numbers(batch.column(0), "Q"):
                wanted[page] = 1
        for shingled in ahead(self._shingled, self._texts(column(wanted)), self._threads):
            for page, shingles in shingled:
                sets[page] = shingles
        sets.complete()

    def _texts(self, wanted: pa.Array) -> Iterator[tuple[pa.Array, pa.RecordBatch]]:
        """URL and text of the pages that are flagged, with their numbers."""
        for row, batch in self._scan.columns("url", "text"):
            self._progress("reading texts", row, self.pages)
            some, first = self._first_pages(row, len(batch))
            these = pc.and_(pc.and_(first, pc.equal(wanted.take(some), 1)), pc.not_equal(batch.column("text"), ""))
            yield some.filter(these), batch.filter(these)

    def _shingled(self, pages: tuple[pa.Array, pa.RecordBatch]) -> list[tuple[int, array[int]]]:
        numbered = zip(numbers(pages[0], "I"), *pages[1].to_pydict().values(), strict=True)
        return [(page, side(text, self._scheme, name=url).shingles) for page, url, text in numbered]

    def _count(self, pairs: list[int]) -> None:
        self.found.histogram = [a + b for a, b in zip(self.found.histogram, pairs, strict=True)]

    def close(self) -> None:
        if self._minhashes:
            self._minhashes.close()


def _decide(batch: pa.RecordBatch, sets: SetFile) -> tuple[int, pa.RecordBatch]:
    """How many of uncertain pairs are decided by texts, and all of them with what they are decided to be."""
    pair, estimates, errors = batch.columns
    exact = column(sets.resemblances(numbers(pair, "Q")))
    known = pc.invert(pc.is_nan(exact))
    decided = [pair, pc.if_else(known, exact, estimates), pc.if_else(known, 0.0, errors), known]
    return known.true_count, pa.record_batch(decided, schema=EDGE)
